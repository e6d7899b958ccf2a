/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection to the file of a session on which statements of the user run. */
#ifndef MPROF_SESSION_SQL_SQL_CONNECTION_H
#define MPROF_SESSION_SQL_SQL_CONNECTION_H

#include "session/sql/rights.h"

struct sql_connection {
    sqlite3 *database; /* NULL: not open */
    struct rights rights;
};

/* Opens a connection that only reads, with graph('…') and graph_warning('…') on the session. It
 * waits at most `wait_ms` for a program that writes to the file. Returns false with `error` set; in
 * any case the caller calls sql_connection_close(). */
bool sql_connection_open(struct sql_connection *connection, struct session *session, int wait_ms,
                         struct session_error *error);
void sql_connection_close(struct sql_connection *connection);

#endif
