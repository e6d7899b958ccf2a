/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What SQLite's planner is told of a session, in place of ANALYZE: sqlite_stat1.
 */
#ifndef MPROF_INGEST_WRITER_STATISTICS_H
#define MPROF_INGEST_WRITER_STATISTICS_H

#include <sqlite3.h>

/* After all rows and indexes. An SQLite result code. */
int writer_statistics_put(sqlite3 *database);

#endif
