/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table function_total, from the sums of stacks and the frames that each has.
 */
#ifndef MPROF_INGEST_WRITER_FUNCTIONS_H
#define MPROF_INGEST_WRITER_FUNCTIONS_H

#include <sqlite3.h>

#include "ingest/stacks.h"
#include "ingest/totals.h"

/*
 * Of `stacks`, by id, function and usage are looked at, and the peaks of functions in `totals`.
 * The table is empty before. Returns what SQLite says; SQLITE_CORRUPT where ids of functions or
 * frames have gaps.
 */
int writer_functions_put(sqlite3 *database, const struct stacks *stacks,
                         const struct totals *totals);

#endif
