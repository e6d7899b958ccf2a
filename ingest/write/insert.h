/* SPDX-License-Identifier: BSD-2-Clause */
/* The INSERT statements of all tables except `allocation` and `column_chunk`. */
#ifndef MPROF_INGEST_WRITE_INSERT_H
#define MPROF_INGEST_WRITE_INSERT_H

#include <sqlite3.h>

#include "ingest/write/table_sink.h"

/* Prepares the statement of a table. Returns SQLite's code. */
int writer_insert_prepare(sqlite3 *database, enum writer_table table, sqlite3_stmt **insert);

/* Estimates from the weights of all rows of a sampled session what they represent, by stack and in
 * total. */
extern const char writer_estimate_sql[];

/* Makes the indexes of `allocation` by time, address and size. */
extern const char writer_all_indexes_sql[];

/* Inserts one row, or as many as the statement takes. Returns SQLite's code. */
int writer_insert_row(sqlite3_stmt *insert, const struct writer_value *values, size_t count);

#endif
