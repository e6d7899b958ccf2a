/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One look at the rows of a process that forked: which of its blocks are those that its children
 * freed, and how many it had when it forked each of them. Part of ingest/writer_inherit.c, whose
 * temporary tables it reads (wanted) and fills (found, own_live).
 */
#ifndef MPROF_INGEST_WRITER_INHERIT_ROWS_H
#define MPROF_INGEST_WRITER_INHERIT_ROWS_H

#include <stdint.h>

#include <sqlite3.h>

/* SQLite's result code. */
int writer_inherit_rows(sqlite3 *database, int64_t process);

#endif
