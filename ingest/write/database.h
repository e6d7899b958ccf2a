/* SPDX-License-Identifier: BSD-2-Clause */
/* The session file as a database, for all who write it: opens it, runs SQL, and makes the message
 * of a failure, which names the session and not the file in which it is being made. */
#pragma once

#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>

#include "ingest/base/status.h"
#include "ingest/write/table_sink.h"

/* The caller fills in all from `name` on, and owns what they point to. */
struct writer_database {
    sqlite3 *sqlite;                          /* NULL: not open */
    sqlite3_stmt *insert[WRITER_TABLES];      /* NULL: not used yet */
    const char *name;                         /* of the session that the user asked for */
    const char *advice;                       /* ends the message of a failed write; may be NULL */
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    struct ingest_status *status;
};

/* Opens the file `path` with SQLite's `flags`. Statements stop when `interrupted` is set. Close it
 * also after a failure. This and the next functions return false with the status set. */
bool writer_database_open(struct writer_database *database, const char *path, int flags);
void writer_database_close(struct writer_database *database);

/* Runs statements without results. */
bool writer_database_run(struct writer_database *database, const char *sql);

/* Runs a statement with its one parameter: `text`, or `number` if `text` is NULL. */
bool writer_database_run_with(struct writer_database *database, const char *sql, const char *text,
                              int64_t number);

/* Calls `each` for all rows of a query. `each` sets the status if it returns false. */
bool writer_database_each(struct writer_database *database, const char *sql,
                          bool (*each)(void *context, sqlite3_stmt *query), void *context);

/* Reads the first number of a query's first row. It is 0 if there are no rows. */
bool writer_database_number(struct writer_database *database, const char *sql, int64_t *number);
/* Returns the root page of a table or index, 0 if there is none or it cannot be read. */
uint32_t writer_database_root(struct writer_database *database, const char *name);

/* Returns true if SQLite's code `result` is SQLITE_OK. If not, it sets the status. */
bool writer_database_check(struct writer_database *database, int result);

/* Sets the status: interrupted, or `reason` (NULL: SQLite's last error). Returns false. */
bool writer_database_fail(struct writer_database *database, const char *reason);

/* Returns true to stop. `context` is the database. */
bool writer_database_interrupted(const void *context);

/* Inserts the values' rows into a table other than `allocation` and `column_chunk`. */
bool writer_database_insert(struct writer_database *database, enum writer_table table,
                            const struct writer_value *values, size_t count);
/* Returns a receiver of such rows. */
struct table_sink writer_database_sink(struct writer_database *database);
