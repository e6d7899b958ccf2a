/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a graph of the command line and prints its result. Its steps `write` make files. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "session/groups.h"
#include "session/jobs.h"
#include "tui/browser/stored_graphs.h"

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

/* The text while the engine runs it. */
struct running {
    const char *text;
    struct graph_options options;
    struct graph_result *result;
};

static bool run_text(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct running *running = data;
    (void)selection;
    running->result = graph_run_with(session, running->text, &running->options, error);
    return running->result != NULL;
}

static void keep(void *data)
{
    (void)data; /* it lies on the stack of the thread that asks */
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
    while (job && session_job_wait(job, LOOK_MS) <= SESSION_JOB_RUNNING) {
        if ((ended_by = sigtimedwait(&ends, NULL, &at_once)) > 0)
            session_job_cancel(job);
        else if (shows)
            show_progress(job);
    }
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

bool stored_graphs_run_text(struct session *session, const char *text, bool stored_write, FILE *out,
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
