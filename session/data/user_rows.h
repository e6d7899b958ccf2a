/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and changes the tables of a session that belong to its user: `named_graph` and `setting`.
 * Each call opens its own connection and closes it, so any thread may call. Triggers and views of
 * the file are off, and the work for one call is bounded: the file may come from anywhere.
 */
#ifndef MPROF_SESSION_DATA_USER_ROWS_H
#define MPROF_SESSION_DATA_USER_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

enum user_table { USER_GRAPH, USER_SETTING };

/* Handles one row: a graph's name and text, or a setting's key and value. Returning false stops. */
typedef bool user_row_handler(void *context, const char *key, const char *value);

/*
 * Reads the rows of one table by key, at most `rows` of them. Skips rows that are not text or are
 * longer than `length` bytes. A session without the table has no rows. Returns false with `error`
 * set if the file cannot be read.
 */
bool user_rows_read(const char *path, enum user_table table, size_t rows, size_t length,
                    user_row_handler *handler, void *context, struct session_error *error);

enum user_change_kind { USER_PUT, USER_RENAME, USER_DELETE };
struct user_change {
    enum user_change_kind kind;
    enum user_table table;
    bool replace;            /* PUT of a graph: the one that is there */
    const char *key, *value; /* RENAME: `value` is the new key */
};
enum user_change_result {
    USER_CHANGED,
    USER_EXISTS,  /* PUT, RENAME: such a row is there */
    USER_ABSENT,  /* RENAME, DELETE: no such row is there */
    USER_REFUSED, /* the session cannot be written; `error` says why */
};
enum user_change_result user_rows_change(const char *path, const struct user_change *change,
                                         struct session_error *error);

#endif
