/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/run/client.h"
#include "capture/run/sibling_program.h"
#include "capture/run/sibling_traces.h"
#include "capture/run/unrecorded_program.h"
#include "cli/say.h"
#include "schemas/trace_layout.h"
#include "schemas/trace_unrecorded.h"

static void count_one(void *context, const char *trace)
{
    (void)trace;
    ++*(size_t *)context;
}

/* Returns true if the trace is of a program that never reached the point where recording begins. */
static bool never_began(const char *trace)
{
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    bool never = client.header->paused == TRACE_PAUSED_FROM_START;
    client_close(&client);
    return never;
}

void run_report_never_began(const char *trace, time_t since)
{
    size_t more = 0;
    sibling_traces_each(trace, since, count_one, &more);
    if (more == 0 && never_began(trace))
        say("mprof-run",
            "nothing was recorded: the condition of --start-on or --start-after was never met; "
            "without it recording begins at once");
}

/* The most lines. A build may start thousands of programs. */
#define LINES_MAX 8u

struct program {
    char path[PATH_MAX];
    uint32_t reason;
    size_t count;
};

struct programs {
    struct program *list;
    size_t count, capacity;
    size_t unnamed;
};

static void note(void *context, const char *trace)
{
    struct programs *programs = context;
    char path[PATH_MAX] = "";
    uint32_t unnamed;
    const uint32_t reason = unrecorded_program_read(trace, path, sizeof(path), &unnamed);
    programs->unnamed += unnamed;
    if (reason == TRACE_UNRECORDED_NOT)
        return;
    for (size_t i = 0; i < programs->count; i++)
        if (programs->list[i].reason == reason && strcmp(programs->list[i].path, path) == 0) {
            programs->list[i].count++;
            return;
        }
    if (programs->count == programs->capacity) {
        const size_t capacity = programs->capacity ? 2 * programs->capacity : 16;
        struct program *list = reallocarray(programs->list, capacity, sizeof(*list));
        if (!list) {
            programs->unnamed++;
            return;
        }
        programs->list = list;
        programs->capacity = capacity;
    }
    struct program *program = &programs->list[programs->count++];
    *program = (struct program){.reason = reason, .count = 1};
    memcpy(program->path, path, sizeof(path));
}

/* Says in one line for each program why it is not recorded. Returns false if there is none. */
static bool say_unrecorded(const char *trace, time_t since)
{
    struct programs programs = {0};
    struct stat about;
    if (lstat(trace, &about) == 0 && about.st_mtime >= since)
        note(&programs, trace);
    sibling_traces_each(trace, since, note, &programs);
    for (size_t i = 0; i < programs.count && i < LINES_MAX; i++) {
        const struct program *program = &programs.list[i];
        char times[32] = "";
        if (program->count > 1)
            snprintf(times, sizeof(times), " (%zu times)", program->count);
        say("mprof-run", "not recorded: %s: %s%s", program->path,
            trace_unrecorded_text(program->reason), times);
    }
    size_t more = programs.unnamed;
    for (size_t i = LINES_MAX; i < programs.count; i++)
        more += programs.list[i].count;
    if (more > 0)
        say("mprof-run", "not recorded: %zu %sexecuted program%s", more,
            programs.count > 0 ? "other " : "", more == 1 ? "" : "s");
    free(programs.list);
    return programs.count + programs.unnamed > 0;
}

void run_report(const char *trace, time_t since, bool next)
{
    struct sibling_traces_sum sum;
    char programs[64] = "";
    sibling_traces_sum(trace, since, &sum);
    if (sum.error)
        say("mprof-run", "%s" TRACE_FOLDER ": cannot be read: %s; its traces are not counted here",
            trace, strerror(sum.error));
    if (sum.traces == 0 && say_unrecorded(trace, since))
        say("mprof-run", "nothing was recorded");
    else if (sum.traces == 0)
        say("mprof-run",
            "%s: no trace was written; the recorder says why above. If it does not, a wrapper "
            "such as sudo kept it out: put mprof-run after that",
            trace);
    else if (sum.traces == 1 && !unrecorded_program_is(trace))
        say("mprof-run", "recorded %s%s", trace,
            next ? "; mprof-ingest makes a session of it" : "");
    else {
        if (sum.traces > sum.processes)
            snprintf(programs, sizeof(programs), " that ran %zu programs", sum.traces);
        say("mprof-run", "recorded %s%s" TRACE_FOLDER ": %zu process%s%s, %.1f MiB%s", trace,
            unrecorded_program_is(trace) ? "" : " and ", sum.processes,
            sum.processes == 1 ? "" : "es", programs, (double)sum.bytes / (1 << 20),
            next ? "; mprof-ingest reads them together" : "");
    }
    if (sum.traces > 0)
        say_unrecorded(trace, since);
}

/* Compresses one trace in its place. If that fails, the trace stays and mprof-ingest says why. */
static void compress_one(void *context, const char *trace)
{
    char ingest_name[] = "mprof-ingest", option[] = "--compress", quiet[] = "--quiet", end[] = "--";
    char *path = strdup(trace);
    char *ingest[] = {ingest_name, option, quiet, end, path, NULL};
    (void)context;
    if (!path)
        say("mprof-run", "%s: there is no memory to compress it; mprof-ingest --compress does so",
            trace);
    else if (access(path, F_OK) == 0)
        sibling_program_run(ingest_name, ingest);
    free(path);
}

void run_compress(const char *trace, time_t since)
{
    compress_one(NULL, trace);
    sibling_traces_each(trace, since, compress_one, NULL);
}
