/* SPDX-License-Identifier: BSD-2-Clause */
/* The table-valued functions graph(TEXT) and graph_warning(TEXT) as virtual tables of SQLite: they
 * run a filter graph on the session that is open as `main`. docs/session-schema.md describes
 * them. */
#pragma once

struct session;
struct sqlite3; /* a connection */

/* Adds both functions to a connection. They ask `session`, which the program has opened and which
 * outlives the connection; NULL: they open the file of `main` themselves. Returns SQLite's code. */
int graph_table_register(struct sqlite3 *database, struct session *session);
