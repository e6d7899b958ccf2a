/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the table function_total, from the sums of the stacks and their frames.
 */
#ifndef MPROF_INGEST_WRITE_FUNCTIONS_H
#define MPROF_INGEST_WRITE_FUNCTIONS_H

#include <sqlite3.h>

#include "ingest/replay/totals.h"

/*
 * Fills the empty table from the sums of stacks and functions in `totals`. `call_sites` has the
 * function id of each of the `stack_count` stacks' call sites, 0: none. Returns SQLite's code:
 * SQLITE_CORRUPT if ids of functions or frames have gaps.
 */
int writer_functions_put(sqlite3 *database, const uint32_t *call_sites, size_t stack_count,
                         const struct totals *totals);

#endif
