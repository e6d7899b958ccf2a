/* SPDX-License-Identifier: BSD-2-Clause */
/* Unfinished files beside a target: another run is making them, or a killed run has left them
 * (output_file.h). */
#ifndef MPROF_INGEST_STALE_OUTPUTS_H
#define MPROF_INGEST_STALE_OUTPUTS_H

#include <stdbool.h>

#include "ingest/base/status.h"

/*
 * Removes the files of `target` that are certainly useless: their process has ended, the file is
 * this user's and a database, a trace or the beginning of one, and no process holds a lock on it.
 * False with `status` set if a running process holds the lock of one: it is writing the same
 * target.
 */
bool stale_outputs_remove(const char *target, struct ingest_status *status);

#endif
