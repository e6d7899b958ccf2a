/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/run/client.h"
#include "capture/run/sibling_program.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"
#include "schemas/trace_layout.h"

static void count_one(void *context, const char *trace)
{
    (void)trace;
    ++*(size_t *)context;
}

/* Tells whether the trace is of a program that never reached the point where recording begins. */
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

void run_report(const char *trace, time_t since, bool next)
{
    struct sibling_traces_sum sum;
    char programs[64] = "";
    sibling_traces_sum(trace, since, &sum);
    if (sum.traces == 0)
        say("mprof-run",
            "%s: no trace was written; the recorder says why above. If it does not, a wrapper "
            "such as sudo kept it out: put mprof-run after that",
            trace);
    else if (sum.traces == 1)
        say("mprof-run", "recorded %s%s", trace,
            next ? "; mprof-ingest makes a session of it" : "");
    else {
        if (sum.traces > sum.processes)
            snprintf(programs, sizeof(programs), " that ran %zu programs", sum.traces);
        say("mprof-run", "recorded %s and " TRACE_FOLDER ": %zu process%s%s, %.1f MiB%s", trace,
            sum.processes, sum.processes == 1 ? "" : "es", programs, (double)sum.bytes / (1 << 20),
            next ? "; mprof-ingest reads them together" : "");
    }
}

/* Compresses one trace in its place. If that fails, the trace stays and mprof-ingest says why. */
static void compress_one(void *context, const char *trace)
{
    char ingest_name[] = "mprof-ingest", option[] = "--compress", quiet[] = "--quiet", end[] = "--";
    char *path = strdup(trace);
    char *ingest[] = {ingest_name, option, quiet, end, path, NULL};
    (void)context;
    if (path && access(path, F_OK) == 0)
        sibling_program_run(ingest_name, ingest);
    free(path);
}

void run_compress(const char *trace, time_t since)
{
    compress_one(NULL, trace);
    sibling_traces_each(trace, since, compress_one, NULL);
}
