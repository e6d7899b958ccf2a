/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file: a line "mprof-tui state 1", lines of a word and its values, and a last line "end" with
 * the number of lines before it, so that a file that was cut is not taken for a whole one.
 */
#include "tui/browser/kept_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/text_hash.h"
#include "session/user_folder.h"
#include "tui/browser/browser_state.h"

#define FOLDER "state"
#define FIRST_LINE "mprof-tui state 1"
enum { SIZE_MOST = 1 << 20, FILES_MOST = 500, NAME_SIZE = 32 };

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
    char *text = user_file_read(folder, name, SIZE_MOST, &error);
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
    struct exploration *exploration = &browser->exploration;
    const uint64_t duration = session_duration_ns(exploration->session);
    if (!state->found)
        return;
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        struct table_order order = state->lists[i].order;
        if (state->lists[i].known && view->order)
            view->order(browser->views[i], &order, true);
    }
    if (state->has_moment && state->moment_ns <= duration)
        exploration->moment_ns = state->moment_ns;
    if (state->has_range && state->to_ns <= duration) {
        exploration->has_range = true;
        exploration->range_from_ns = state->from_ns;
        exploration->range_to_ns = state->to_ns;
    }
    if (session_has_allocation(exploration->session, state->allocation))
        exploration->allocation = exploration->to_memory = state->allocation;
    if (state->color_by != SESSION_COLOR_NONE && state->color_by != exploration->color_by)
        exploration_color_by(exploration, state->color_by);
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        char *choice = state->lists[i].choice;
        if (choice && view && view->choose)
            view->choose(browser->views[i], exploration, choice);
    }
}

/* ---- writing ---------------------------------------------------------------------------- */

/* Counts the lines that have been written. */
struct writing {
    FILE *out;
    int lines;
};

__attribute__((format(printf, 2, 3))) static void put(struct writing *writing, const char *format,
                                                      ...)
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
        put(writing, "list %s %zu %s %" PRIu64, ops->name, order.sort,
            order.descending ? "down" : "up", order.key);
    else
        put(writing, "list %s %zu %s", ops->name, order.sort, order.descending ? "down" : "up");
}

static void put_choice(struct writing *writing, const struct browser *browser,
                       enum view_number view)
{
    const struct view_ops *ops = browser_view(view);
    const char *chosen = ops->chosen ? ops->chosen(browser->views[view]) : "";
    if (*chosen)
        put(writing, "choice %s %s", ops->name, chosen);
}

static void put_state(struct writing *writing, const struct browser *browser)
{
    const struct exploration *exploration = &browser->exploration;
    put(writing, "%s", FIRST_LINE);
    put(writing, "view %s", browser_view(browser->current)->name);
    if (exploration->filter[0] && !strchr(exploration->filter, '\n'))
        put(writing, "filter %s", exploration->filter);
    if (exploration->color_by != SESSION_COLOR_NONE)
        put(writing, "color %s", color_by_name(exploration->color_by));
    put(writing, "moment %" PRIu64, exploration->moment_ns);
    if (exploration->has_range)
        put(writing, "range %" PRIu64 " %" PRIu64, exploration->range_from_ns,
            exploration->range_to_ns);
    if (exploration->allocation > 0)
        put(writing, "allocation %" PRIu64, exploration->allocation);
    for (int i = 0; i < VIEWS; i++)
        put_list(writing, browser, (enum view_number)i);
    for (int i = 0; i < VIEWS; i++)
        put_choice(writing, browser, (enum view_number)i);
    put(writing, "end %d", writing->lines);
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
        name_of(browser->exploration.session, name);
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
