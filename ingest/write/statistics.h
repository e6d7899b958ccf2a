/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the statistics of a session for SQLite's planner, the table sqlite_stat1, instead of
 * ANALYZE.
 */
#ifndef MPROF_INGEST_WRITE_STATISTICS_H
#define MPROF_INGEST_WRITE_STATISTICS_H

#include <sqlite3.h>

/* Writes them, after all rows and indexes. Returns SQLite's code. */
int writer_statistics_put(sqlite3 *database);

#endif
