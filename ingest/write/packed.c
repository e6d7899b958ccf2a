/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/packed.h"

#include <stdlib.h>

#include "schemas/packed_array.h"
#include "schemas/session_ids.h"

#include "packed_frames_sql.h"
#include "packed_held_sql.h"
#include "packed_stacks_sql.h"

void writer_directory_free(struct writer_directory *directory)
{
    free(directory->data);
    *directory = (struct writer_directory){.data = NULL};
}

bool writer_directory_begin(struct writer_directory *directory, const struct row_batch *batch)
{
    const uint64_t chunk = (batch->first_id - 1) / COLUMN_CHUNK_ROWS;
    if (chunk >= directory->capacity) {
        const uint64_t capacity = chunk * 2 + 16;
        uint8_t *data = realloc(directory->data, packed_directory_length(capacity));
        if (!data)
            return false;
        directory->data = data;
        directory->capacity = capacity;
    }
    uint64_t first = UINT64_MAX, last = 0;
    bool all = true;
    for (size_t i = 0; i < batch->rows; i++) {
        const uint64_t life = batch->column[COLUMN_LIFE_NS][i];
        const uint64_t freed = batch->column[COLUMN_ALLOC_NS][i] + life - 1;
        all = all && life != 0;
        first = life != 0 && freed < first ? freed : first;
        last = life != 0 && freed > last ? freed : last;
    }
    uint8_t *at = directory->data + packed_directory_chunk(chunk);
    packed_put(at, first, 8);
    packed_put(at + 8, all ? last : UINT64_MAX, 8);
    directory->rows = batch->first_id - 1 + batch->rows;
    return true;
}

void writer_directory_cut(struct writer_directory *directory, uint64_t chunk)
{
    if (directory->rows > chunk * COLUMN_CHUNK_ROWS)
        directory->rows = chunk * COLUMN_CHUNK_ROWS;
}

void writer_directory_put(struct writer_directory *directory, const struct row_batch_chunk *chunk)
{
    uint8_t *at = directory->data + packed_directory_chunk(chunk->id / COLUMN_ID_STRIDE) +
                  packed_directory_column((unsigned)(chunk->id % COLUMN_ID_STRIDE));
    packed_put(at, chunk->min, 8);
    packed_put(at + 8, chunk->max, 8);
    packed_put(at + 16, chunk->length, 4);
}

int writer_packed_put_array(sqlite3 *database, int id, const uint8_t *data, uint64_t length)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO packed_array VALUES (?, ?)",
                                    -1, &insert, NULL);
    if (result == SQLITE_OK) {
        sqlite3_bind_int64(insert, 1, id);
        result = sqlite3_bind_blob64(insert, 2, data, length, SQLITE_STATIC);
    }
    if (result == SQLITE_OK)
        sqlite3_step(insert);
    const int finalized = sqlite3_finalize(insert);
    return result == SQLITE_OK ? finalized : result;
}

static int put_directory(sqlite3 *database, const struct writer_directory *directory)
{
    if (directory->rows == 0)
        return SQLITE_OK;
    packed_put(directory->data, directory->rows, 8);
    return writer_packed_put_array(
        database, PACKED_DIRECTORY, directory->data,
        packed_directory_length(packed_directory_chunks(directory->rows)));
}

/* Stores the length of arrays by the ids of a table. 0 if they are not dense: then there is no
 * array, and readers say what is wrong with the table. */
static int count_ids(sqlite3 *database, const char *sql, uint64_t *count)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    *count = 0;
    if (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const int64_t rows = sqlite3_column_int64(query, 0);
        const int64_t least = sqlite3_column_int64(query, 1);
        const int64_t largest = sqlite3_column_int64(query, 2);
        if (least >= 0 && session_id_possible((uint64_t)largest, (uint64_t)rows))
            *count = (uint64_t)largest + 1;
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

/* An array that is filled from a query, whose first value is an id. */
struct part {
    int value;     /* of the query */
    unsigned size; /* bytes of an element */
    uint8_t *data;
};

static int fill(sqlite3 *database, const char *sql, uint64_t count, struct part *parts,
                size_t part_count)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const uint64_t id = (uint64_t)sqlite3_column_int64(query, 0);
        for (size_t i = 0; id < count && i < part_count; i++)
            packed_put(parts[i].data + id * parts[i].size,
                       (uint64_t)sqlite3_column_int64(query, parts[i].value), parts[i].size);
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

static int put_stacks(sqlite3 *database)
{
    static const int ids[] = {PACKED_STACK_FUNCTION,    PACKED_STACK_CALL_SITE, PACKED_STACK_STATE,
                              PACKED_STACK_ALLOCATIONS, PACKED_STACK_BYTES,     PACKED_STACK_NODE};
    static const unsigned sizes[] = {4, 4, 1, 8, 8, 4};
    enum { ARRAYS = sizeof(ids) / sizeof(*ids) };
    struct part parts[ARRAYS];
    uint64_t count;
    int result = count_ids(
        database, "SELECT count(*), ifnull(min(id), 0), ifnull(max(id), 0) FROM stack", &count);
    if (result != SQLITE_OK || count == 0)
        return result;
    uint8_t *data = calloc(count, 4 + 4 + 1 + 8 + 8 + 4);
    if (!data)
        return SQLITE_NOMEM;
    uint8_t *at = data;
    for (int i = 0; i < ARRAYS; i++) {
        parts[i] = (struct part){i + 1, sizes[i], at};
        at += count * sizes[i];
    }
    result = fill(database, packed_stacks_sql, count, parts, ARRAYS);
    for (int i = 0; i < ARRAYS && result == SQLITE_OK; i++)
        result = writer_packed_put_array(database, ids[i], parts[i].data, count * sizes[i]);
    free(data);
    return result;
}

/* Makes the records of stacks that held memory. Stores how many there are. */
static int make_held(sqlite3 *database, uint8_t **data, uint64_t *count)
{
    sqlite3_stmt *query = NULL;
    uint64_t capacity = 0;
    int result = sqlite3_prepare_v2(database, packed_held_sql, -1, &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        if (*count == capacity) {
            capacity = capacity * 2 + 256;
            uint8_t *more = realloc(*data, capacity * PACKED_HELD_SIZE);
            if (!more) {
                result = SQLITE_NOMEM;
                break;
            }
            *data = more;
        }
        uint8_t *at = *data + (*count)++ * PACKED_HELD_SIZE;
        packed_put(at, (uint64_t)sqlite3_column_int64(query, 0), 4);
        at += PACKED_HELD_LIVE_COUNT;
        for (int i = 1; i <= 4; i++, at += 8)
            packed_put(at, (uint64_t)sqlite3_column_int64(query, i), 8);
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

static int put_held(sqlite3 *database)
{
    uint8_t *data = NULL;
    uint64_t count = 0;
    int result = make_held(database, &data, &count);
    if (result == SQLITE_OK && count > 0)
        result =
            writer_packed_put_array(database, PACKED_STACK_HELD, data, count * PACKED_HELD_SIZE);
    free(data);
    return result;
}

static int put_frames(sqlite3 *database)
{
    uint64_t count;
    int result = count_ids(
        database, "SELECT count(*), ifnull(min(id), 0), ifnull(max(id), 0) FROM frame", &count);
    if (result != SQLITE_OK || count == 0)
        return result;
    uint8_t *data = calloc(count, PACKED_FRAME_SIZE);
    if (!data)
        return SQLITE_NOMEM;
    struct part parts[6] = {{.value = 0}};
    uint8_t *at = data;
    for (int i = 0; i < 6; i++) {
        parts[i] = (struct part){i + 1, i == 0 ? 8 : i == 5 ? 1 : 4, at};
        at += count * parts[i].size;
    }
    result = fill(database, packed_frames_sql, count, parts, 6);
    if (result == SQLITE_OK)
        result = writer_packed_put_array(database, PACKED_FRAMES, data, count * PACKED_FRAME_SIZE);
    free(data);
    return result;
}

int writer_packed_put(sqlite3 *database, const struct writer_directory *directory)
{
    int result = put_directory(database, directory);
    if (result == SQLITE_OK)
        result = put_stacks(database);
    if (result == SQLITE_OK)
        result = put_held(database);
    return result == SQLITE_OK ? put_frames(database) : result;
}
