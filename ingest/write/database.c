/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/database.h"

#include "insert_process_sql.h"

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
    for (int i = 0; i < WRITER_TABLES; i++) {
        sqlite3_finalize(database->insert[i]);
        database->insert[i] = NULL;
    }
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

bool writer_database_each(struct writer_database *database, const char *sql,
                          bool (*each)(void *context, sqlite3_stmt *query), void *context)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database->sqlite, sql, -1, &query, NULL);
    bool good = result == SQLITE_OK;
    while (good && (result = sqlite3_step(query)) == SQLITE_ROW)
        good = each(context, query);
    sqlite3_finalize(query);
    if (good && result == SQLITE_DONE)
        return true;
    return database->status->code == INGEST_OK ? writer_database_fail(database, NULL) : false;
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

/* ---- insert -------------------------------------------------------------------------------- */

static const char *const insert_sql[WRITER_TABLES] = {
    [WRITER_META] = "INSERT INTO meta VALUES (?,?)",
    [WRITER_MODULE] = "INSERT INTO module VALUES (?,?,?,?,?,?,?,?,?,?)",
    [WRITER_SOURCE_FILE] = "INSERT INTO source_file VALUES (?,?)",
    [WRITER_FUNCTION] = "INSERT INTO function VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_FRAME] = "INSERT INTO frame VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_STACK] = "INSERT INTO stack VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_OWNER] = "INSERT INTO owner VALUES (?,?,?)",
    [WRITER_RUNTIME_STACK] = "INSERT INTO runtime_stack VALUES (?,?,?)",
    [WRITER_STACK_NODE] = "INSERT INTO stack_node VALUES (?,?,?)",
    [WRITER_STACK_RUN] = "INSERT INTO stack_run VALUES (?,?,?,?)",
    [WRITER_PROCESS] = insert_process_sql,
    [WRITER_INHERITED_FREE] = "INSERT INTO inherited_free VALUES (?,1,?,?,?,?,?,?,NULL)",
    [WRITER_THREAD] = "INSERT INTO thread VALUES (?,?,?,?,?,?,?,?,1)",
    [WRITER_ARENA] = "INSERT INTO arena VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_COLLECTION] = "INSERT INTO collection VALUES (?,?,1,?,?,?,?)",
    [WRITER_MARK] = "INSERT INTO mark(id, ns, kind, name) VALUES (?,?,?,?)",
    [WRITER_RSS] = "INSERT INTO rss(ns, bytes) VALUES (?,?)",
    [WRITER_HEAP_SNAPSHOT] = "INSERT INTO heap_snapshot VALUES (?,1,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_HEAP_RANGE] = "INSERT INTO heap_range VALUES (?,?,?,?,?,?,?)",
    [WRITER_HEAP_THREAD] = "INSERT OR IGNORE INTO heap_thread VALUES (?,?,?,?)",
    [WRITER_HEAP_REGISTER] = "INSERT OR IGNORE INTO heap_register VALUES (?,?,?,?,?)",
    [WRITER_HEAP_VARIABLE] = "INSERT INTO heap_variable VALUES (?,?,?,?,?)",
    [WRITER_HEAP_WORDS] = "INSERT INTO heap_words VALUES (?,?,?)",
    [WRITER_REGION] = "INSERT INTO region VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_RESIDENCY] = "INSERT INTO residency VALUES (?,1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    /* Redacted paths may become the same. */
    [WRITER_RESIDENCY_CLASS] =
        "INSERT INTO residency_class VALUES (?,?,?,?,?,?) ON CONFLICT DO UPDATE SET bytes=bytes+?4",
    [WRITER_RESIDENCY_STACK] = "INSERT INTO residency_stack VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_RESIDENCY_RUN] = "INSERT INTO residency_run VALUES (?,?,?)",
    [WRITER_RESIDENCY_MISSING] = "INSERT INTO residency_missing VALUES (1,?)",
    [WRITER_FREE_CALL] = "INSERT INTO free_call VALUES (?,?)",
    [WRITER_MISMATCH] = "INSERT INTO mismatch VALUES (?,?,?,?,?,?)",
    [WRITER_WRONG_SIZE] = "INSERT INTO wrong_size VALUES (?,?,?,?,?)",
    [WRITER_EARLIER_BLOCK] = "INSERT INTO earlier_block VALUES (?,?)",
    [WRITER_PROBLEM] = "INSERT INTO problem VALUES (?,?,?,?,?,?,?)",
    [WRITER_TIMELINE] = "INSERT INTO timeline VALUES (?,?,?,?,?,?,?,?,?)",
    [WRITER_FUNCTION_TOTAL] = "INSERT INTO function_total VALUES (?,?,?,?,?,?,?,?,?,?)",
    [WRITER_TYPE] = "INSERT INTO type VALUES (?,?,?,?,?)",
    [WRITER_TYPE_TOTAL] = "INSERT INTO type_total VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_TYPE_MEMBER] = "INSERT INTO type_member VALUES (?,?,?,?,?,?)",
    [WRITER_TYPE_FIELD] = "INSERT INTO type_field VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_TYPE_CANDIDATE] = "INSERT INTO type_candidate VALUES (?,?,?,?)",
    [WRITER_SIZE_BIN] = "INSERT INTO size_bin VALUES (?,?,?,?,?)",
    [WRITER_SLOT_SUM] = "INSERT INTO slot_sum VALUES (?,?,?,?)",
    [WRITER_TILE] = "INSERT INTO tile VALUES (?,?,?)",
    [WRITER_BUNDLE] = "INSERT INTO bundle VALUES (?,?,?,?)",
    [WRITER_SQLAR] = "INSERT INTO sqlar VALUES (?,?,?,?,?)",
    [WRITER_SAMPLE_WEIGHT] = "INSERT INTO sample_weight VALUES (?,?)",
};

static int insert_row(sqlite3_stmt *insert, const struct writer_value *values, size_t count)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < count && result == SQLITE_OK; i++) {
        int place = (int)i + 1;
        if (values[i].type == VALUE_NUMBER)
            result = sqlite3_bind_int64(insert, place, values[i].number);
        else if (values[i].type == VALUE_REAL)
            result = sqlite3_bind_double(insert, place, values[i].real);
        else if (values[i].type >= VALUE_TEXT && values[i].type <= VALUE_PRIVATE)
            result = sqlite3_bind_text(insert, place, values[i].text, -1, SQLITE_STATIC);
        else if (values[i].type == VALUE_BLOB)
            result = sqlite3_bind_blob64(insert, place, values[i].text,
                                         (sqlite3_uint64)values[i].number, SQLITE_STATIC);
        else
            result = sqlite3_bind_null(insert, place);
    }
    if (result == SQLITE_OK && sqlite3_step(insert) == SQLITE_DONE)
        result = SQLITE_OK;
    else if (result == SQLITE_OK)
        result = SQLITE_ERROR;
    sqlite3_reset(insert);
    return result;
}

bool writer_database_insert(struct writer_database *database, enum writer_table table,
                            const struct writer_value *values, size_t count)
{
    sqlite3_stmt **insert = &database->insert[table];
    return ((*insert || sqlite3_prepare_v3(database->sqlite, insert_sql[table], -1,
                                           SQLITE_PREPARE_PERSISTENT, insert, NULL) == SQLITE_OK) &&
            insert_row(*insert, values, count) == SQLITE_OK) ||
           writer_database_fail(database, NULL);
}

static bool put_row(void *context, enum writer_table table, const struct writer_value *values,
                    size_t count)
{
    return writer_database_insert(context, table, values, count);
}

struct table_sink writer_database_sink(struct writer_database *database)
{
    return (struct table_sink){database, put_row};
}
