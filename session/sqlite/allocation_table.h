/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * v_allocation as a virtual table in the schema `temp`, where SQLite finds it before the view of
 * the session: the same columns and rows, read from the column chunks. It tests conditions before
 * SQLite sees a row, and gives rows in groups, so that GROUP BY, DISTINCT and ORDER BY of what rows
 * share (stack, type, thread, kind, and their names) need no sort.
 */
#ifndef MPROF_SESSION_SQLITE_ALLOCATION_TABLE_H
#define MPROF_SESSION_SQLITE_ALLOCATION_TABLE_H

struct connection;

/* Adds the module, and the table if `main` has the view. Returns SQLite's code. */
int allocation_table_add(struct connection *connection);

#endif
