/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks after the traces that a run has left: `trace` is the program's, and those of other
 * processes count if they were written since `since`.
 */
#ifndef MPROF_CAPTURE_RUN_REPORT_H
#define MPROF_CAPTURE_RUN_REPORT_H

#include <stdbool.h>
#include <time.h>

/* Says in one line which traces there are, and with `next` what to do with them. */
void run_report(const char *trace, time_t since, bool next);

/* Says so, also with --quiet, if the condition under which recording begins was never met. */
void run_report_never_began(const char *trace, time_t since);

/* Compresses each trace in its place. One that fails stays, and mprof-ingest says why. */
void run_compress(const char *trace, time_t since);

#endif
