/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the column chunks of a session that is being written, while SQLite can read the file.
 *
 * Order of calls: writer_columns_open() or writer_columns_begin(), the others, always
 * writer_columns_close(). */
#pragma once

#include <sqlite3.h>

#include "ingest/replay/row_batch.h"

struct writer_columns {
    sqlite3 *database; /* NULL: it is not ours */
    sqlite3_stmt *query;
    bool failed; /* a chunk could not be read */
};

/* Returns false if the database `path` cannot be read. */
bool writer_columns_open(struct writer_columns *columns, const char *path);
/* Reads by an open database, which stays open. Returns SQLite's code. */
int writer_columns_begin(struct writer_columns *columns, sqlite3 *database);
void writer_columns_close(struct writer_columns *columns);

/* Reads the values of one column of a chunk. `life`: the lifetimes if it is the column alloc_ns,
 * otherwise NULL. `values` has room for COLUMN_CHUNK_ROWS. Returns how many there are, 0 after the
 * last chunk or with `failed` set. */
size_t writer_columns_read(struct writer_columns *columns, uint64_t chunk, unsigned column,
                           const uint64_t *life, uint64_t *values);
/* Reads all columns of a chunk. Returns false if they cannot be read. */
bool writer_columns_read_batch(struct writer_columns *columns, uint64_t chunk,
                               struct row_batch *batch);
