/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/part_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_layout.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "part_meta_sql.h"
#include "part_process_sql.h"
#include "part_rows_sql.h"
#include "part_tables_sql.h"
#include "session_sql.h"

enum {
    ROWS_PER_LOOK = 1024,
    STEPS_PER_LOOK = 100000, /* of SQLite's virtual machine */
    COLUMNS_MOST = 64,
    SQL_SIZE = 8192
};

struct part_file {
    struct session *whole;
    const struct part_rows *rows;
    sqlite3 *handle;
    sqlite3_stmt *insert, *insert_id; /* into allocation and original_allocation */
    uint64_t count;
    /* Keys of meta that no other table tells. */
    uint64_t reallocs, typed_allocations, typed_bytes;
    uint64_t arena_allocations, arena_bytes, arena_live_count, arena_live_bytes;
};

static bool fail(const struct part_file *file, struct session_error *error)
{
    if (!database_go_on(file->whole->database, error))
        return false;
    return session_fail(error, 0, "a part of the session cannot be written: %s",
                        file->handle ? sqlite3_errmsg(file->handle) : SESSION_OUT_OF_MEMORY);
}

static bool run(const struct part_file *file, const char *sql, struct session_error *error)
{
    return sqlite3_exec(file->handle, sql, NULL, NULL, NULL) == SQLITE_OK || fail(file, error);
}

static bool prepare(const struct part_file *file, const char *sql, sqlite3_stmt **statement,
                    struct session_error *error)
{
    return sqlite3_prepare_v2(file->handle, sql, -1, statement, NULL) == SQLITE_OK ||
           fail(file, error);
}

/* Runs a statement whose values are bound. */
static bool put(const struct part_file *file, sqlite3_stmt *statement, struct session_error *error)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK || fail(file, error);
}

static int stop(void *context)
{
    const struct part_file *file = context;
    return database_stopped(file->whole->database);
}

struct part_file *part_file_open(struct session *whole, const struct part_rows *rows,
                                 const char *draft, struct session_error *error)
{
    char sql[256];
    struct part_file *file = calloc(1, sizeof(*file));
    if (!file)
        return session_fail_memory_null(error, "a part of the session");
    file->whole = whole;
    static const char original_ids[] =
        "CREATE TABLE original_allocation(id INTEGER PRIMARY KEY, original_id INTEGER NOT NULL)";
    file->rows = rows;
    snprintf(sql, sizeof(sql),
             "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"
             "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN",
             SESSION_APPLICATION_ID, SESSION_SCHEMA_VERSION);
    bool good = sqlite3_open_v2(draft, &file->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                NULL) == SQLITE_OK ||
                fail(file, error);
    if (good)
        sqlite3_progress_handler(file->handle, STEPS_PER_LOOK, stop, file);
    good = good && run(file, sql, error) && run(file, session_sql, error) &&
           run(file, original_ids, error) && prepare(file, part_rows_sql, &file->insert, error) &&
           prepare(file, "INSERT INTO original_allocation VALUES (?,?)", &file->insert_id, error);
    if (good)
        return file;
    part_file_close(file);
    return NULL;
}

void part_file_close(struct part_file *file)
{
    if (!file)
        return;
    sqlite3_finalize(file->insert);
    sqlite3_finalize(file->insert_id);
    sqlite3_close(file->handle);
    free(file);
}

/* ---- allocations ---- */

/* Returns the id in the part, 0 if the allocation is not of it. */
static uint64_t new_id(const struct part_file *file, uint64_t id)
{
    const struct part_rows *rows = file->rows;
    return rows->has(rows->context, id) ? rows->up_to(rows->context, id) : 0;
}

static void count_row(struct part_file *file, const uint64_t *values)
{
    const uint64_t size = values[COLUMN_SIZE];
    const bool live = values[COLUMN_LIFE_NS] == 0;
    file->count++;
    if (values[COLUMN_ARENA] != 0) {
        file->arena_allocations++;
        file->arena_bytes += size;
        file->arena_live_count += live;
        file->arena_live_bytes += live ? size : 0;
        return;
    }
    file->reallocs +=
        values[COLUMN_REALLOC_OF] != 0 && (values[COLUMN_KIND] == TRACE_KIND_REALLOC ||
                                           values[COLUMN_KIND] == TRACE_KIND_REALLOCARRAY);
    file->typed_allocations += values[COLUMN_TYPE] != 0;
    file->typed_bytes += values[COLUMN_TYPE] != 0 ? size : 0;
}

bool part_file_put(struct part_file *file, uint64_t id, const uint64_t *values,
                   struct session_error *error)
{
    /* In the order of the statement, from its second value. */
    static const struct {
        enum column column;
        bool nullable; /* 0 is null */
    } columns[COLUMN_TOTAL] = {
        {COLUMN_ADDRESS, false},   {COLUMN_SIZE, false},
        {COLUMN_STACK, false},     {COLUMN_ALLOC_NS, false},
        {COLUMN_LIFE_NS, true},    {COLUMN_FREE_THREAD, false},
        {COLUMN_THREAD, false},    {COLUMN_TYPE, false},
        {COLUMN_KIND, false},      {COLUMN_COUNT_OF_OBJECTS, false},
        {COLUMN_REALLOC_OF, true}, {COLUMN_FREE_STACK, true},
        {COLUMN_ARENA, false},     {COLUMN_ALIGNMENT, false},
    };
    if (file->count % ROWS_PER_LOOK == 0 && !database_go_on(file->whole->database, error))
        return false;
    count_row(file, values);
    sqlite3_bind_int64(file->insert, 1, (int64_t)file->count);
    for (int i = 0; i < COLUMN_TOTAL; i++) {
        uint64_t value = values[columns[i].column];
        if (columns[i].column == COLUMN_REALLOC_OF)
            value = new_id(file, value);
        if (value == 0 && columns[i].nullable) {
            sqlite3_bind_null(file->insert, i + 2);
            continue;
        }
        if (columns[i].column == COLUMN_LIFE_NS)
            value--;
        sqlite3_bind_int64(file->insert, i + 2, (int64_t)value);
    }
    sqlite3_bind_int64(file->insert_id, 1, (int64_t)file->count);
    sqlite3_bind_int64(file->insert_id, 2, (int64_t)id);
    return put(file, file->insert, error) && put(file, file->insert_id, error);
}

/* ---- other tables ---- */

/* A table while it is copied. */
struct copy {
    const struct part_file *file;
    sqlite3_stmt *insert;
    int id_column; /* the id of an allocation; -1: the table has none */
    uint64_t rows;
};

static bool copy_row(void *context, const struct database_row *row, struct session_error *error)
{
    struct copy *copy = context;
    sqlite3_stmt *from = (sqlite3_stmt *)(uintptr_t)row;
    const int count = sqlite3_column_count(from);
    if (++copy->rows % ROWS_PER_LOOK == 0 && !database_go_on(copy->file->whole->database, error))
        return false;
    for (int i = 0; i < count; i++)
        sqlite3_bind_value(copy->insert, i + 1, sqlite3_column_value(from, i));
    if (copy->id_column >= 0) {
        const int64_t old = sqlite3_column_int64(from, copy->id_column);
        const uint64_t id = old > 0 ? new_id(copy->file, (uint64_t)old) : 0;
        if (id == 0)
            return true;
        sqlite3_bind_int64(copy->insert, copy->id_column + 1, (int64_t)id);
    }
    return put(copy->file, copy->insert, error);
}

/* The columns of a table that both files have. */
struct columns {
    char names[COLUMNS_MOST][40];
    int count;
    sqlite3_stmt *find; /* a column of the part's file */
};

static bool note_column(void *context, const struct database_row *row, struct session_error *error)
{
    struct columns *columns = context;
    const char *name = database_text(row, 0);
    sqlite3_bind_text(columns->find, 2, name, -1, SQLITE_STATIC);
    const bool found = name && sqlite3_step(columns->find) == SQLITE_ROW;
    sqlite3_reset(columns->find);
    if (found && columns->count < COLUMNS_MOST)
        snprintf(columns->names[columns->count++], sizeof(columns->names[0]), "%s", name);
    return true;
}

static bool find_columns(const struct part_file *file, const char *table, struct columns *columns,
                         struct session_error *error)
{
    char sql[128];
    columns->count = 0;
    snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", table);
    if (!prepare(file, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", &columns->find, error))
        return false;
    sqlite3_bind_text(columns->find, 1, table, -1, SQLITE_STATIC);
    const bool good = database_each(file->whole->database, sql, note_column, columns, error);
    sqlite3_finalize(columns->find);
    return good;
}

/* Makes the statements that read a table of the whole session and write it. */
static void make_statements(const char *table, const struct columns *columns, char *select,
                            char *insert)
{
    char names[COLUMNS_MOST * 44] = "", places[COLUMNS_MOST * 2 + 1] = "";
    size_t used = 0;
    for (int i = 0; i < columns->count; i++) {
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s\"%s\"", i > 0 ? "," : "",
                                 columns->names[i]);
        memcpy(places + 2 * (size_t)i, i > 0 ? ",?" : " ?", 3);
    }
    snprintf(select, SQL_SIZE, "SELECT %s FROM %s", names, table);
    snprintf(insert, SQL_SIZE, "INSERT OR REPLACE INTO %s(%s) VALUES (%s)", table, names, places);
}

static bool copy_table(const struct part_file *file, const char *table, const char *id_column,
                       struct session_error *error)
{
    struct copy copy = {.file = file, .id_column = -1};
    struct columns *columns = malloc(sizeof(*columns));
    char *select = malloc(SQL_SIZE), *insert = malloc(SQL_SIZE);
    bool good = (columns && select && insert) || session_fail_memory(error, "a table");
    good = good && find_columns(file, table, columns, error);
    if (good && columns->count > 0) {
        for (int i = 0; i < columns->count; i++)
            if (id_column && strcmp(columns->names[i], id_column) == 0)
                copy.id_column = i;
        make_statements(table, columns, select, insert);
        good = prepare(file, insert, &copy.insert, error) &&
               database_each(file->whole->database, select, copy_row, &copy, error);
        sqlite3_finalize(copy.insert);
    }
    FREE_ALL(columns, select, insert);
    return good;
}

/* Copies the tables that neither mprof-ingest --rebuild nor this file makes. */
static bool copy_tables(const struct part_file *file, struct session_error *error)
{
    sqlite3_stmt *tables = NULL;
    bool good = prepare(file, part_tables_sql, &tables, error);
    while (good && sqlite3_step(tables) == SQLITE_ROW)
        good = copy_table(file, (const char *)sqlite3_column_text(tables, 0), NULL, error);
    if (tables && sqlite3_finalize(tables) != SQLITE_OK)
        good = good && fail(file, error);
    return good && copy_table(file, "earlier_block", "allocation_id", error) &&
           copy_table(file, "inherited_free", "allocation_id", error);
}

/* ---- what is about all rows ---- */

static bool move_processes(const struct part_file *file, struct session_error *error)
{
    sqlite3_stmt *read = NULL, *update = NULL;
    bool good = prepare(file, "SELECT id, first_allocation_id, last_allocation_id FROM process",
                        &read, error) &&
                prepare(file, part_process_sql, &update, error);
    while (good && sqlite3_step(read) == SQLITE_ROW) {
        const int64_t first = sqlite3_column_int64(read, 1), last = sqlite3_column_int64(read, 2);
        uint64_t before = 0, up_to = 0;
        if (first > 0 && last >= first) {
            before = file->rows->up_to(file->rows->context, (uint64_t)first - 1);
            up_to = file->rows->up_to(file->rows->context, (uint64_t)last);
        }
        sqlite3_clear_bindings(update);
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(read, 0));
        if (up_to > before) {
            sqlite3_bind_int64(update, 2, (int64_t)before + 1);
            sqlite3_bind_int64(update, 3, (int64_t)up_to);
        }
        good = put(file, update, error);
    }
    sqlite3_finalize(read);
    sqlite3_finalize(update);
    return good;
}

static bool put_numbers(const struct part_file *file, struct session_error *error)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"rows", file->count},
        {"reallocs", file->reallocs},
        {"typed_allocations", file->typed_allocations},
        {"typed_bytes", file->typed_bytes},
        {"arena_allocations", file->arena_allocations},
        {"arena_bytes", file->arena_bytes},
        {"arena_live_count_end", file->arena_live_count},
        {"arena_live_bytes_end", file->arena_live_bytes},
        {"part_from_allocations", column_store_rows(file->whole->columns)},
    };
    sqlite3_stmt *insert = NULL;
    bool good = prepare(file, "INSERT OR REPLACE INTO meta VALUES (?, ?)", &insert, error);
    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        sqlite3_bind_text(insert, 1, numbers[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, (int64_t)numbers[i].value);
        good = put(file, insert, error);
    }
    sqlite3_finalize(insert);
    return good && run(file, part_meta_sql, error);
}

/* Says of which session the file is a part, and by which graph. */
static bool put_origin(const struct part_file *file, const char *graph, struct session_error *error)
{
    const char *path = session_path(file->whole);
    sqlite3_stmt *insert = NULL;
    bool good =
        prepare(file, "INSERT OR REPLACE INTO meta VALUES ('part_of', ?1), ('part_graph', ?2)",
                &insert, error);
    sqlite3_bind_text(insert, 1, basename(path), -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, graph, -1, SQLITE_STATIC);
    good = good && put(file, insert, error);
    sqlite3_finalize(insert);
    return good;
}

/* Makes the indexes of `allocation` that the whole session has. */
static bool make_index(void *context, const struct database_row *row, struct session_error *error)
{
    static const char *const known[][2] = {
        {"allocation_stack", "stack_id, type_id"},
        {"allocation_alloc_ns", "alloc_ns"},
        {"allocation_free_ns", "free_ns"},
        {"allocation_address", "address"},
        {"allocation_size", "size"},
    };
    const char *name = database_text(row, 0);
    char sql[128];
    for (size_t i = 0; name && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i][0], name) != 0)
            continue;
        snprintf(sql, sizeof(sql), "CREATE INDEX %s ON allocation(%s)", name, known[i][1]);
        return run(context, sql, error);
    }
    return true;
}

bool part_file_finish(struct part_file *file, const char *graph, struct session_error *error)
{
    static const char indexes[] =
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'allocation'";
    return copy_tables(file, error) && move_processes(file, error) && put_numbers(file, error) &&
           put_origin(file, graph, error) &&
           database_each(file->whole->database, indexes, make_index, file, error) &&
           run(file, "COMMIT", error);
}
