/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry point of mprof_sqlite.so. SQLite derives its name from that of the file. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "session/sqlite/graph_table.h"

__attribute__((visibility("default"))) int
sqlite3_mprofsqlite_init(sqlite3 *database, char **message, const sqlite3_api_routines *api);

int sqlite3_mprofsqlite_init(sqlite3 *database, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api)
    (void)message;
    const int status = graph_table_register(database);
    /* The session library has threads of its own: its code must stay loaded. */
    return status == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : status;
}
