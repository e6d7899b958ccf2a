/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and stores graphs: of the session, of the user's folder, shipped. */
#include "session/filter/graphs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schemas/array.h"
#include "schemas/printable.h"
#include "schemas/user_tables.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "shipped_texts.h"

/* ---- names ---- */

struct graph_names {
    struct filter_names names;
    struct session *session;
    pthread_mutex_t mutex; /* of the list, which known() walks for several threads */
    struct session_graph *graphs;
    size_t count;
};

static char *find(void *context, const char *name, const char **origin)
{
    const struct graph_names *names = context;
    struct session_graph graph;
    if (!session_graph_find(names->session, name, &graph, NULL))
        return NULL;
    char *text = graph.text;
    graph.text = NULL;
    *origin = session_place_name(graph.place);
    session_graph_clear(&graph);
    return text;
}

static char *known(void *context, size_t n)
{
    struct graph_names *names = context;
    pthread_mutex_lock(&names->mutex);
    if (n == 0) {
        session_graphs_free(names->graphs, names->count);
        session_graphs(names->session, &names->graphs, &names->count, NULL);
    }
    char *name = n < names->count ? strdup(names->graphs[n].name) : NULL;
    pthread_mutex_unlock(&names->mutex);
    return name;
}

struct filter_names *graph_names_new(struct session *session)
{
    struct graph_names *names = calloc(1, sizeof(*names));
    if (!names)
        return NULL;
    names->names = (struct filter_names){.context = names, .find = find, .known = known};
    names->session = session;
    pthread_mutex_init(&names->mutex, NULL);
    return &names->names;
}

void graph_names_free(struct filter_names *filter_names)
{
    if (!filter_names)
        return;
    struct graph_names *names = filter_names->context;
    session_graphs_free(names->graphs, names->count);
    pthread_mutex_destroy(&names->mutex);
    free(names);
}

/* ---- storing ---- */

enum storing_result storing_put(struct session *session, const struct user_change *change,
                                struct session_storing *storing)
{
    struct session_error why = {.message = ""};
    storing->note[0] = '\0';
    storing->stored = storing->place;
    if (storing->place != SESSION_PLACE_SESSION)
        return STORING_FOLDER;
    if (session) {
        switch (user_rows_change(database_path(session->database), change, &why)) {
        case USER_CHANGED:
            return STORING_DONE;
        case USER_EXISTS:
            return STORING_EXISTS;
        default:
            snprintf(storing->note, sizeof(storing->note), "%s", why.message);
        }
    }
    storing->stored = SESSION_PLACE_FOLDER;
    return STORING_FOLDER;
}

/* ---- graph text ---- */

/* The words that the language uses at or near the places of a graph's name. */
static const char *const reserved[] = {
    "all",      "and",   "asc",      "at",      "avg",         "by",      "color", "count", "desc",
    "end",      "false", "fold",     "frame",   "growth",      "has",     "held",  "holds", "in",
    "is",       "join",  "leaked",   "live",    "max",         "min",     "not",   "null",  "or",
    "outlived", "peak",  "possibly", "process", "retained",    "session", "sort",  "start", "sum",
    "survived", "top",   "true",     "ungroup", "unreachable", "where",   "write",
};

bool session_graph_name_check(const char *name, struct session_error *error)
{
    const size_t length = strnlen(name, SESSION_GRAPH_NAME_MAX + 1);
    if (length == 0 || length > SESSION_GRAPH_NAME_MAX)
        return session_fail(error, 0, "a graph's name has 1 to %d bytes", SESSION_GRAPH_NAME_MAX);
    bool good = !isdigit((unsigned char)name[0]);
    for (const char *at = name; good && *at; at += printable_glyph(at))
        good = printable_glyph(at) > 1 || isalnum((unsigned char)*at) || *at == '_';
    if (!good) {
        char shown[4 * SESSION_GRAPH_NAME_MAX + 1];
        session_printable(shown, sizeof(shown), name);
        return session_fail(error, 0,
                            "\"%s\" cannot be a graph's name: use letters, digits and _, and "
                            "begin with a letter",
                            shown);
    }
    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if (strcmp(name, reserved[i]) == 0)
            return session_fail(error, 0, "\"%s\" is a word of the language: choose another name",
                                name);
    return true;
}

bool graph_text_is_plain(const char *text)
{
    for (unsigned length; *text; text += length) {
        /* A carriage return alone would let a terminal write over the line. */
        length = strchr("\t\n", *text) || (text[0] == '\r' && text[1] == '\n')
                     ? 1
                     : printable_glyph(text);
        if (length == 0)
            return false;
    }
    return true;
}

/* Checks a text that is to be stored, without its syntax. Returns false with `error` set. */
static bool graph_text_check(const char *text, struct session_error *error)
{
    if (strlen(text) > SESSION_GRAPH_TEXT_MAX)
        return session_fail(error, 0, "a graph has %d bytes at most", SESSION_GRAPH_TEXT_MAX);
    if (!graph_text_is_plain(text))
        return session_fail(error, 0, "a graph is UTF-8 text without control characters");
    return true;
}

/* Returns the place after the lines at the beginning that begin with `#`. */
static const char *graph_text_body(const char *text)
{
    for (;;) {
        const char *line = text + strspn(text, " \t\r\n");
        if (*line != '#')
            return line;
        text = line + strcspn(line, "\n");
    }
}

/* Returns the first of these lines without its `#`, "" if there is none; free() it. NULL: memory is
 * exhausted. */
static char *graph_text_about(const char *text)
{
    const char *line = text + strspn(text, " \t\r\n");
    if (*line != '#')
        return strdup("");
    line += strspn(line, "# \t");
    return strndup(line, strcspn(line, "\r\n"));
}

/* ---- shipped graphs --------------------------------------------------------------------- */

struct shipped_graph {
    const char *name, *text;
};

/* Made by the build: one array for each file, and SHIPPED_GRAPHS with an entry for each. */

/* Returns them in the order of their names. */
static const struct shipped_graph *shipped_graphs(size_t *count)
{
    static const struct shipped_graph graphs[] = {SHIPPED_GRAPHS};
    *count = sizeof(graphs) / sizeof(*graphs);
    return graphs;
}

_Static_assert(SESSION_GRAPH_NAME_MAX == USER_GRAPH_NAME_MAX, "one limit");
_Static_assert(SESSION_GRAPH_TEXT_MAX == USER_GRAPH_TEXT_MAX, "one limit");
_Static_assert(SESSION_GRAPHS_MAX == USER_ROWS_MAX, "one limit");

#define GRAPHS_FOLDER "graphs"
#define GRAPH_END ".graph"
enum { FILE_NAME_SIZE = SESSION_GRAPH_NAME_MAX + sizeof(GRAPH_END) };

struct listing {
    struct session_graph *graphs;
    size_t count, capacity;
    size_t of_place; /* how many of them are of the present place */
    enum session_place place;
    int folder;
    const char *wanted; /* NULL: all */
    bool exhausted;     /* of memory */
    struct session_error *error;
};

const char *session_place_name(enum session_place place)
{
    static const char *const names[] = {"session", "your folder", "shipped"};
    return names[place];
}

void session_graph_clear(struct session_graph *graph)
{
    FREE_ALL(graph->name, graph->text, graph->about, graph->whole);
    *graph = (struct session_graph){.name = NULL};
}

void session_graphs_free(struct session_graph *graphs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        session_graph_clear(&graphs[i]);
    free(graphs);
}

/* Adds a graph of the present place. Skips one that could not have been stored. */
static bool add(struct listing *listing, const char *name, const char *text)
{
    if (listing->wanted && strcmp(name, listing->wanted) != 0)
        return true;
    if (!session_graph_name_check(name, NULL) || !graph_text_check(text, NULL))
        return true;
    if (!ARRAY_GROW(listing->graphs, listing->count, listing->capacity))
        return !(listing->exhausted = true);
    struct session_graph *graph = &listing->graphs[listing->count];
    *graph = (struct session_graph){.name = strdup(name),
                                    .text = strdup(graph_text_body(text)),
                                    .about = graph_text_about(text),
                                    .whole = strdup(text),
                                    .place = listing->place};
    if (!graph->name || !graph->text || !graph->about || !graph->whole) {
        session_graph_clear(graph);
        return !(listing->exhausted = true);
    }
    listing->count++;
    return ++listing->of_place < SESSION_GRAPHS_MAX;
}

static bool add_row(void *context, const char *name, const char *text)
{
    return add(context, name, text);
}

/* Writes NAME.graph. False: no such file can be a graph. */
static bool file_name(char file[FILE_NAME_SIZE], const char *name)
{
    return snprintf(file, FILE_NAME_SIZE, "%s" GRAPH_END, name) < (int)FILE_NAME_SIZE;
}

static bool graph_name(char name[SESSION_GRAPH_NAME_MAX + 1], const char *file)
{
    const size_t length = strlen(file), end = sizeof(GRAPH_END) - 1;
    if (length <= end || length - end > SESSION_GRAPH_NAME_MAX ||
        strcmp(file + length - end, GRAPH_END) != 0)
        return false;
    memcpy(name, file, length - end);
    name[length - end] = '\0';
    return true;
}

static bool add_file(void *context, const char *file)
{
    struct listing *listing = context;
    char name[SESSION_GRAPH_NAME_MAX + 1];
    if (!graph_name(name, file) || !session_graph_name_check(name, NULL))
        return true;
    char *text = user_file_read(listing->folder, file, SESSION_GRAPH_TEXT_MAX, listing->error);
    const bool more = !text || add(listing, name, text);
    free(text);
    return more;
}

static void begin_place(struct listing *listing, enum session_place place)
{
    listing->place = place;
    listing->of_place = 0;
}

/* Adds the graphs of all places in order; of a wanted name, only the first. */
static bool collect(struct listing *listing, struct session *session)
{
    size_t count;
    const struct shipped_graph *shipped = shipped_graphs(&count);
    begin_place(listing, SESSION_PLACE_SESSION);
    if (session)
        user_rows_read(database_path(session->database), USER_GRAPH, SESSION_GRAPHS_MAX,
                       SESSION_GRAPH_TEXT_MAX, add_row, listing, listing->error);
    begin_place(listing, SESSION_PLACE_FOLDER);
    listing->folder = listing->wanted && listing->count > 0
                          ? -1
                          : user_folder_open(GRAPHS_FOLDER, false, listing->error);
    if (listing->folder >= 0) {
        char file[FILE_NAME_SIZE];
        if (!listing->wanted)
            user_folder_each(listing->folder, add_file, listing, listing->error);
        else if (file_name(file, listing->wanted))
            add_file(listing, file);
        close(listing->folder);
    }
    begin_place(listing, SESSION_PLACE_SHIPPED);
    for (size_t i = 0; i < count && !listing->exhausted; i++)
        add(listing, shipped[i].name, shipped[i].text);
    return !listing->exhausted || session_fail_memory(listing->error, "the graphs");
}

ARRAY_ORDER(compare, struct session_graph, strcmp(a->name, b->name) ?: ORDER(a->place, b->place))

bool session_graphs(struct session *session, struct session_graph **graphs, size_t *count,
                    struct session_error *error)
{
    struct listing listing = {.error = error};
    *graphs = NULL;
    *count = 0;
    if (!collect(&listing, session)) {
        session_graphs_free(listing.graphs, listing.count);
        return false;
    }
    if (listing.count > 1)
        qsort(listing.graphs, listing.count, sizeof(*listing.graphs), compare);
    for (size_t i = 1; i < listing.count; i++)
        listing.graphs[i].hidden = strcmp(listing.graphs[i].name, listing.graphs[i - 1].name) == 0;
    *graphs = listing.graphs;
    *count = listing.count;
    return true;
}

bool session_graph_find(struct session *session, const char *name, struct session_graph *graph,
                        struct session_error *error)
{
    struct session_error problem = {.message = ""};
    struct listing listing = {.wanted = name, .error = &problem};
    *graph = (struct session_graph){.name = NULL};
    if (!session_graph_name_check(name, error))
        return false;
    const bool good = collect(&listing, session);
    if (good && listing.count > 0) {
        *graph = listing.graphs[0];
        listing.graphs[0] = (struct session_graph){.name = NULL};
    }
    session_graphs_free(listing.graphs, listing.count);
    if (graph->name)
        return true;
    if (problem.message[0] != '\0')
        return session_fail(error, 0, "%s", problem.message);
    return session_fail(error, 0, "no graph is stored under the name \"%s\"", name);
}

/* ---- changes ---------------------------------------------------------------------------- */

/* Turns the result of a change into an error. */
static bool done(enum user_file_result result, const char *name, struct session_error *error)
{
    switch (result) {
    case USER_FILE_DONE:
        return true;
    case USER_FILE_EXISTS:
        return session_fail(error, 0, "a graph named \"%s\" is stored already", name);
    case USER_FILE_ABSENT:
        return session_fail(error, 0, "no graph named \"%s\" is stored there", name);
    case USER_FILE_FAILED:
        break;
    }
    return false;
}

static enum user_file_result of_row(enum user_change_result result)
{
    static const enum user_file_result results[] = {
        [USER_CHANGED] = USER_FILE_DONE,
        [USER_EXISTS] = USER_FILE_EXISTS,
        [USER_ABSENT] = USER_FILE_ABSENT,
        [USER_REFUSED] = USER_FILE_FAILED,
    };
    return results[result];
}

static bool store_in_folder(const char *name, const char *text, bool replace,
                            struct session_error *error)
{
    char file[FILE_NAME_SIZE];
    const int folder = user_folder_open(GRAPHS_FOLDER, true, error);
    if (folder < 0)
        return false;
    file_name(file, name);
    const enum user_file_result result = user_file_write(folder, file, text, replace, error);
    close(folder);
    return done(result, name, error);
}

static bool check_syntax(struct session *session, const char *name, const char *text,
                         struct session_error *error)
{
    struct filter_names *names = session ? session->graph_names : graph_names_new(NULL);
    const bool good =
        names ? filter_check_stored(name, text, names, error) : session_fail_memory(error, name);
    if (!session)
        graph_names_free(names);
    return good;
}

bool session_graph_store(struct session *session, const char *name, const char *text,
                         struct session_storing *storing, struct session_error *error)
{
    const struct user_change put = {.kind = USER_PUT,
                                    .table = USER_GRAPH,
                                    .replace = storing->replace,
                                    .key = name,
                                    .value = text};
    storing->note[0] = '\0';
    if (!session_graph_name_check(name, error) || !graph_text_check(text, error) ||
        !check_syntax(session, name, graph_text_body(text), error))
        return false;
    switch (storing_put(session, &put, storing)) {
    case STORING_DONE:
        return true;
    case STORING_EXISTS:
        return done(USER_FILE_EXISTS, name, error);
    case STORING_FOLDER:
        break;
    }
    return store_in_folder(name, text, storing->replace, error);
}

/* Changes a row of the session, or a file of the folder. `to` NULL: removes it. */
static bool change(struct session *session, enum session_place place, const char *name,
                   const char *to, struct session_error *error)
{
    char from_file[FILE_NAME_SIZE], to_file[FILE_NAME_SIZE];
    if (place == SESSION_PLACE_SHIPPED)
        return session_fail(error, 0,
                            "\"%s\" ships with the program: store another graph of that name to "
                            "use it instead",
                            name);
    if (place == SESSION_PLACE_SESSION && session) {
        const struct user_change row = {
            .kind = to ? USER_RENAME : USER_DELETE, .table = USER_GRAPH, .key = name, .value = to};
        const enum user_change_result result =
            user_rows_change(database_path(session->database), &row, error);
        return done(of_row(result), result == USER_EXISTS ? to : name, error);
    }
    struct session_error why = {.message = ""};
    const int folder = user_folder_open(GRAPHS_FOLDER, false, &why);
    if (folder < 0)
        return why.message[0] ? session_fail(error, 0, "%s", why.message)
                              : done(USER_FILE_ABSENT, name, error);
    file_name(from_file, name);
    if (to)
        file_name(to_file, to);
    const enum user_file_result result = to ? user_file_rename(folder, from_file, to_file, error)
                                            : user_file_remove(folder, from_file, error);
    close(folder);
    return done(result, result == USER_FILE_EXISTS ? to : name, error);
}

bool session_graph_rename(struct session *session, enum session_place place, const char *from,
                          const char *to, struct session_error *error)
{
    return session_graph_name_check(from, error) && session_graph_name_check(to, error) &&
           change(session, place, from, to, error);
}

bool session_graph_delete(struct session *session, enum session_place place, const char *name,
                          struct session_error *error)
{
    return session_graph_name_check(name, error) && change(session, place, name, NULL, error);
}

/* ---- files ------------------------------------------------------------------------------ */

/* Opens the folder of `path` and stores its last component in `name`. */
static int open_above(const char *path, const char **name, struct session_error *error)
{
    const char *slash = strrchr(path, '/');
    char *above = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    *name = slash ? slash + 1 : path;
    const int folder = above ? open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(above);
    if (folder < 0)
        session_fail(error, 0, "%s: cannot be reached: %s", path, strerror(errno));
    return folder;
}

bool session_graph_import(struct session *session, const char *path,
                          struct session_storing *storing, struct session_error *error)
{
    char name[SESSION_GRAPH_NAME_MAX + 1];
    const char *file;
    struct session_error why = {.message = ""};
    const int folder = open_above(path, &file, error);
    if (folder < 0)
        return false;
    char *text = user_file_read(folder, file, SESSION_GRAPH_TEXT_MAX, &why);
    close(folder);
    bool good = false;
    if (!text)
        session_fail(error, 0, "%s", why.message[0] ? why.message : "there is no such file");
    else if (!graph_name(name, file))
        session_fail(error, 0, "%s: expected a file NAME" GRAPH_END, path);
    else
        good = session_graph_store(session, name, text, storing, error);
    free(text);
    return good;
}
