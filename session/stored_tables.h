/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a session as ingest stored them (docs/session-schema.md), row by row, for callers
 * that hand them to another database. Tables of packed bytes, which only readers of sessions
 * understand, are left out; two tables have what follows from those (docs/session-schema.md,
 * "Derived tables"). The rules of session.h hold. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

enum stored_type { STORED_INTEGER, STORED_REAL, STORED_TEXT };

struct stored_column {
    const char *name;
    enum stored_type type; /* of a column of mixed values: TEXT */
    bool required;         /* it has a value in every row */
    bool key;              /* part of the primary key */
};

/* A value as text: of a number its digits. NULL for an SQL NULL. */
typedef bool stored_row_visitor(void *context, const char *const *values);
typedef bool stored_rows(struct session *session, stored_row_visitor *visit, void *context,
                         struct session_error *error);

struct stored_table {
    const char *name;
    struct stored_column *columns;
    size_t count;
    stored_rows *derived; /* NULL: the session has the rows */
};

/* Stores the tables, by name, then the derived ones. The caller frees them by
 * session_stored_tables_free() before it closes the session. Returns false with `error` set. */
bool session_stored_tables(struct session *session, struct stored_table **tables, size_t *count,
                           struct session_error *error);
void session_stored_tables_free(struct stored_table *tables, size_t count);

/* Calls `visit` for each row of a table, in the order of its key if it has one. The values are
 * valid until it returns. If it returns false, the reading ends and returns false; `error` is then
 * the visitor's. Also returns false with `error` set: no such table, damaged, cancelled. */
bool session_stored_rows(struct session *session, const struct stored_table *table,
                         stored_row_visitor *visit, void *context, struct session_error *error);
