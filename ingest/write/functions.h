/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the table function_total, from the sums of the stacks and their frames.
 */
#ifndef MPROF_INGEST_WRITE_FUNCTIONS_H
#define MPROF_INGEST_WRITE_FUNCTIONS_H

#include <sqlite3.h>

#include "ingest/replay/stacks.h"
#include "ingest/replay/totals.h"

/*
 * Fills the empty table. It uses the function and the usage of `stacks`, by id, and the peaks of
 * functions in `totals`. Returns SQLite's code: SQLITE_CORRUPT if ids of functions or frames have
 * gaps.
 */
int writer_functions_put(sqlite3 *database, const struct stacks *stacks,
                         const struct totals *totals);

#endif
