/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that another run makes, or a killed run has left, beside a target (output_file.h). */
#ifndef MPROF_INGEST_LEFTOVERS_H
#define MPROF_INGEST_LEFTOVERS_H

#include <stdbool.h>

#include "ingest/status.h"

/*
 * Removes those of `target` that are certainly of no use: their process has ended, the file is this
 * user's and a database, a trace or the beginning of one, and nobody holds a lock on it. False with
 * `status` set where a process that runs holds the lock of one: it writes the same target.
 */
bool leftovers_remove(const char *target, struct ingest_status *status);

#endif
