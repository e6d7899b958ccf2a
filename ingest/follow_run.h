/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the trace of a run that is recorded after the followed one has ended. */
#ifndef MPROF_INGEST_FOLLOW_RUN_H
#define MPROF_INGEST_FOLLOW_RUN_H

#include <signal.h>

#include "ingest/base/status.h"

/*
 * Looks for a trace of the run of `first` that a process still records, after the trace `ended` is
 * complete. If its process has executed another program, this waits for that program's trace, until
 * it appears, the process ends or *interrupted (may be NULL) is set. Otherwise, and if there is no
 * such trace, the answer is the one that began first. *path gets its name, for free(), or NULL.
 * Returns false with `status` set if the traces cannot be listed.
 */
bool follow_run_next(const char *first, const char *ended, const volatile sig_atomic_t *interrupted,
                     char **path, struct ingest_status *status);

#endif
