/* SPDX-License-Identifier: BSD-2-Clause */
/* --open: makes a session of the trace and shows it, after the run or (--live) beside it. */
#ifndef MPROF_CAPTURE_RUN_SESSION_H
#define MPROF_CAPTURE_RUN_SESSION_H

#include <limits.h>

#include "capture/run/arguments.h"
#include "capture/run/child.h"
#include "capture/run/viewer.h"

/*
 * Makes the session, except with --live, which has made it. Then starts the browser at a terminal,
 * and otherwise prints the session's name. Returns the exit status.
 */
int run_session_open(const struct run_arguments *arguments, char *trace);

/* The names that --live needs before the program starts. */
struct run_viewer_names {
    char trace[PATH_MAX], session[PATH_MAX + 8], log[PATH_MAX + 8];
};

/*
 * Starts --live, which run_viewer_end() ends, and sets the child's trace and log. `names` must live
 * as long as `child` and `viewer`. Returns 0, or the exit status after a message.
 */
int run_session_begin_viewer(const struct run_arguments *arguments, struct run_child *child,
                             struct run_viewer_names *names, struct run_viewer *viewer);

#endif
