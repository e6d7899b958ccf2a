/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the rows of a process that forked, once: finds the blocks that its children freed, and
 * counts how many were live when it forked each child. Part of ingest/write/inherit.c, whose
 * temporary tables it reads (wanted) and fills (found, own_live).
 */
#ifndef MPROF_INGEST_WRITE_INHERIT_ROWS_H
#define MPROF_INGEST_WRITE_INHERIT_ROWS_H

#include <stdint.h>

#include <sqlite3.h>

/* Reads the rows of `process`. Returns SQLite's code. */
int writer_inherit_rows(sqlite3 *database, int64_t process);

#endif
