/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/rows.h"

#include <stdlib.h>

/* The columns of the table `allocation` that get a value. Every address is stored whole. */
enum {
    FIELD_ADDRESS,
    FIELD_SIZE,
    FIELD_COUNT,
    FIELD_KIND,
    FIELD_ALIGNMENT,
    FIELD_ARENA,
    FIELD_THREAD,
    FIELD_STACK,
    FIELD_TYPE,
    FIELD_ALLOC_NS,
    FIELD_FREED_BY,
    FIELD_LIVED_NS,
    FIELD_FREE_STACK,
    FIELD_REALLOC_OF,
};

#define BATCH_COLUMNS                                                                              \
    "whole_address, size, count, kind, alignment, arena_id, thread_id, stack_id, type_id,"         \
    " alloc_ns, freed_by_id, lived_ns, free_stack_id, realloc_of"

struct batch_table {
    sqlite3_vtab base;
    struct writer_rows *rows;
};

struct batch_cursor {
    sqlite3_vtab_cursor base;
    const struct row_batch *batch;
    size_t row;
};

static int batch_connect(sqlite3 *database, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **table, char **error)
{
    int result = sqlite3_declare_vtab(database, "CREATE TABLE x(" BATCH_COLUMNS ")");
    struct batch_table *made = result == SQLITE_OK ? sqlite3_malloc64(sizeof(*made)) : NULL;
    if (!made)
        return result == SQLITE_OK ? SQLITE_NOMEM : result;
    *made = (struct batch_table){.rows = context};
    *table = &made->base;
    return SQLITE_OK;
}

static int batch_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int batch_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    info->estimatedCost = COLUMN_CHUNK_ROWS;
    info->estimatedRows = COLUMN_CHUNK_ROWS;
    return SQLITE_OK;
}

static int batch_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct batch_cursor *made = sqlite3_malloc64(sizeof(*made));
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct batch_cursor){.batch = ((struct batch_table *)table)->rows->batch};
    *cursor = &made->base;
    return SQLITE_OK;
}

static int batch_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int batch_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                        sqlite3_value **argv)
{
    ((struct batch_cursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *cursor)
{
    ((struct batch_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int batch_eof(sqlite3_vtab_cursor *cursor)
{
    const struct batch_cursor *at = (const struct batch_cursor *)cursor;
    return at->row >= at->batch->rows;
}

static int batch_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int field)
{
    static const enum column columns[] = {
        [FIELD_ADDRESS] = COLUMN_ADDRESS,
        [FIELD_SIZE] = COLUMN_SIZE,
        [FIELD_COUNT] = COLUMN_COUNT_OF_OBJECTS,
        [FIELD_KIND] = COLUMN_KIND,
        [FIELD_ALIGNMENT] = COLUMN_ALIGNMENT,
        [FIELD_ARENA] = COLUMN_ARENA,
        [FIELD_THREAD] = COLUMN_THREAD,
        [FIELD_STACK] = COLUMN_STACK,
        [FIELD_TYPE] = COLUMN_TYPE,
        [FIELD_ALLOC_NS] = COLUMN_ALLOC_NS,
        [FIELD_FREED_BY] = COLUMN_FREE_THREAD,
        [FIELD_LIVED_NS] = COLUMN_LIFE_NS,
        [FIELD_FREE_STACK] = COLUMN_FREE_STACK,
        [FIELD_REALLOC_OF] = COLUMN_REALLOC_OF,
    };
    const struct batch_cursor *at = (const struct batch_cursor *)cursor;
    const struct row_batch *batch = at->batch;
    uint64_t value = batch->column[columns[field]][at->row];
    if (field >= FIELD_LIVED_NS && value == 0)
        return SQLITE_OK; /* NULL: never freed, no stack, no realloc */
    sqlite3_result_int64(context, (int64_t)(field == FIELD_LIVED_NS ? value - 1 : value));
    return SQLITE_OK;
}

static int batch_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    const struct batch_cursor *at = (const struct batch_cursor *)cursor;
    uint64_t row = at->batch->first_id + at->row;
    *id = (sqlite3_int64)row;
    return SQLITE_OK;
}

/* Without xCreate the table needs no CREATE and leaves nothing in the schema. */
static const sqlite3_module batch_module = {
    .iVersion = 1,
    .xConnect = batch_connect,
    .xBestIndex = batch_best_index,
    .xDisconnect = batch_disconnect,
    .xOpen = batch_open,
    .xClose = batch_close,
    .xFilter = batch_filter,
    .xNext = batch_next,
    .xEof = batch_eof,
    .xColumn = batch_column,
    .xRowid = batch_rowid,
};

/* Without a value for `id` SQLite appends the next one without a search, so ids are dense. */
static const char insert_rows_sql[] =
    "INSERT INTO allocation(" BATCH_COLUMNS ") SELECT " BATCH_COLUMNS " FROM row_batch";

int writer_rows_open(struct writer_rows *rows, sqlite3 *database)
{
    *rows = (struct writer_rows){.database = database};
    rows->packed = malloc(column_data_most(COLUMN_CHUNK_ROWS));
    if (!rows->packed)
        return SQLITE_NOMEM;
    int result = sqlite3_create_module(database, "row_batch", &batch_module, rows);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v3(database, insert_rows_sql, -1, SQLITE_PREPARE_PERSISTENT,
                                    &rows->insert_rows, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v3(database, "INSERT INTO column_chunk VALUES (?,?,?,?,?,?)", -1,
                                    SQLITE_PREPARE_PERSISTENT, &rows->insert_chunk, NULL);
    return result;
}

static int put_chunk(struct writer_rows *rows, const struct row_batch *batch, unsigned column)
{
    struct row_batch_chunk chunk;
    row_batch_pack(batch, column, rows->packed, &chunk);
    writer_directory_put(&rows->directory, &chunk);
    sqlite3_stmt *insert = rows->insert_chunk;
    sqlite3_bind_int64(insert, 1, (int64_t)chunk.id);
    sqlite3_bind_int64(insert, 2, (int64_t)batch->rows);
    sqlite3_bind_int64(insert, 3, chunk.width);
    sqlite3_bind_int64(insert, 4, (int64_t)chunk.min);
    sqlite3_bind_int64(insert, 5, (int64_t)chunk.max);
    int result = sqlite3_bind_blob64(insert, 6, rows->packed, chunk.length, SQLITE_STATIC);
    if (result == SQLITE_OK)
        sqlite3_step(insert);
    int reset = sqlite3_reset(insert);
    return result == SQLITE_OK ? reset : result;
}

int writer_rows_put_columns(struct writer_rows *rows, const struct row_batch *batch)
{
    int result = writer_directory_begin(&rows->directory, batch) ? SQLITE_OK : SQLITE_NOMEM;
    for (unsigned column = 0; result == SQLITE_OK && column < COLUMN_TOTAL; column++)
        result = put_chunk(rows, batch, column);
    return result;
}

int writer_rows_put(struct writer_rows *rows, const struct row_batch *batch)
{
    int result;
    rows->batch = batch;
    sqlite3_step(rows->insert_rows);
    result = sqlite3_reset(rows->insert_rows);
    uint64_t last = batch->first_id + batch->rows - 1;
    if (result == SQLITE_OK && (uint64_t)sqlite3_last_insert_rowid(rows->database) != last)
        return SQLITE_INTERNAL;
    return result == SQLITE_OK ? writer_rows_put_columns(rows, batch) : result;
}

void writer_rows_close(struct writer_rows *rows)
{
    sqlite3_finalize(rows->insert_rows);
    sqlite3_finalize(rows->insert_chunk);
    free(rows->packed);
    writer_directory_free(&rows->directory);
    *rows = (struct writer_rows){0};
}
