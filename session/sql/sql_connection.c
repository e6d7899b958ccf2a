/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sql/sql_connection.h"

#include <sys/stat.h>

#include "session/data/error.h"
#include "session/sqlite/graph_table.h"

bool sql_connection_open(struct sql_connection *connection, struct session *session, int wait_ms,
                         struct session_error *error)
{
    struct stat about;
    const char *path = session_path(session);
    *connection = (struct sql_connection){.database = NULL};
    if (sqlite3_open_v2(path, &connection->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return session_fail(error, 0, "%s: %s", path,
                            connection->database ? sqlite3_errmsg(connection->database)
                                                 : "out of memory");
    sqlite3_busy_timeout(connection->database, wait_ms);
    sqlite3_extended_result_codes(connection->database, 0);
    if (graph_table_register_on(connection->database, session) != SQLITE_OK ||
        rights_open(&connection->rights, connection->database, session,
                    stat(path, &about) == 0 ? (uint64_t)about.st_size : 0) != SQLITE_OK)
        return session_fail(error, 0, "%s: %s", path, sqlite3_errmsg(connection->database));
    return true;
}

void sql_connection_close(struct sql_connection *connection)
{
    sqlite3_close(connection->database);
    connection->database = NULL;
}
