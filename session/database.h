/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's file: the only part of the session library that knows SQLite.
 *
 * Order of calls: database_open(), then database_each() and database_blob() in any order,
 * database_close(). Read only.
 */
#ifndef MPROF_SESSION_DATABASE_H
#define MPROF_SESSION_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct database;
struct database_row;

/* Opens and checks application_id and user_version. NULL with `error` set. */
struct database *database_open(const char *path, struct session_error *error);
void database_close(struct database *database);

/*
 * Whether the file has changed since it was opened, or another has taken its name. A database with
 * a write-ahead log is read as it stood at the opening; this call lets go of that, and what is read
 * after it may not fit to what was read before: where it is true, open the file again.
 */
bool database_changed(struct database *database);
const char *database_path(const struct database *database);

/* Called for each row of a query; false (with `error` set) stops. */
typedef bool database_handler(void *context, const struct database_row *row,
                              struct session_error *error);
bool database_each(struct database *database, const char *sql, database_handler *handler,
                   void *context, struct session_error *error);

/* Column `column` (from 0) of a row. Text lives until the handler returns; NULL is NULL. */
int64_t database_number(const struct database_row *row, int column);
const char *database_text(const struct database_row *row, int column);
bool database_is_null(const struct database_row *row, int column);

/* Reads all `length` bytes of column_chunk.data of row `id`; another length is damage. */
bool database_chunk(struct database *database, int64_t id, void *data, size_t length,
                    struct session_error *error);

#endif
