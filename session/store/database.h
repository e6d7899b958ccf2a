/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the session's file: the only part of the session library that knows SQLite.
 *
 * Order of calls: database_open(), then database_each() and database_chunk() in any order,
 * database_close(). Read only. Except for database_chunk(), only one thread at a time may use
 * it. */
#pragma once

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct database;
struct database_row;

/* Opens a file and checks application_id and user_version. Returns NULL with `error` set. */
struct database *database_open(const char *path, struct session_error *error);
void database_close(struct database *database);

/* Returns true if the file has changed since it was opened, or another has taken its name. A
 * database with a write-ahead log is read in its state at the opening, also after this call. If it
 * returns true, open the file again: the log keeps that state, and grows, as long as it is read. In
 * the rare case that the state changes during the call, it is released as by database_release(). */
bool database_changed(struct database *database);
/* Releases the state of a database with a write-ahead log, so that the log can begin again. All
 * reads fail from then on. */
void database_release(struct database *database);
const char *database_path(const struct database *database);

/* Returns what the view `name` of schemas/session.sql selects, to be freed, without its `;`. Views
 * of a session are not read: it may come from elsewhere. NULL: memory is exhausted. */
char *database_view(const char *name);

/* Handles one row of a query. Returning false (with `error` set) stops the query. */
typedef bool database_handler(void *context, const struct database_row *row,
                              struct session_error *error);
bool database_each(struct database *database, const char *sql, database_handler *handler,
                   void *context, struct session_error *error);
/* A handler of one number: the context is an int64_t. */
bool database_take_number(void *context, const struct database_row *row,
                          struct session_error *error);

/* Ends long queries, with the error that the question was cancelled, as soon as `stop` says so. */
void database_stop_when(struct database *database, bool (*stop)(const void *context),
                        const void *context);

/* Returns true if it does. */
bool database_stopped(const struct database *database);
/* Returns true, or false with that error set if it does. */
bool database_go_on(const struct database *database, struct session_error *error);

/* Stores a number that counts or measures something. Returns false with `error` set if it is
 * negative. `what` names it in the message. */
bool database_natural(const struct database *database, const struct database_row *row, int column,
                      const char *what, uint64_t *number, struct session_error *error);

/* Return a row's column (from 0). Text lives until the handler returns; NULL is SQL's. */
int64_t database_number(const struct database_row *row, int column);
const char *database_text(const struct database_row *row, int column);
bool database_is_null(const struct database_row *row, int column);
/* Returns the bytes of a blob, which live until the handler returns. */
const void *database_bytes(const struct database_row *row, int column, size_t *length);

/* Stores whether the file has a table. Earlier sessions lack those that were added since. */
bool database_has_table(struct database *database, const char *name, bool *has,
                        struct session_error *error);

/* Reads a row of packed_array (schemas/columns.md). Stores a copy of its bytes, which the caller
 * frees, NULL if the session has no such array. Returns false with `error` set. */
bool database_packed_array(struct database *database, int id, uint8_t **data, size_t *length,
                           struct session_error *error);

/* Returns the root page of a table that may be read straight from the file (page_file.h), 0 if it
 * must be read through SQLite: there is no such table, or the file has a write-ahead log, so it may
 * still be written. */
uint32_t database_direct_root(struct database *database, const char *table);

/* Reads all `length` bytes of `data` in row `id` of a table of column chunks. Another length is
 * damage. Any thread may call it. */
bool database_chunk(struct database *database, const char *table, int64_t id, void *data,
                    size_t length, struct session_error *error);

/* ---- guard ---- */

/* Limits what a session from someone else can make SQLite do. A file brings its own schema, and
 * could replace a table by a view, by a virtual table or by one with computed columns, whose rows
 * cost any amount of work. So tables must be tables that store what they have, the views of the
 * schema have names that begin with "v_", and a statement ends with an error when it has done more
 * work than rows of the file explain. */

struct guard {
    atomic_uint_fast64_t steps; /* of the present statement, in GUARD_STEP instructions */
    uint64_t steps_max;
    char refused[64];        /* the name that is not a table; "": all are */
    char virtual_names[256]; /* each between two slashes; too many: "*" */
    char view_names[4096];   /* the same, of views */
    bool (*stop)(const void *context);
    const void *context;
};

/* Begins, for a file of so many bytes. `guard` outlives the connection. Returns SQLite's code. */
int guard_open(struct guard *guard, sqlite3 *database, uint64_t file_size);
/* Returns true if a table of the file is virtual, or has computed columns. */
bool guard_is_virtual(const struct guard *guard, const char *table);
