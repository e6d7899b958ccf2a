/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of `allocation` and `column_chunk` from batches, through SQLite.
 *
 * Order of calls: writer_rows_open() on a database with the schema, writer_rows_put() for each
 * batch in order of ids, writer_rows_close() before the database is closed.
 *
 * `allocation` is filled by INSERT … SELECT from a virtual table that shows the batch. This is
 * twice as fast as a bound statement for each row. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "ingest/write/database.h"
#include "ingest/write/packed.h"
#include "ingest/write/writer.h"

struct writer_rows {
    sqlite3 *database;
    sqlite3_stmt *insert_rows, *insert_chunk;
    const struct row_batch *batch;
    uint8_t *packed; /* one column of one chunk */
    struct writer_directory directory;
};

/* Prepares the statements. Returns SQLite's code, as the next two functions do. */
int writer_rows_open(struct writer_rows *rows, sqlite3 *database);
int writer_rows_put(struct writer_rows *rows, const struct row_batch *batch);
/* Writes only the column chunks, without the rows. */
int writer_rows_put_columns(struct writer_rows *rows, const struct row_batch *batch);
void writer_rows_close(struct writer_rows *rows);

/* The session that is replaced; all zero at first. */
struct writer_user_rows {
    sqlite3 *replaced;
};

/* Copies the rows of the session `target`, if there is one, into `database`, in which a transaction
 * may be open. Until writer_user_rows_release() nobody can change the old session, so that nothing
 * is stored there too late. Calls `options->tell` with the reason if rows are lost. False with the
 * status set if the new session cannot be written. */
bool writer_user_rows_copy(struct writer_user_rows *rows, struct writer_database *database,
                           const char *target, const struct writer_options *options);
void writer_user_rows_release(struct writer_user_rows *rows);
