/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/database.h"

/* SQLite calls stop_if_interrupted() each time after so many steps of its virtual machine. */
enum { STEPS_PER_LOOK = 100000 };

bool writer_database_interrupted(const void *context)
{
    const struct writer_database *database = context;
    return ingest_is_interrupted(database->interrupted);
}

static int stop_if_interrupted(void *context)
{
    return writer_database_interrupted(context);
}

bool writer_database_fail(struct writer_database *database, const char *reason)
{
    if (writer_database_interrupted(database))
        return ingest_fail(database->status, INGEST_INTERRUPTED, "interrupted");
    if (!reason)
        reason = database->sqlite ? sqlite3_errmsg(database->sqlite) : "out of memory";
    return ingest_fail(database->status, INGEST_BAD_INPUT, "%s: cannot be written: %s%s",
                       database->name, reason, database->advice ? database->advice : "");
}

bool writer_database_check(struct writer_database *database, int result)
{
    return result == SQLITE_OK || writer_database_fail(database, NULL);
}

bool writer_database_open(struct writer_database *database, const char *path, int flags)
{
    if (!writer_database_check(
            database, sqlite3_open_v2(path, &database->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL)))
        return false;
    if (database->interrupted)
        sqlite3_progress_handler(database->sqlite, STEPS_PER_LOOK, stop_if_interrupted, database);
    return true;
}

void writer_database_close(struct writer_database *database)
{
    sqlite3_close(database->sqlite);
    database->sqlite = NULL;
}

bool writer_database_run(struct writer_database *database, const char *sql)
{
    return writer_database_check(database, sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL));
}

bool writer_database_run_with(struct writer_database *database, const char *sql, const char *text,
                              int64_t number)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = text ? sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC)
                      : sqlite3_bind_int64(statement, 1, number);
    if (result == SQLITE_OK)
        sqlite3_step(statement);
    int finalized = sqlite3_finalize(statement);
    return writer_database_check(database, result == SQLITE_OK ? finalized : result);
}

bool writer_database_number(struct writer_database *database, const char *sql, int64_t *number)
{
    sqlite3_stmt *query = NULL;
    *number = 0;
    int result = sqlite3_prepare_v2(database->sqlite, sql, -1, &query, NULL);
    if (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
        *number = sqlite3_column_int64(query, 0);
    int finalized = sqlite3_finalize(query);
    return writer_database_check(database, result == SQLITE_OK ? finalized : result);
}

uint32_t writer_database_root(struct writer_database *database, const char *name)
{
    sqlite3_stmt *query = NULL;
    uint32_t page = 0;
    if (sqlite3_prepare_v2(database->sqlite, "SELECT rootpage FROM sqlite_schema WHERE name = ?",
                           -1, &query, NULL) == SQLITE_OK &&
        sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        page = (uint32_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return page;
}
