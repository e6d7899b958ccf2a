/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-tui for saved filters and settings, which need no terminal. */
#include "tui/browser/user_files.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "session/groups.h"
#include "session/jobs.h"
#include "tui/screen/cells.h"

enum { LOOK_MS = 100 };

static void print_number(FILE *out, const char *name, enum session_unit unit, uint64_t value,
                         const char *sign)
{
    static const char *const units[] = {[UNIT_NUMBER] = "",
                                        [UNIT_BYTES] = " bytes",
                                        [UNIT_DURATION] = " ns",
                                        [UNIT_MOMENT] = " ns"};
    fprintf(out, "%s: %s%" PRIu64 "%s\n", name, sign, value, units[unit]);
}

static void print_measure(const struct session_measure *measure, FILE *out)
{
    char name[1024];
    session_printable(name, sizeof(name), measure->name);
    if (measure->is_null)
        fprintf(out, "%s: none\n", name);
    else
        print_number(out, name, measure->unit, measure->value, measure->negative ? "-" : "");
    for (size_t i = 0; !measure->is_null && i < measure->part_count; i++)
        print_number(out, measure->part[i].name, measure->part[i].unit, measure->part[i].value, "");
    if (measure->estimated)
        fputs("estimated: the session is sampled\n", out);
}

static void print_allocations(const struct selection *selection, FILE *out)
{
    print_number(out, "allocations", UNIT_NUMBER, selection_allocations(selection), "");
    print_number(out, "bytes", UNIT_BYTES, selection_bytes(selection), "");
}

static void print_result(struct graph_result *result, FILE *out)
{
    const struct graph_side *sides;
    const size_t count = graph_result_sides(result, &sides);
    switch (graph_result_kind(result)) {
    case RESULT_MEASURE:
        print_measure(graph_result_measure(result), out);
        break;
    case RESULT_GROUPS:
        print_number(out, "groups", UNIT_NUMBER, session_groups_count(graph_result_groups(result)),
                     "");
        break;
    case RESULT_ALLOCATIONS:
        print_allocations(graph_result_selection(result), out);
        for (size_t i = 0; i < count; i++) {
            char path[1024];
            session_printable(path, sizeof(path), session_path(sides[i].session));
            fprintf(out, "%s:\n", path);
            print_allocations(sides[i].selection, out);
        }
    }
}

struct running {
    const char *text;
    struct graph_options options;
    struct graph_result *result;
};

static bool run_text(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct running *running = data;
    running->result = graph_run_with(session, running->text, &running->options, error);
    return running->result != NULL;
}

/* The question lies on the stack of the thread that asks. */
static void keep(void *data)
{
}

static void show_progress(struct session_job *job)
{
    struct session_progress progress;
    if (session_job_poll(job, &progress) == SESSION_JOB_RUNNING && progress.total > 0)
        fprintf(stderr, "\r%3u %% read",
                (unsigned)(100 * (uint64_t)progress.done / progress.total));
}

/* Runs the text and waits. A signal that would end the program cancels it first, so that no draft
 * of a file stays. */
static bool run_job(struct session *session, struct running *running, struct session_error *error)
{
    static const struct timespec at_once = {0, 0};
    const bool shows = isatty(STDERR_FILENO);
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    int ended_by = -1;
    struct session_jobs *jobs = session_jobs_start(session, error);
    if (!jobs)
        return false;
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    struct session_job *job = session_job_ask(
        jobs,
        &(struct session_question){
            .kind = SESSION_ASK_CALL, .call = run_text, .data = running, .release = keep},
        error);
    while (job && session_job_wait(job, LOOK_MS) <= SESSION_JOB_RUNNING)
        if ((ended_by = sigtimedwait(&ends, NULL, &at_once)) > 0)
            session_job_cancel(job);
        else if (shows)
            show_progress(job);
    if (shows && job)
        fputs("\r            \r", stderr);
    const struct session_error *failed = job ? session_job_error(job) : error;
    if (failed)
        *error = *failed;
    session_jobs_stop(jobs);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ended_by > 0)
        raise(ended_by);
    return running->result != NULL;
}

static bool graphs_run_text(struct session *session, const char *text, bool stored_write, FILE *out,
                            char note[1024], struct session_error *error)
{
    struct running running = {.text = text,
                              .options = {.write = true, .stored_write = stored_write}};
    const struct session_warning *warnings;
    const bool good = run_job(session, &running, error);
    struct graph_result *result = running.result;
    if (!good)
        return false;
    const size_t count = graph_result_warnings(result, &warnings);
    size_t used = 0;
    for (size_t i = 0; i < count && used < 1000; i++) {
        used += (size_t)snprintf(note + used, 1024 - used, "%s", i > 0 ? "; " : "");
        if (warnings[i].column > 0 && used < 1000)
            used += (size_t)snprintf(note + used, 1024 - used, "column %d: ", warnings[i].column);
        if (used < 1000)
            used += (size_t)snprintf(note + used, 1024 - used, "%s", warnings[i].message);
    }
    print_result(result, out);
    graph_result_free(result);
    return true;
}

/* Splits "KIND VALUE". Returns false with `error` set if there is no such kind, or no value. */
static bool split(const char *text, enum session_setting_kind *kind, const char **value,
                  struct session_error *error)
{
    static const enum session_setting_kind kinds[] = {SESSION_HIDE, SESSION_SHOW, SESSION_WRAPPER,
                                                      SESSION_SOURCE};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const char *name = session_setting_name(kinds[i]);
        const size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == ' ') {
            *kind = kinds[i];
            *value = text + length + strspn(text + length, " ");
            return true;
        }
    }
    char shown[200];
    session_printable(shown, sizeof(shown), text);
    snprintf(error->message, sizeof(error->message),
             "\"%s\" is not a setting: expected hide, show, wrapper or source, and a word after it",
             shown);
    return false;
}

static bool settings_list(struct session *session, FILE *out, struct session_error *error)
{
    struct session_setting *settings;
    size_t count;
    if (!session_settings(session, &settings, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        char value[4 * SESSION_SETTING_MAX + 1];
        session_printable(value, sizeof(value), settings[i].value);
        fprintf(out, "%-8s %-12s %s\n", session_setting_name(settings[i].kind),
                session_place_name(settings[i].place), value);
    }
    session_settings_free(settings, count);
    return true;
}

static bool settings_add(struct session *session, const char *text, char note[1024],
                         struct session_error *error)
{
    enum session_setting_kind kind;
    const char *value;
    struct session_storing storing = {.place =
                                          session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER};
    if (!split(text, &kind, &value, error) ||
        !session_setting_store(session, kind, value, &storing, error))
        return false;
    if (storing.note[0] != '\0')
        snprintf(note, 1024, "%s; the setting is stored in your folder", storing.note);
    return true;
}

static bool settings_delete(struct session *session, const char *text, struct session_error *error)
{
    enum session_setting_kind kind;
    const char *value;
    return split(text, &kind, &value, error) &&
           session_setting_delete(session, session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER,
                                  kind, value, error);
}

/* Prints text from a file in its printable form, padded to a width. */
static void put_cell(FILE *out, const char *text, int width)
{
    char shown[4 * SESSION_GRAPH_NAME_MAX + 1];
    session_printable(shown, sizeof(shown), text);
    const int left = width - text_width(shown);
    fprintf(out, "%s%*s", shown, left > 0 ? left : 0, "");
}

static bool list(struct session *session, FILE *out, char note[1024], struct session_error *error)
{
    struct session_graph *graphs;
    size_t count;
    int width = 0;
    struct session_error problem = {.message = ""};
    if (!session_graphs(session, &graphs, &count, &problem)) {
        *error = problem;
        return false;
    }
    snprintf(note, 1024, "%s", problem.message);
    for (size_t i = 0; i < count; i++) {
        const int own = text_width(graphs[i].name);
        width = own > width ? own : width;
    }
    for (size_t i = 0; i < count; i++) {
        char about[1024];
        put_cell(out, graphs[i].name, width + 2);
        put_cell(out, session_place_name(graphs[i].place), 13);
        session_printable(about, sizeof(about), graphs[i].about);
        fprintf(out, "%s%s\n", graphs[i].hidden ? "(not used) " : "", about);
    }
    session_graphs_free(graphs, count);
    return true;
}

/* Prints the text. It has no control characters: others are neither stored nor read. */
static bool export(struct session *session, const char *name, FILE *out,
                   struct session_error *error)
{
    struct session_graph graph;
    if (!session_graph_find(session, name, &graph, error))
        return false;
    const size_t length = strlen(graph.whole);
    fprintf(out, "%s%s", graph.whole, length > 0 && graph.whole[length - 1] == '\n' ? "" : "\n");
    session_graph_clear(&graph);
    return true;
}

static bool import(struct session *session, const char *path, char note[1024],
                   struct session_error *error)
{
    struct session_storing storing = {.place =
                                          session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER};
    if (!session_graph_import(session, path, &storing, error))
        return false;
    if (storing.note[0] != '\0')
        snprintf(note, 1024, "%s; the graph is stored in your folder", storing.note);
    return true;
}

static bool delete_one(struct session *session, const char *name, struct session_error *error)
{
    struct session_graph graph;
    if (!session_graph_find(session, name, &graph, error))
        return false;
    const enum session_place place = graph.place;
    session_graph_clear(&graph);
    return session_graph_delete(session, place, name, error);
}

static bool rename_one(struct session *session, const char *names, struct session_error *error)
{
    char from[SESSION_GRAPH_NAME_MAX + 1];
    struct session_graph graph;
    const char *to = strchr(names, '=');
    if (!to || to == names || (size_t)(to - names) > SESSION_GRAPH_NAME_MAX) {
        *error = (struct session_error){.message = "expected OLD=NEW, the names of a graph"};
        return false;
    }
    snprintf(from, sizeof(from), "%.*s", (int)(to - names), names);
    if (!session_graph_find(session, from, &graph, error))
        return false;
    const enum session_place place = graph.place;
    session_graph_clear(&graph);
    return session_graph_rename(session, place, from, to + 1, error);
}

bool stored_graphs_run(struct session *session, enum stored_graphs_task task, const char *name,
                       FILE *out, char note[1024], struct session_error *error)
{
    note[0] = '\0';
    switch (task) {
    case STORED_GRAPHS_LIST:
        return list(session, out, note, error);
    case STORED_GRAPHS_EXPORT:
        return export(session, name, out, error);
    case STORED_GRAPHS_IMPORT:
        return import(session, name, note, error);
    case STORED_GRAPHS_DELETE:
        return delete_one(session, name, error);
    case STORED_GRAPHS_RENAME:
        return rename_one(session, name, error);
    case STORED_GRAPHS_RUN:
    case STORED_GRAPHS_RUN_ALL:
        return graphs_run_text(session, name, task == STORED_GRAPHS_RUN_ALL, out, note, error);
    case STORED_SETTINGS_LIST:
        return settings_list(session, out, error);
    case STORED_SETTINGS_ADD:
        return settings_add(session, name, note, error);
    case STORED_SETTINGS_DELETE:
        return settings_delete(session, name, error);
    case STORED_GRAPHS_NONE:
        break;
    }
    return true;
}
