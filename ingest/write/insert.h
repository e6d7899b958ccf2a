/* SPDX-License-Identifier: BSD-2-Clause */
/* The INSERT statements of all tables except `allocation` and `column_chunk`. */
#ifndef MPROF_INGEST_WRITE_INSERT_H
#define MPROF_INGEST_WRITE_INSERT_H

#include <sqlite3.h>

#include "ingest/write/table_sink.h"

/* Prepares the statement of a table. Returns SQLite's code. */
int writer_insert_prepare(sqlite3 *database, enum writer_table table, sqlite3_stmt **insert);

/* Inserts one row, or as many as the statement takes. Returns SQLite's code. */
int writer_insert_row(sqlite3_stmt *insert, const struct writer_value *values, size_t count);

#endif
