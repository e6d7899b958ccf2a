/* SPDX-License-Identifier: BSD-2-Clause */
/* The packed arrays of a synthetic session (schemas/columns.md), made from its tables by SQL. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "schemas/packed_array.h"

static bool put(sqlite3 *database, int id, const uint8_t *data, size_t length)
{
    sqlite3_stmt *insert = NULL;
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO packed_array VALUES (?, ?)", -1, &insert,
                       NULL);
    sqlite3_bind_int(insert, 1, id);
    sqlite3_bind_blob64(insert, 2, data, length, SQLITE_STATIC);
    sqlite3_step(insert);
    return sqlite3_finalize(insert) == SQLITE_OK;
}

static uint64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *query = NULL;
    sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    uint64_t found =
        sqlite3_step(query) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    return found;
}

/* Fills an array of `size` bytes for each id from a query of (id, value). */
static void fill(sqlite3 *database, const char *sql, uint8_t *data, unsigned size)
{
    sqlite3_stmt *query = NULL;
    sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    while (sqlite3_step(query) == SQLITE_ROW)
        packed_put(data + (size_t)sqlite3_column_int64(query, 0) * size,
                   (uint64_t)sqlite3_column_int64(query, 1), size);
    sqlite3_finalize(query);
}

static bool put_array(sqlite3 *database, int id, const char *sql, uint64_t count, unsigned size)
{
    uint8_t *data = calloc(count, size);
    if (!data)
        return false;
    fill(database, sql, data, size);
    bool good = put(database, id, data, count * size);
    free(data);
    return good;
}

static bool put_frames(sqlite3 *database, uint64_t count)
{
    static const char *const columns[] = {
        "pc", "function_id", "module_id", "source_file_id", "line", "inlined + 2 * bare"};
    uint8_t *data = calloc(count, PACKED_FRAME_SIZE), *at = data;
    for (int i = 0; data && i < 6; i++) {
        const unsigned size = i == 0 ? 8 : i == 5 ? 1 : 4;
        char sql[80];
        snprintf(sql, sizeof(sql), "SELECT id, %s FROM frame", columns[i]);
        fill(database, sql, at, size);
        at += count * size;
    }
    bool good = data && put(database, PACKED_FRAMES, data, count * PACKED_FRAME_SIZE);
    free(data);
    return good;
}

static bool put_directory(sqlite3 *database)
{
    const uint64_t rows = number(database, "SELECT count(*) FROM allocation");
    const size_t length = packed_directory_length(packed_directory_chunks(rows));
    uint8_t *data = calloc(length, 1);
    sqlite3_stmt *query = NULL;
    if (!data)
        return false;
    packed_put(data, rows, 8);
    sqlite3_prepare_v2(database, "SELECT id, min, max, length(data) FROM column_chunk", -1, &query,
                       NULL);
    while (sqlite3_step(query) == SQLITE_ROW) {
        const int64_t id = sqlite3_column_int64(query, 0);
        uint8_t *at = data + packed_directory_chunk((uint64_t)id / COLUMN_ID_STRIDE);
        uint8_t *values = at + packed_directory_column((unsigned)(id % COLUMN_ID_STRIDE));
        packed_put(values, (uint64_t)sqlite3_column_int64(query, 1), 8);
        packed_put(values + 8, (uint64_t)sqlite3_column_int64(query, 2), 8);
        packed_put(values + 16, (uint64_t)sqlite3_column_int64(query, 3), 4);
    }
    sqlite3_finalize(query);
    sqlite3_prepare_v2(database,
                       "SELECT (id - 1) / 65536, min(free_ns), max(ifnull(free_ns, -1)),"
                       " sum(free_ns IS NULL) FROM allocation GROUP BY 1",
                       -1, &query, NULL);
    while (sqlite3_step(query) == SQLITE_ROW) {
        uint8_t *at = data + packed_directory_chunk((uint64_t)sqlite3_column_int64(query, 0));
        const bool none = sqlite3_column_type(query, 1) == SQLITE_NULL;
        const bool live = sqlite3_column_int64(query, 3) > 0;
        packed_put(at, none ? UINT64_MAX : (uint64_t)sqlite3_column_int64(query, 1), 8);
        packed_put(at + 8, live ? UINT64_MAX : (uint64_t)sqlite3_column_int64(query, 2), 8);
    }
    sqlite3_finalize(query);
    bool good = put(database, PACKED_DIRECTORY, data, length);
    free(data);
    return good;
}

bool fixture_pack(const char *path)
{
    sqlite3 *database;
    bool good = sqlite3_open(path, &database) == SQLITE_OK;
    const uint64_t stacks = number(database, "SELECT max(id) + 1 FROM stack");
    good = good && put_directory(database) &&
           put_array(database, PACKED_STACK_FUNCTION, "SELECT id, function_id FROM stack", stacks,
                     4) &&
           put_array(database, PACKED_STACK_CALL_SITE, "SELECT id, call_site_frame_id FROM stack",
                     stacks, 4) &&
           put_array(database, PACKED_STACK_STATE, "SELECT id, state = 'complete' FROM stack",
                     stacks, 1) &&
           put_array(database, PACKED_STACK_ALLOCATIONS, "SELECT id, allocations FROM stack",
                     stacks, 8) &&
           put_array(database, PACKED_STACK_BYTES, "SELECT id, bytes FROM stack", stacks, 8) &&
           put_frames(database, number(database, "SELECT max(id) + 1 FROM frame"));
    if (!good)
        fprintf(stderr, "fixture: %s: %s\n", path, sqlite3_errmsg(database));
    sqlite3_close(database);
    return good;
}
