/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --open --live: runs mprof-ingest and mprof-tui beside the program.
 *
 * Order of calls: run_viewer_begin() before the program is started, run_viewer_end() after its end.
 */
#ifndef MPROF_CAPTURE_RUN_VIEWER_H
#define MPROF_CAPTURE_RUN_VIEWER_H

#include <stdbool.h>
#include <sys/types.h>

struct run_viewer {
    const char *trace;   /* the trace to be written; its name is settled before */
    const char *session; /* the session to be made from it */
    const char *log;     /* takes the program's output; NULL: the program has the terminal */
    bool force;          /* replace the session */
    bool suppressions;   /* use those that the program carries */
    bool browse;         /* open the browser too */
    pid_t ingest, browser;
};

/* Starts both and fills the last two fields. Returns false, with errno set, if a process or a pipe
 * cannot be made. */
bool run_viewer_begin(struct run_viewer *viewer);

/* Waits for both. Returns the status of mprof-ingest or, if that is 0, of mprof-tui. */
int run_viewer_end(struct run_viewer *viewer);

#endif
