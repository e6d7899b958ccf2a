/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries what the user stored in a session (the tables `named_graph` and `setting`) over to the
 * session that replaces it. The old file may be damaged or come from anywhere: what can be read
 * within bounds (schemas/user_tables.h) is copied, and nothing in it runs. */
#include "ingest/write/rows.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "schemas/column_codec.h"
#include "schemas/user_tables.h"

enum { BUSY_MS = 3000, LOOKS = 1000 };

static const struct {
    const char *definition, *find, *read, *put;
    unsigned key_max, value_max;
} tables[] = {
    {USER_TABLE_GRAPH, USER_TABLE_QUERY("named_graph"),
     "SELECT name, text, changed FROM named_graph LIMIT ?1",
     "INSERT OR IGNORE INTO named_graph VALUES (?,?,?)", USER_GRAPH_NAME_MAX, USER_GRAPH_TEXT_MAX},
    {USER_TABLE_SETTING, USER_TABLE_QUERY("setting"), "SELECT key, value FROM setting LIMIT ?1",
     "INSERT OR IGNORE INTO setting VALUES (?,?)", USER_SETTING_MAX, USER_SETTING_MAX},
};

static int stop(void *context)
{
    int *looks = context;
    return ++*looks > LOOKS;
}

static int number_of(sqlite3 *sqlite, const char *sql, sqlite3_int64 *number)
{
    sqlite3_stmt *query = NULL;
    int status = sqlite3_prepare_v2(sqlite, sql, -1, &query, NULL);
    if (status == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
        *number = sqlite3_column_int64(query, 0);
    const int finished = sqlite3_finalize(query);
    return status == SQLITE_OK ? finished : status;
}

/* Returns true if a column is a text that could have been stored. */
static bool is_text(sqlite3_stmt *row, int column, unsigned longest)
{
    if (sqlite3_column_type(row, column) != SQLITE_TEXT)
        return false;
    const char *text = (const char *)sqlite3_column_text(row, column);
    const int length = sqlite3_column_bytes(row, column);
    return text && length > 0 && (unsigned)length <= longest && strlen(text) == (size_t)length;
}

/* Copies the columns of one row. Returns SQLite's code of the write. */
static int put(sqlite3_stmt *insert, sqlite3_stmt *row)
{
    sqlite3_bind_value(insert, 1, sqlite3_column_value(row, 0));
    sqlite3_bind_value(insert, 2, sqlite3_column_value(row, 1));
    if (sqlite3_column_count(row) > 2)
        sqlite3_bind_int64(insert, 3, sqlite3_column_int64(row, 2));
    sqlite3_step(insert);
    return sqlite3_reset(insert);
}

/* Stores whether the session has the table, with nothing in its definition that could run. Returns
 * SQLite's code. */
static int find_table(sqlite3 *sqlite, size_t table, bool *exists)
{
    sqlite3_stmt *query = NULL;
    const int status = sqlite3_prepare_v2(sqlite, tables[table].find, -1, &query, NULL);
    *exists = false;
    if (status == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(query, 0);
        *exists = sql && user_table_is(sql, tables[table].definition);
    }
    const int finished = sqlite3_finalize(query);
    return status == SQLITE_OK ? finished : status;
}

/* Copies one table. `*lost`: SQLite's code if the old one cannot be read to its end. */
static bool copy_table(sqlite3 *from, struct writer_database *database, size_t table, int *lost)
{
    sqlite3_stmt *query = NULL, *insert = NULL;
    bool exists;
    int written = SQLITE_OK;
    *lost = find_table(from, table, &exists);
    if (*lost != SQLITE_OK || !exists)
        return true;
    written = sqlite3_prepare_v2(database->sqlite, tables[table].put, -1, &insert, NULL);
    *lost = sqlite3_prepare_v2(from, tables[table].read, -1, &query, NULL);
    if (*lost == SQLITE_OK)
        *lost = sqlite3_bind_int64(query, 1, USER_ROWS_MAX);
    while (written == SQLITE_OK && *lost == SQLITE_OK &&
           (*lost = sqlite3_step(query)) == SQLITE_ROW) {
        *lost = SQLITE_OK;
        if (is_text(query, 0, tables[table].key_max) && is_text(query, 1, tables[table].value_max))
            written = put(insert, query);
    }
    *lost = *lost == SQLITE_DONE ? SQLITE_OK : *lost;
    sqlite3_finalize(query);
    sqlite3_finalize(insert);
    return writer_database_check(database, written);
}

/* Opens the old session, of this schema or an earlier one, so that nothing in it runs. Returns
 * SQLite's code. `*is_session` false: it is something else. */
static int open_replaced(sqlite3 **sqlite, const char *target, int *looks, bool *is_session)
{
    sqlite3_int64 application = 0, version = 0;
    int status = sqlite3_open_v2(target, sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (status != SQLITE_OK)
        return status;
    sqlite3_busy_timeout(*sqlite, BUSY_MS);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(*sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(*sqlite, SQLITE_LIMIT_LENGTH, (int)(16 * USER_GRAPH_TEXT_MAX));
    sqlite3_progress_handler(*sqlite, USER_STEPS_MAX / LOOKS, stop, looks);
    status = sqlite3_exec(*sqlite, "PRAGMA cell_size_check = ON; BEGIN", NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status = number_of(*sqlite, "PRAGMA application_id", &application);
    if (status == SQLITE_OK)
        status = number_of(*sqlite, "PRAGMA user_version", &version);
    *is_session =
        application == SESSION_APPLICATION_ID && version >= 1 && version <= SESSION_SCHEMA_VERSION;
    return status;
}

static void tell(const struct writer_options *options, const char *target, const char *why)
{
    char text[1024];
    if (!options->tell)
        return;
    snprintf(text, sizeof(text),
             "%s: graphs and settings that the old session may have had are lost: %s", target, why);
    options->tell(text);
}

bool writer_user_rows_copy(struct writer_user_rows *rows, struct writer_database *database,
                           const char *target, const struct writer_options *options)
{
    struct stat about;
    int looks = 0, status = SQLITE_OK;
    bool is_session = false, good = true;
    rows->replaced = NULL;
    if (options->forget || lstat(target, &about) != 0 || !S_ISREG(about.st_mode))
        return true;
    status = open_replaced(&rows->replaced, target, &looks, &is_session);
    for (size_t i = 0; good && is_session && i < sizeof(tables) / sizeof(*tables); i++) {
        int lost = SQLITE_OK;
        if (status == SQLITE_OK)
            good = copy_table(rows->replaced, database, i, &lost);
        status = status == SQLITE_OK ? lost : status;
    }
    if (good && status != SQLITE_OK && status != SQLITE_NOTADB)
        tell(options, target, sqlite3_errstr(status));
    if (rows->replaced) /* its limit counts a function's own variable */
        sqlite3_progress_handler(rows->replaced, 0, NULL, NULL);
    return good;
}

void writer_user_rows_release(struct writer_user_rows *rows)
{
    sqlite3_close(rows->replaced);
    rows->replaced = NULL;
}
