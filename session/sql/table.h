/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows that a statement gave. */
#ifndef MPROF_SESSION_SQL_TABLE_H
#define MPROF_SESSION_SQL_TABLE_H

#include <sqlite3.h>

#include "session/sql.h"

/* Makes a table with the titles of a statement. Returns NULL if memory is exhausted. */
struct session_table *table_new(sqlite3_stmt *statement);
/*
 * Adds the statement's present row, unless the table has `rows_most` rows or is too large: then it
 * notes this and stores true in `*full`. Returns false if memory is exhausted.
 */
bool table_add(struct session_table *table, sqlite3_stmt *statement, size_t rows_most, bool *full);

#endif
