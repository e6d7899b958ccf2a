/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/user_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/hash.h"
#include "tui/browser/browser_state.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

/* Writes the path of a file in the folder that a variable names, or else in `at_home`. Returns
 * false if the environment names no folder. */
static bool user_path(char *out, size_t size, const char *variable, const char *at_home,
                      const char *name)
{
    const char *folder = getenv(variable), *home = getenv("HOME");
    int length = -1;
    if (folder && *folder == '/')
        length = snprintf(out, size, "%s/mprof/%s", folder, name);
    else if (home && *home == '/')
        length = snprintf(out, size, "%s/%s/mprof/%s", home, at_home, name);
    return length >= 0 && (size_t)length < size;
}

static bool state_path(char *out, size_t size, const char *name)
{
    return user_path(out, size, "XDG_STATE_HOME", ".local/state", name);
}

/* Makes the folders that the path lies in, for the user alone; the home folder is not made. */
static void state_path_make(const char *path)
{
    char part[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    /* $XDG_STATE_HOME is made, but not what it lies in; $HOME is not made. */
    const size_t base = state && *state == '/' ? strlen(state) : home ? strlen(home) + 1 : 0;
    if (base > strlen(path))
        return;
    for (const char *slash = strchr(path + base, '/'); slash; slash = strchr(slash + 1, '/'))
        if (snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path) < (int)sizeof(part))
            mkdir(part, 0700);
}

bool first_run(void)
{
    char path[4096];
    if (!state_path(path, sizeof(path), "browsed") || access(path, F_OK) == 0)
        return false;
    state_path_make(path);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    close(file);
    return true;
}

/* Writes a file beside its place, and gives it its name when it is whole. */
static bool put(const char *path, const char *text)
{
    char part[4200];
    struct stat about;
    if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return false;
    snprintf(part, sizeof(part), "%s.part.%ld", path, (long)getpid());
    unlink(part); /* of a run that was killed and had the same number */
    const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out) {
        if (file >= 0)
            close(file);
        return false;
    }
    bool good = fputs(text, out) >= 0;
    good = fclose(out) == 0 && good && rename(part, path) == 0;
    if (!good)
        unlink(part);
    return good;
}

bool copied_file_write(const char *text, char *path, size_t size)
{
    char whole[4096];
    const char *home = getenv("HOME");
    const size_t length = home ? strlen(home) : 0;
    if (!state_path(whole, sizeof(whole), "copied.txt"))
        return false;
    state_path_make(whole);
    if (!put(whole, text))
        return false;
    const bool at_home = length > 1 && strncmp(whole, home, length) == 0 && whole[length] == '/';
    snprintf(path, size, "%s%s", at_home ? "~" : "", at_home ? whole + length : whole);
    return true;
}

enum { CONFIG_MOST = 65536 };

struct reading {
    bool *themed;
    char problem[300]; /* of the present line; "": none */
};

/* Writes text from outside in its printable form. Returns `out`. */
static const char *printable(char *out, size_t size, const char *text)
{
    session_printable(out, size, text);
    return out;
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Cuts the next word off. Returns NULL if there is none. */
static char *next_word(char **rest)
{
    char *word;
    while ((word = strsep(rest, " \t")) && !*word)
        continue;
    return word;
}

static void read_theme(struct reading *reading, char *rest)
{
    enum theme_kind kind;
    const char *name = next_word(&rest);
    if (!name || !theme_from_name(name, &kind) || next_word(&rest)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected theme dark, light, colour-blind or mono");
        return;
    }
    theme_use(kind);
    *reading->themed = true;
}

static void read_hide(struct reading *reading, char *rest)
{
    struct session_error error = {.message = ""};
    while (rest && (*rest == ' ' || *rest == '\t'))
        rest++;
    if (!rest || !*rest)
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected hide and a namespace, class, module or function");
    else if (!session_hide_always(rest, &error))
        snprintf(reading->problem, sizeof(reading->problem), "%.250s", error.message);
}

static void read_key(struct reading *reading, char *rest)
{
    struct user_key key = {.view = VIEWS};
    char shown[100], names[200];
    const char *name = next_word(&rest), *action = next_word(&rest), *view = next_word(&rest);
    if (!name || !action || next_word(&rest)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected key, its name, an action, and perhaps a view");
    } else if (!(key.key = key_from_name(name))) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected a key such as J, Ctrl-J, PgDn or Space, not \"%s\"",
                 printable(shown, sizeof(shown), name));
    } else if (!action_from_name(action, &key.action)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected an action of those that --print-config lists, not \"%s\"",
                 printable(shown, sizeof(shown), action));
    } else if (view && (key.view = browser_find_view(view, true)) == VIEW_SAME) {
        snprintf(reading->problem, sizeof(reading->problem), "expected a view of %s, not \"%s\"",
                 browser_view_names(names, sizeof(names)), printable(shown, sizeof(shown), view));
    } else if (!user_keys_bind(&key)) {
        snprintf(reading->problem, sizeof(reading->problem), "expected at most %d keys",
                 USER_KEYS_MOST);
    }
}

static void read_setting(struct reading *reading, char *line)
{
    static const struct {
        const char *name;
        void (*read)(struct reading *reading, char *rest);
    } kinds[] = {{"theme", read_theme}, {"hide", read_hide}, {"key", read_key}};
    char shown[100], *rest = line;
    reading->problem[0] = 0;
    /* Blanks and a carriage return at the end mean nothing. */
    for (size_t length = strlen(line); length > 0 && strchr(" \t\r", line[length - 1]);)
        line[--length] = 0;
    if (line[strspn(line, " \t")] == '#')
        return;
    const char *word = next_word(&rest);
    if (!word)
        return;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, word) == 0) {
            kinds[i].read(reading, rest);
            return;
        }
    }
    snprintf(reading->problem, sizeof(reading->problem), "expected theme, hide or key, not \"%s\"",
             printable(shown, sizeof(shown), word));
}

/* ---- file ------------------------------------------------------------------------------- */

/* Returns the text, malloc()ed; NULL with `why` if it cannot be read, "" if there is no file. */
static char *read_file(const char *path, const char **why)
{
    struct stat about;
    *why = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
        return NULL;
    }
    char *text = malloc(CONFIG_MOST + 1);
    size_t size = 0;
    ssize_t count = 0;
    if (!text)
        *why = SESSION_OUT_OF_MEMORY;
    else if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        *why = "is not a regular file";
    while (!**why && size < CONFIG_MOST &&
           ((count = read(file, text + size, CONFIG_MOST - size)) > 0 ||
            (count < 0 && errno == EINTR)))
        size += count > 0 ? (size_t)count : 0;
    if (!**why && count < 0)
        *why = strerror(errno);
    else if (!**why && size == CONFIG_MOST)
        *why = "is longer than 64 KiB";
    close(file);
    if (**why) {
        free(text);
        return NULL;
    }
    text[size] = 0;
    return text;
}

bool config_load(bool *themed, char error[CONFIG_ERROR_SIZE])
{
    struct reading reading = {.themed = themed};
    char path[4096], shown[200];
    const char *why;
    error[0] = 0;
    if (!user_path(path, sizeof(path), "XDG_CONFIG_HOME", ".config", "tui.conf"))
        return true;
    session_printable(shown, sizeof(shown), path);
    char *text = read_file(path, &why);
    if (!text) {
        if (*why)
            snprintf(error, CONFIG_ERROR_SIZE, "%s: %s", shown, why);
        return !*why;
    }
    int number = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        read_setting(&reading, line);
        if (reading.problem[0] && !error[0])
            snprintf(error, CONFIG_ERROR_SIZE, "%s:%d: %s", shown, number, reading.problem);
    }
    free(text);
    return !error[0];
}

/* ---- the default one -------------------------------------------------------------------- */

static void print_binding(FILE *out, const struct key_binding *binding, const char *view)
{
    const char *action = action_name(binding->action);
    char name[KEY_NAME_SIZE];
    for (size_t i = 0; action && i < KEYS_MOST && binding->keys[i]; i++)
        fprintf(out, "#key %s %s%s%s\n", key_spelling(binding->keys[i], name), action,
                *view ? " " : "", view);
}

static void print_keys(FILE *out)
{
    fputs(
        "\n# Keys: key KEY ACTION binds a key in all views that know the action, and\n"
        "# key KEY ACTION VIEW in one view. The action none takes a key's meaning away. Keys are\n"
        "# single characters, Space, Enter, Tab, Shift-Tab, Esc, Backspace, Delete, Up, Down,\n"
        "# Left, Right, PgUp, PgDn, Home, End, and Ctrl-A to Ctrl-Z.\n\n# In all views:\n",
        out);
    for (size_t i = 0; i < shared_keys.count; i++)
        print_binding(out, &shared_keys.bindings[i], "");
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        if (!view || view->keys.count == 0)
            continue;
        fprintf(out, "\n# In %s:\n", view->name);
        for (size_t k = 0; k < view->keys.count; k++)
            print_binding(out, &view->keys.bindings[k], view->name);
    }
}

void config_print(FILE *out)
{
    fputs("# Configuration of mprof-tui, as it is without this file.\n"
          "# Its place is $XDG_CONFIG_HOME/mprof/tui.conf, or ~/.config/mprof/tui.conf.\n\n"
          "# The colours: dark, light, colour-blind or mono. --theme comes first.\n"
          "#theme dark\n\n"
          "# Code that is not your own, beside what is hidden by default (libc, std, boost, …):\n"
          "# a namespace, class, module or function, in all sessions.\n"
          "#hide vendor\n",
          out);
    print_keys(out);
}

#define FOLDER "state"
#define FIRST_LINE "mprof-tui state 1"
enum { STATE_MOST = 1 << 20, FILES_MOST = 500, NAME_SIZE = 32 };

/* ---- identity --------------------------------------------------------------------------- */

static uint64_t add_fact(uint64_t hash, const struct session *session, const char *key)
{
    const char *fact = session_meta(session, key);
    return text_hash_byte(fact ? text_hash_add(hash, fact) : hash, 0xff);
}

/* Writes a name that tells sessions apart by what was recorded, when and where. */
static void name_of(const struct session *session, char out[NAME_SIZE])
{
    static const char *const facts[] = {"start_time", "host", "pid", "program", "argv"};
    /* For a session of a file that has no such facts. One that is being recorded changes these. */
    static const char *const others[] = {"events", "duration_ns", "peak_bytes"};
    const char *start = session_meta(session, "start_time");
    uint64_t hash = TEXT_HASH_EMPTY;
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        hash = add_fact(hash, session, facts[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !(start && *start); i++)
        hash = add_fact(hash, session, others[i]);
    snprintf(out, NAME_SIZE, "%016" PRIx64, hash);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* Reads a number and moves past it and a blank. */
static bool read_number(const char **at, uint64_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *number = strtoull(*at, &end, 10);
    if (*end != ' ' && *end != 0)
        return false;
    *at = end + (*end == ' ');
    return true;
}

static bool read_view(struct kept_state *state, const char *value)
{
    const enum view_number found = browser_find_view(value, true);
    state->view = found == VIEW_SAME ? NULL : browser_view(found)->name;
    return state->view != NULL;
}

static bool read_filter(struct kept_state *state, const char *value)
{
    free(state->filter);
    state->filter = strdup(value);
    return true;
}

static bool read_color(struct kept_state *state, const char *value)
{
    return color_by_from_name(value, &state->color_by);
}

static bool read_moment(struct kept_state *state, const char *value)
{
    return (state->has_moment = read_number(&value, &state->moment_ns)) && !*value;
}

static bool read_range(struct kept_state *state, const char *value)
{
    state->has_range = read_number(&value, &state->from_ns) && read_number(&value, &state->to_ns);
    return state->has_range && !*value && state->from_ns <= state->to_ns;
}

static bool read_allocation(struct kept_state *state, const char *value)
{
    return read_number(&value, &state->allocation) && !*value;
}

/* Reads the name of a view and moves past it and a blank. Returns VIEW_SAME if there is none. */
static enum view_number read_view_name(const char **at)
{
    char name[32];
    const size_t length = strcspn(*at, " ");
    snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), *at);
    *at += length + ((*at)[length] == ' ');
    return browser_find_view(name, true);
}

/* Reads "VIEW COLUMN up|down [KEY]". */
static bool read_list(struct kept_state *state, const char *value)
{
    const enum view_number view = read_view_name(&value);
    uint64_t column;
    if (view == VIEW_SAME || !read_number(&value, &column))
        return false;
    struct table_order order = {.sort = (size_t)column,
                                .descending = strncmp(value, "down", 4) == 0};
    if (!order.descending && strncmp(value, "up", 2) != 0)
        return false;
    value += order.descending ? 4 : 2;
    value += *value == ' ';
    if (*value && !(order.has_key = read_number(&value, &order.key)))
        return false;
    state->lists[view].known = true;
    state->lists[view].order = order;
    return !*value;
}

/* Reads "VIEW TEXT". */
static bool read_choice(struct kept_state *state, const char *value)
{
    const enum view_number view = read_view_name(&value);
    if (view == VIEW_SAME || !*value)
        return false;
    free(state->lists[view].choice);
    state->lists[view].choice = strdup(value);
    return true;
}

/* Reads a line. Returns false if it is damaged. A word that is unknown means nothing. */
static bool read_line(struct kept_state *state, const char *line)
{
    static const struct {
        const char *word;
        bool (*read)(struct kept_state *state, const char *value);
    } words[] = {{"view", read_view},     {"filter", read_filter},        {"color", read_color},
                 {"moment", read_moment}, {"range", read_range},          {"list", read_list},
                 {"choice", read_choice}, {"allocation", read_allocation}};
    const size_t length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == length && strncmp(words[i].word, line, length) == 0)
            return words[i].read(state, line[length] ? line + length + 1 : "");
    return true;
}

/* Reads the text. Returns the number of the line that is damaged, 0 for none. */
static int read_text(struct kept_state *state, char *text)
{
    int number = 0;
    char *rest = text, end[32];
    for (char *line; (line = strsep(&rest, "\n"));) {
        snprintf(end, sizeof(end), "end %d", number);
        number++;
        if (number == 1 ? strcmp(line, FIRST_LINE) != 0 : !read_line(state, line))
            return number;
        if (strcmp(line, end) == 0)
            return 0;
    }
    return number; /* it was cut */
}

void kept_state_read(struct session *session, struct kept_state *state, char note[KEPT_STATE_NOTE])
{
    char name[NAME_SIZE];
    struct session_error error = {.message = ""};
    *state = (struct kept_state){.found = false};
    note[0] = 0;
    const int folder = user_folder_open(FOLDER, false, &error);
    if (folder < 0)
        return; /* nothing was kept there */
    name_of(session, name);
    char *text = user_file_read(folder, name, STATE_MOST, &error);
    close(folder);
    const int damaged = text ? read_text(state, text) : 0;
    free(text);
    if (error.message[0])
        snprintf(note, KEPT_STATE_NOTE, "the state of the last run is not used: %.180s",
                 error.message);
    if (damaged > 0)
        snprintf(note, KEPT_STATE_NOTE,
                 "the state of the last run is not used: mprof/state/%s, line %d is damaged", name,
                 damaged);
    if (!text || damaged > 0) {
        kept_state_clear(state);
        return;
    }
    state->found = true;
    if (state->filter && !session_filter_check(session, state->filter, &error)) {
        snprintf(note, KEPT_STATE_NOTE, "the filter of the last run is not used: %.180s",
                 error.message);
        free(state->filter);
        state->filter = NULL;
    }
}

void kept_state_clear(struct kept_state *state)
{
    free(state->filter);
    for (int i = 0; i < VIEWS; i++)
        free(state->lists[i].choice);
    *state = (struct kept_state){.found = false};
}

void kept_state_apply(const struct kept_state *state, struct browser *browser)
{
    struct browse *browse = &browser->browse;
    const uint64_t duration = session_duration_ns(browse->session);
    if (!state->found)
        return;
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        struct table_order order = state->lists[i].order;
        if (state->lists[i].known && view->order)
            view->order(browser->views[i], &order, true);
    }
    if (state->has_moment && state->moment_ns <= duration)
        browse->moment_ns = state->moment_ns;
    if (state->has_range && state->to_ns <= duration) {
        browse->has_range = true;
        browse->range_from_ns = state->from_ns;
        browse->range_to_ns = state->to_ns;
    }
    if (session_has_allocation(browse->session, state->allocation))
        browse->allocation = browse->to_memory = state->allocation;
    if (state->color_by != SESSION_COLOR_NONE && state->color_by != browse->color_by)
        browse_color_by(browse, state->color_by);
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        char *choice = state->lists[i].choice;
        if (choice && view && view->choose)
            view->choose(browser->views[i], browse, choice);
    }
}

/* ---- writing ---------------------------------------------------------------------------- */

/* Counts the lines that have been written. */
struct writing {
    FILE *out;
    int lines;
};

__attribute__((format(printf, 2, 3))) static void put_line(struct writing *writing,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(writing->out, format, arguments);
    va_end(arguments);
    fputc('\n', writing->out);
    writing->lines++;
}

static void put_list(struct writing *writing, const struct browser *browser, enum view_number view)
{
    const struct view_ops *ops = browser_view(view);
    struct table_order order;
    if (!ops->order || !ops->order(browser->views[view], &order, false))
        return;
    if (order.has_key)
        put_line(writing, "list %s %zu %s %" PRIu64, ops->name, order.sort,
                 order.descending ? "down" : "up", order.key);
    else
        put_line(writing, "list %s %zu %s", ops->name, order.sort,
                 order.descending ? "down" : "up");
}

static void put_choice(struct writing *writing, const struct browser *browser,
                       enum view_number view)
{
    const struct view_ops *ops = browser_view(view);
    const char *chosen = ops->chosen ? ops->chosen(browser->views[view]) : "";
    if (*chosen)
        put_line(writing, "choice %s %s", ops->name, chosen);
}

static void put_state(struct writing *writing, const struct browser *browser)
{
    const struct browse *browse = &browser->browse;
    put_line(writing, "%s", FIRST_LINE);
    put_line(writing, "view %s", browser_view(browser->current)->name);
    if (browse->filter[0] && !strchr(browse->filter, '\n'))
        put_line(writing, "filter %s", browse->filter);
    if (browse->color_by != SESSION_COLOR_NONE)
        put_line(writing, "color %s", color_by_name(browse->color_by));
    put_line(writing, "moment %" PRIu64, browse->moment_ns);
    if (browse->has_range)
        put_line(writing, "range %" PRIu64 " %" PRIu64, browse->range_from_ns, browse->range_to_ns);
    if (browse->allocation > 0)
        put_line(writing, "allocation %" PRIu64, browse->allocation);
    for (int i = 0; i < VIEWS; i++)
        put_list(writing, browser, (enum view_number)i);
    for (int i = 0; i < VIEWS; i++)
        put_choice(writing, browser, (enum view_number)i);
    put_line(writing, "end %d", writing->lines);
}

/* The files of a folder: how many, and which was written first. */
struct files {
    int folder;
    size_t count;
    char oldest[NAME_SIZE];
    struct timespec when;
};

static bool visit_file(void *context, const char *name)
{
    struct files *files = context;
    struct stat about;
    if (strlen(name) >= NAME_SIZE || name[0] == '.' ||
        fstatat(files->folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
        return true;
    if (files->count++ == 0 || about.st_mtim.tv_sec < files->when.tv_sec) {
        files->when = about.st_mtim;
        snprintf(files->oldest, sizeof(files->oldest), "%s", name);
    }
    return true;
}

/* Removes the state that was written first if there are too many. */
static void remove_oldest(int folder)
{
    struct files files = {.folder = folder};
    struct session_error error;
    if (user_folder_each(folder, visit_file, &files, &error) && files.count > FILES_MOST)
        user_file_remove(folder, files.oldest, &error);
}

bool kept_state_write(const struct browser *browser, char note[KEPT_STATE_NOTE])
{
    char name[NAME_SIZE], *text = NULL;
    size_t size = 0;
    struct session_error error = {.message = SESSION_OUT_OF_MEMORY};
    struct writing writing = {.out = open_memstream(&text, &size)};
    int folder = -1;
    bool good = writing.out != NULL;
    if (good) {
        put_state(&writing, browser);
        good = fclose(writing.out) == 0 && (folder = user_folder_open(FOLDER, true, &error)) >= 0;
    }
    if (good) {
        name_of(browser->browse.session, name);
        good = user_file_write(folder, name, text, true, &error) == USER_FILE_DONE;
        remove_oldest(folder);
    }
    if (folder >= 0)
        close(folder);
    free(text);
    if (!good)
        snprintf(note, KEPT_STATE_NOTE, "the state is not kept: %.200s", error.message);
    return good;
}
