/* SPDX-License-Identifier: BSD-2-Clause */
/* The data that all virtual tables of one connection share: the session that is open as `main`. */
#ifndef MPROF_SESSION_SQLITE_CONNECTION_H
#define MPROF_SESSION_SQLITE_CONNECTION_H

#include <sqlite3ext.h>

#include "session/sqlite/opened.h"

struct connection {
    sqlite3 *database;
    struct session *session; /* that the program has opened; NULL: `opened` */
    struct opened *opened;
    unsigned users; /* modules of SQLite, and the caller who makes them */
};

/* Makes a connection with one user. NULL: no memory. */
struct connection *connection_new(sqlite3 *database, struct session *session);
/* Takes a user away. The last one frees it. */
void connection_drop(void *connection);
/* Adds a module with the connection as its context and user. Returns SQLite's code. */
int connection_add(struct connection *connection, const char *name, const sqlite3_module *module);

/*
 * Returns the session in its present state, NULL with `error` set. `*opened` gets a user that the
 * caller drops; NULL if the program has opened the session. The session's questions end when the
 * statement is interrupted; the program's own session has other cancels.
 */
struct session *connection_session(struct connection *connection, struct opened **opened,
                                   struct session_error *error);
/* Returns SQLite's code for a question that failed: SQLITE_INTERRUPT, or SQLITE_ERROR. */
int connection_failed(const struct connection *connection);

#endif
