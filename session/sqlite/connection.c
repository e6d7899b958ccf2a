/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/connection.h"

#include <stdlib.h>

#include "session/scan/scan.h"

SQLITE_EXTENSION_INIT3

struct connection *connection_new(sqlite3 *database, struct session *session)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    if (connection)
        *connection = (struct connection){.database = database, .session = session, .users = 1};
    return connection;
}

void connection_drop(void *context)
{
    struct connection *connection = context;
    if (--connection->users > 0)
        return;
    opened_drop(connection->opened);
    free(connection);
}

int connection_add(struct connection *connection, const char *name, const sqlite3_module *module)
{
    connection->users++;
    /* A call that fails drops the user. */
    return sqlite3_create_module_v2(connection->database, name, module, connection,
                                    connection_drop);
}

/* Returns true if sqlite3_interrupt() has been called since the statement began that runs now:
 * SQLite refuses each new one then. sqlite3_is_interrupted() came with 3.41. */
static bool is_interrupted(void *database)
{
    return sqlite3_exec(database, "SELECT 1", NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

int connection_failed(const struct connection *connection)
{
    const struct opened *opened = connection->opened;
    if (!opened || !scan_cancelled(opened->session))
        return SQLITE_ERROR;
    scan_cancel(opened->session, false);
    return SQLITE_INTERRUPT;
}

struct session *connection_session(struct connection *connection, struct opened **opened,
                                   struct session_error *error)
{
    *opened = NULL;
    if (connection->session)
        return connection->session;
    *opened =
        opened_take(&connection->opened, sqlite3_db_filename(connection->database, "main"), error);
    if (!*opened)
        return NULL;
    scan_cancel((*opened)->session, false);
    scan_ask((*opened)->session, is_interrupted, connection->database);
    return (*opened)->session;
}
