/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of the user's folder are lines of the file `settings`, each a kind and a value. Other
 * lines stay as they are when the file is changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "schemas/code/user_code.h"
#include "schemas/user_tables.h"
#include "session/filter/graphs.h"
#include "session/graphs.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "session/user_code.h"

_Static_assert(SESSION_SETTING_MAX == USER_SETTING_MAX, "one limit");

#define SETTINGS_FILE "settings"
enum { SETTINGS_FILE_MAX = 1 << 20, KINDS = SESSION_SOURCE + 1 };
enum { LOCK_MS = 3000, LOCK_PAUSE_MS = 5 };

struct listing {
    struct session_setting *settings;
    size_t count, of_place; /* all, and those of `place` */
    enum session_place place;
    bool exhausted;
};

const char *session_setting_name(enum session_setting_kind kind)
{
    static const char *const names[KINDS] = {"hide", "show", "wrapper", "source"};
    return names[kind];
}

void session_settings_free(struct session_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(settings[i].value);
    free(settings);
}

static bool is_value(const char *value)
{
    return *value && strlen(value) <= SESSION_SETTING_MAX && graph_text_is_plain(value) &&
           !strpbrk(value, "\t\r\n") && value[0] != ' ' && value[strlen(value) - 1] != ' ';
}

/* Adds a setting of the present place. Skips one that could not have been stored. */
static bool add(void *context, const char *key, const char *value)
{
    struct listing *listing = context;
    int kind = 0;
    while (kind < KINDS && strcmp(key, session_setting_name((enum session_setting_kind)kind)) != 0)
        kind++;
    if (kind == KINDS || !is_value(value))
        return true;
    struct session_setting *larger =
        realloc(listing->settings, (listing->count + 1) * sizeof(*larger));
    if (larger)
        listing->settings = larger;
    char *copy = larger ? strdup(value) : NULL;
    if (!copy)
        return !(listing->exhausted = true);
    listing->settings[listing->count++] = (struct session_setting){
        .kind = (enum session_setting_kind)kind, .place = listing->place, .value = copy};
    return ++listing->of_place < SESSION_GRAPHS_MAX;
}

/* Splits a line into its kind and value. Returns false for any other line. */
static bool split(char *line, char **value)
{
    char *blank = strchr(line, ' ');
    if (!blank)
        return false;
    *blank = '\0';
    *value = blank + 1 + strspn(blank + 1, " ");
    return true;
}

static void add_lines(struct listing *listing, char *text)
{
    char *rest, *value;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (split(line, &value) && !add(listing, line, value))
            return;
}

bool session_settings(struct session *session, struct session_setting **settings, size_t *count,
                      struct session_error *error)
{
    struct session_error why = {.message = ""};
    struct listing listing = {.place = SESSION_PLACE_SESSION};
    const bool read =
        !session || user_rows_read(database_path(session->database), USER_SETTING,
                                   SESSION_GRAPHS_MAX, SESSION_SETTING_MAX, add, &listing, &why);
    listing.place = SESSION_PLACE_FOLDER;
    listing.of_place = 0;
    const int folder = read ? user_folder_open(NULL, false, &why) : -1;
    char *text = folder < 0 ? NULL : user_file_read(folder, SETTINGS_FILE, SETTINGS_FILE_MAX, &why);
    if (text)
        add_lines(&listing, text);
    free(text);
    if (folder >= 0)
        close(folder);
    *settings = listing.settings;
    *count = listing.count;
    if (!listing.exhausted && why.message[0] == '\0')
        return true;
    session_settings_free(listing.settings, listing.count);
    *settings = NULL;
    *count = 0;
    return listing.exhausted ? session_fail_memory(error, "the settings")
                             : session_fail(error, 0, "%s", why.message);
}

/* Returns true if a line of the file is the setting `line`, which has one blank: an editor may have
 * put more of them between kind and value. */
static bool is_setting(const char *text, size_t length, const char *line)
{
    const size_t kind = strcspn(line, " ") + 1;
    if (length < kind || memcmp(text, line, kind) != 0)
        return false;
    const size_t blanks = strspn(text + kind, " ");
    return length == blanks + strlen(line) &&
           memcmp(text + kind + blanks, line + kind, strlen(line) - kind) == 0;
}

/* Returns the text without the lines of a setting, with `line` at its end if `put`; free() it.
 * `*found`: there was one. */
static char *with_line(const char *text, const char *line, bool put, bool *found)
{
    char *result = malloc(strlen(text) + strlen(line) + 3), *end = result;
    *found = false;
    while (result && *text) {
        const size_t of_line = strcspn(text, "\n"), whole = of_line + (text[of_line] == '\n');
        if (is_setting(text, of_line, line)) {
            *found = true;
        } else {
            memcpy(end, text, of_line);
            end += of_line;
            *end++ = '\n';
        }
        text += whole;
    }
    if (result)
        sprintf(end, "%s%s", put ? line : "", put ? "\n" : "");
    return result;
}

/* Waits until no other process changes the settings, so that none undoes what another one stored.
 * close() of the folder ends the lock. */
static void lock(int folder, struct session_error *error)
{
    const struct timespec pause = {.tv_nsec = 1000000L * LOCK_PAUSE_MS};
    for (int waited = 0; flock(folder, LOCK_EX | LOCK_NB) != 0; waited += LOCK_PAUSE_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return; /* a file system without locks */
        if (waited >= LOCK_MS) {
            session_fail(error, 0, "the settings are locked by another process: try again");
            return;
        }
        nanosleep(&pause, NULL);
    }
}

static bool change_file(enum session_setting_kind kind, const char *value, bool put,
                        struct session_error *error)
{
    struct session_error why = {.message = ""};
    char line[SESSION_SETTING_MAX + 32];
    bool found = false, good = false;
    const int folder = user_folder_open(NULL, put, &why);
    if (folder >= 0)
        lock(folder, &why);
    char *text = folder < 0 || why.message[0] != '\0'
                     ? NULL
                     : user_file_read(folder, SETTINGS_FILE, SETTINGS_FILE_MAX, &why);
    snprintf(line, sizeof(line), "%s %s", session_setting_name(kind), value);
    if (why.message[0] != '\0') {
        session_fail(error, 0, "%s", why.message);
    } else {
        char *changed = with_line(text ? text : "", line, put, &found);
        if (!changed)
            session_fail_memory(error, "the settings");
        else if (!put && !found)
            session_fail(error, 0, "there is no setting \"%s\"", line);
        else
            good = user_file_write(folder, SETTINGS_FILE, changed, true, error) == USER_FILE_DONE;
        free(changed);
    }
    free(text);
    if (folder >= 0)
        close(folder);
    return good;
}

bool session_setting_store(struct session *session, enum session_setting_kind kind,
                           const char *value, struct session_storing *storing,
                           struct session_error *error)
{
    const struct user_change put = {.kind = USER_PUT,
                                    .table = USER_SETTING,
                                    .replace = true,
                                    .key = session_setting_name(kind),
                                    .value = value};
    storing->note[0] = '\0';
    if (!is_value(value))
        return session_fail(error, 0, "a setting is one line of 1 to %d bytes",
                            SESSION_SETTING_MAX);
    return storing_put(session, &put, storing) == STORING_DONE ||
           change_file(kind, value, true, error);
}

bool session_setting_delete(struct session *session, enum session_place place,
                            enum session_setting_kind kind, const char *value,
                            struct session_error *error)
{
    const struct user_change row = {.kind = USER_DELETE,
                                    .table = USER_SETTING,
                                    .key = session_setting_name(kind),
                                    .value = value};
    if (!is_value(value))
        return session_fail(error, 0, "a setting is one line of 1 to %d bytes",
                            SESSION_SETTING_MAX);
    if (place != SESSION_PLACE_SESSION || !session)
        return change_file(kind, value, false, error);
    switch (user_rows_change(database_path(session->database), &row, error)) {
    case USER_CHANGED:
        return true;
    case USER_REFUSED:
        return false;
    default:
        return session_fail(error, 0, "the session has no setting \"%s %s\"",
                            session_setting_name(kind), value);
    }
}

/* ---- puts the stored settings in force ---- */

static enum user_code_list list_of(enum session_setting_kind kind)
{
    static const enum user_code_list lists[] = {
        [SESSION_HIDE] = USER_CODE_HIDE,
        [SESSION_SHOW] = USER_CODE_SHOW,
        [SESSION_WRAPPER] = USER_CODE_WRAPPER,
    };
    return lists[kind];
}

/* Returns true if an earlier setting of another kind has the same word: the session's are first. */
static bool is_overruled(const struct session_setting *settings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (settings[i].place != settings[n].place && settings[i].kind != settings[n].kind &&
            strcmp(settings[i].value, settings[n].value) == 0)
            return true;
    return false;
}

/* The names given to session_hide_always(). */
static struct user_code always;

bool session_hide_always(const char *word, struct session_error *error)
{
    if (!*word || strlen(word) > SESSION_SETTING_MAX || !graph_text_is_plain(word) ||
        strpbrk(word, "\t\r\n"))
        return session_fail(error, 0, "expected a word of 1 to %d printable characters",
                            SESSION_SETTING_MAX);
    return user_code_add(&always, USER_CODE_HIDE, word) || session_fail_memory(error, "a setting");
}

/* Adds these words, except those that a stored setting is about. */
static bool add_always(struct user_code *code, const struct session_setting *settings, size_t count)
{
    const struct user_code_words *words = &always.lists[USER_CODE_HIDE];
    for (size_t i = 0; i < words->count; i++) {
        bool stored = false;
        for (size_t k = 0; k < count && !stored; k++)
            stored = strcmp(settings[k].value, words->words[i]) == 0;
        if (!stored && !user_code_add(code, USER_CODE_HIDE, words->words[i]))
            return false;
    }
    return true;
}

bool session_settings_apply(struct session *session, struct session_error *error)
{
    struct session_setting *settings;
    struct user_code code = {0};
    size_t count;
    if (!session_settings(session, &settings, &count, error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        if (settings[i].kind != SESSION_SOURCE && !is_overruled(settings, i))
            good = user_code_add(&code, list_of(settings[i].kind), settings[i].value);
    good = good && add_always(&code, settings, count);
    session_settings_free(settings, count);
    if (!good)
        session_fail_memory(error, "the settings");
    else if (!user_code_is_default(&code) || !user_code_is_default(session_user_code(session)))
        good = session_set_user_code(session, &code, error);
    user_code_free(&code);
    return good;
}
