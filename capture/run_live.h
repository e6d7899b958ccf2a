/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --open --live: mprof-ingest and mprof-tui beside the program, while it runs.
 *
 * Order of calls: run_live_begin() before the program is started, run_live_end() after its end.
 */
#ifndef MPROF_CAPTURE_RUN_LIVE_H
#define MPROF_CAPTURE_RUN_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

struct run_live {
    const char *trace;   /* that will be written, its name is settled before */
    const char *session; /* that will be made from it */
    const char *log;     /* where the program's output goes; NULL: it has the terminal */
    bool force;          /* replace the session */
    bool browse;         /* open the browser too */
    pid_t ingest, browser;
};

/* Fills the last two. False, with errno set, where a process or a pipe cannot be made. */
bool run_live_begin(struct run_live *live);

/* Waits for both; the status of mprof-ingest, or of mprof-tui if it failed. */
int run_live_end(struct run_live *live);

#endif
