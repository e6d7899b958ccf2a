/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/user_rows.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "schemas/column_codec.h"
#include "schemas/user_limits.h"
#include "schemas/user_tables.h"
#include "session/data/error.h"
#include "user_graphs_sql.h"
#include "user_settings_sql.h"

enum { BUSY_MS = 3000 };

static const struct {
    const char *definition, *find, *read, *put, *replace, *rename, *remove;
} statements[] = {
    [USER_GRAPH] = {USER_TABLE_GRAPH, USER_TABLE_QUERY("named_graph"), user_graphs_sql,
                    "INSERT INTO named_graph VALUES (?1, ?2, strftime('%s','now'))",
                    "INSERT OR REPLACE INTO named_graph VALUES (?1, ?2, strftime('%s','now'))",
                    "UPDATE named_graph SET name = ?2 WHERE name = ?1",
                    "DELETE FROM named_graph WHERE name = ?1"},
    [USER_SETTING] = {USER_TABLE_SETTING, USER_TABLE_QUERY("setting"), user_settings_sql,
                      "INSERT INTO setting VALUES (?1, ?2)",
                      "INSERT OR REPLACE INTO setting VALUES (?1, ?2)", NULL,
                      "DELETE FROM setting WHERE key = ?1 AND value = ?2"},
};

static int stop(void *context)
{
    int *looks = context;
    return ++*looks > 1000;
}

struct user_rows {
    sqlite3 *handle;
    const char *path;
    int looks;
};

static bool fail(const struct user_rows *rows, const char *what, struct session_error *error)
{
    return session_fail(error, 0, "%s: cannot be %s: %s", rows->path, what,
                        rows->handle ? sqlite3_errmsg(rows->handle) : "out of memory");
}

/* Opens the file so that nothing in it runs: no trigger, view, check or function of its schema. */
static bool open_rows(struct user_rows *rows, const char *path, int flags)
{
    *rows = (struct user_rows){.path = path};
    if (sqlite3_open_v2(path, &rows->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return false;
    sqlite3 *handle = rows->handle;
    sqlite3_busy_timeout(handle, BUSY_MS);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, (int)(16 * USER_GRAPH_TEXT_MAX));
    sqlite3_progress_handler(handle, USER_STEPS_MAX / 1000, stop, &rows->looks);
    return sqlite3_exec(handle, "PRAGMA cell_size_check = ON; PRAGMA ignore_check_constraints = ON",
                        NULL, NULL, NULL) == SQLITE_OK;
}

/* Runs a statement with up to two texts and stores the first number of its first row. */
static int run(sqlite3 *handle, const char *sql, const char *first, const char *second,
               sqlite3_int64 *number)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (status == SQLITE_OK && first)
        status = sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (status == SQLITE_OK && second)
        status = sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW && number)
        *number = sqlite3_column_int64(statement, 0);
    const int finished = sqlite3_finalize(statement);
    return status == SQLITE_OK ? finished : status;
}

/* Stores whether the session has the table, with nothing in its definition that could run. Returns
 * SQLite's code. */
static int find_table(sqlite3 *handle, enum user_table table, bool *exists)
{
    sqlite3_stmt *query = NULL;
    const int status = sqlite3_prepare_v2(handle, statements[table].find, -1, &query, NULL);
    *exists = false;
    if (status == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(query, 0);
        *exists = sql && user_table_is(sql, statements[table].definition) &&
                  sqlite3_column_int64(query, 1) == 0;
    }
    const int finished = sqlite3_finalize(query);
    return status == SQLITE_OK ? finished : status;
}

static bool read_all(struct user_rows *rows, enum user_table table, size_t count, size_t length,
                     user_row_handler *handler, void *context)
{
    sqlite3_stmt *query = NULL;
    bool exists;
    if (find_table(rows->handle, table, &exists) != SQLITE_OK)
        return false;
    if (!exists)
        return true;
    int status = sqlite3_prepare_v2(rows->handle, statements[table].read, -1, &query, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_bind_int64(query, 1, (sqlite3_int64)count);
    while (status == SQLITE_OK && (status = sqlite3_step(query)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(query, 0);
        const char *value = (const char *)sqlite3_column_text(query, 1);
        status = key && value ? SQLITE_OK : SQLITE_NOMEM;
        /* A text may hold NULs, and what follows them would not be seen. */
        if (status == SQLITE_OK && strlen(value) <= length &&
            strlen(key) == (size_t)sqlite3_column_bytes(query, 0) &&
            strlen(value) == (size_t)sqlite3_column_bytes(query, 1) &&
            !handler(context, key, value))
            status = SQLITE_DONE;
    }
    sqlite3_finalize(query);
    return status == SQLITE_DONE;
}

bool user_rows_read(const char *path, enum user_table table, size_t rows, size_t length,
                    user_row_handler *handler, void *context, struct session_error *error)
{
    struct user_rows file;
    const bool good = (open_rows(&file, path, SQLITE_OPEN_READONLY) &&
                       read_all(&file, table, rows, length, handler, context)) ||
                      fail(&file, "read", error);
    sqlite3_close(file.handle);
    return good;
}

/* Returns true if the file is a session that nobody is writing. */
static bool may_change(struct user_rows *rows, enum user_table table, struct session_error *error)
{
    sqlite3_int64 application = 0, version = 0, unfinished = 0;
    bool exists;
    sqlite3 *handle = rows->handle;
    if (run(handle, "PRAGMA application_id", NULL, NULL, &application) != SQLITE_OK ||
        run(handle, "PRAGMA user_version", NULL, NULL, &version) != SQLITE_OK ||
        find_table(handle, table, &exists) != SQLITE_OK ||
        run(handle, "SELECT value FROM meta WHERE key = 'unfinished'", NULL, NULL, &unfinished) !=
            SQLITE_OK)
        return fail(rows, "written", error);
    if (application != SESSION_APPLICATION_ID || version != SESSION_SCHEMA_VERSION || !exists)
        return session_fail(error, 0, "%s: made by another version; ingest the trace again",
                            rows->path);
    return unfinished == 0 || session_fail(error, 0, "%s: still being recorded", rows->path);
}

static int apply(sqlite3 *handle, const struct user_change *change)
{
    switch (change->kind) {
    case USER_PUT:
        return run(handle,
                   change->replace ? statements[change->table].replace
                                   : statements[change->table].put,
                   change->key, change->value, NULL);
    case USER_RENAME:
        return run(handle, statements[change->table].rename, change->key, change->value, NULL);
    case USER_DELETE:
        break;
    }
    return run(handle, statements[change->table].remove, change->key, change->value, NULL);
}

/* Returns true if the path still names the file that was changed: ingest may have replaced it. */
static bool is_same(const char *path, const struct stat *before)
{
    struct stat after;
    return stat(path, &after) == 0 && after.st_ino == before->st_ino &&
           after.st_dev == before->st_dev;
}

static enum user_change_result change_rows(struct user_rows *rows, const struct user_change *change,
                                           struct session_error *error)
{
    struct stat before;
    sqlite3 *handle = rows->handle;
    if (stat(rows->path, &before) != 0 || !S_ISREG(before.st_mode)) {
        session_fail(error, 0, "%s: cannot be written: not a regular file", rows->path);
        return USER_REFUSED;
    }
    if (sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
        fail(rows, "written", error);
        return USER_REFUSED;
    }
    if (!may_change(rows, change->table, error))
        return USER_REFUSED;
    const int status = apply(handle, change);
    if (status == SQLITE_CONSTRAINT)
        return USER_EXISTS;
    if (status == SQLITE_OK && change->kind != USER_PUT && sqlite3_changes(handle) == 0)
        return USER_ABSENT;
    if (status != SQLITE_OK || sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        fail(rows, "written", error);
        return USER_REFUSED;
    }
    if (is_same(rows->path, &before))
        return USER_CHANGED;
    session_fail(error, 0, "%s: was replaced at this moment: open it again", rows->path);
    return USER_REFUSED;
}

enum user_change_result user_rows_change(const char *path, const struct user_change *change,
                                         struct session_error *error)
{
    struct user_rows rows;
    enum user_change_result result = USER_REFUSED;
    if (open_rows(&rows, path, SQLITE_OPEN_READWRITE))
        result = change_rows(&rows, change, error);
    else
        fail(&rows, "written", error);
    sqlite3_close(rows.handle); /* undoes what was not committed */
    return result;
}
