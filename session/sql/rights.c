/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sql/rights.h"

#include <stdio.h>
#include <string.h>

#include "session/scan/scan.h"

enum {
    STEP = 2000,            /* instructions of SQLite between two looks for a cancel */
    LONGEST_VALUE = 1 << 26 /* bytes */
};

static int look(void *context)
{
    const struct rights *rights = context;
    return scan_cancelled(rights->session);
}

/* Pragmas that only read. These take the name of a table or index, */
static const char *const about[] = {"table_info", "table_xinfo", "table_list",      "index_list",
                                    "index_info", "index_xinfo", "foreign_key_list"};
/* and these nothing. */
static const char *const plain[] = {"user_version",    "application_id", "page_count",
                                    "page_size",       "encoding",       "data_version",
                                    "compile_options", "function_list",  "collation_list",
                                    "pragma_list",     "database_list",  "module_list"};

/* Returns true if a pragma only reads. */
static bool is_reading(const char *pragma, const char *argument)
{
    for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
        if (sqlite3_stricmp(pragma, about[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (sqlite3_stricmp(pragma, plain[i]) == 0)
            return !argument;
    return false;
}

static int refuse(struct rights *rights, const char *what, const char *name)
{
    snprintf(rights->refused, sizeof(rights->refused), "%s%s%.100s", what, name ? " " : "",
             name ? name : "");
    return SQLITE_DENY;
}

/* SQLite asks for the rights of CREATE TABLE, too, when it connects to a virtual table. */
static int refuse_change(struct rights *rights)
{
    return refuse(rights, "a change of the database, or a virtual table of the file,", NULL);
}

/* Asked for everything that a statement would do, before it does it. */
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *schema, const char *view)
{
    struct rights *rights = context;
    (void)schema, (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        if (first && guard_is_virtual(&rights->guard, first))
            return refuse(rights, "reading the virtual table", first);
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (second && sqlite3_stricmp(second, "load_extension") == 0)
            return refuse(rights, "the function", second);
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        return is_reading(first, second) ? SQLITE_OK : refuse(rights, "PRAGMA", first);
    case SQLITE_ATTACH:
        return refuse(rights, "ATTACH", first);
    case SQLITE_DETACH:
        return refuse(rights, "DETACH", first);
    case SQLITE_INSERT:
        if (first && strncmp(first, "sqlite_", 7) == 0)
            return refuse_change(rights);
        return refuse(rights, "writing to", first);
    case SQLITE_UPDATE:
        return refuse(rights, "changing", first);
    case SQLITE_DELETE:
        return refuse(rights, "deleting from", first);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return refuse(rights, "a transaction", NULL);
    default:
        return refuse_change(rights);
    }
}

static void connect_table(sqlite3 *database, const char *prefix, const char *name)
{
    char text[80];
    sqlite3_stmt *statement = NULL;
    snprintf(text, sizeof(text), "SELECT 1 FROM %s%s", prefix, name);
    /* It may fail, because a table wants an argument. The connection exists even then. */
    sqlite3_prepare_v2(database, text, -1, &statement, NULL);
    sqlite3_finalize(statement);
}

/* Connects to the virtual tables of this program and of SQLite before the rights are in force:
 * later connections are refused. */
static void connect_own(sqlite3 *database)
{
    connect_table(database, "", "graph");
    connect_table(database, "", "graph_warning");
    connect_table(database, "", "json_each");
    connect_table(database, "", "json_tree");
    for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
        connect_table(database, "pragma_", about[i]);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        connect_table(database, "pragma_", plain[i]);
}

int rights_open(struct rights *rights, sqlite3 *database, struct session *session,
                uint64_t file_size)
{
    rights->session = session;
    const int result = guard_open(&rights->guard, database, file_size);
    if (result != SQLITE_OK)
        return result;
    connect_own(database);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(database, STEP, look, rights);
    return sqlite3_set_authorizer(database, authorize, rights);
}
