/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/column_directory.h"

#include <stdio.h>
#include <stdlib.h>

#include "schemas/packed_array.h"
#include "session/data/database.h"
#include "session/data/error.h"

/* Makes room for chunks. Their columns are not present. */
static bool reserve(struct column_store *store, uint64_t chunks, struct session_error *error)
{
    if (chunks > UINT32_MAX)
        return session_fail_memory(error, "the directory of column chunks");
    struct column_entry *entries =
        realloc(store->entries, (size_t)chunks * COLUMN_TOTAL * sizeof(*entries));
    if (entries)
        store->entries = entries;
    struct column_frees *frees = realloc(store->frees, (size_t)chunks * sizeof(*frees));
    if (frees)
        store->frees = frees;
    if (!entries || !frees)
        return session_fail_memory(error, "the directory of column chunks");
    for (size_t i = (size_t)store->capacity * COLUMN_TOTAL; i < (size_t)chunks * COLUMN_TOTAL; i++)
        entries[i] = (struct column_entry){.present = false};
    store->capacity = (uint32_t)chunks;
    return true;
}

/* ---- from the packed array ---- */

struct last_chunk {
    int64_t id, rows;
};

static bool read_last(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    *(struct last_chunk *)context =
        (struct last_chunk){database_number(row, 0), database_number(row, 1)};
    return true;
}

/* Returns true if an array of so many bytes is a directory of so many rows, and of this table. */
static bool fits(uint64_t rows, size_t length, const struct last_chunk *last)
{
    const uint64_t chunks = packed_directory_chunks(rows);
    return rows > 0 && chunks <= UINT32_MAX && length == packed_directory_length(chunks) &&
           last->id == (int64_t)(chunks - 1) * COLUMN_ID_STRIDE + COLUMN_TOTAL - 1 &&
           last->rows == (int64_t)(rows - (chunks - 1) * COLUMN_CHUNK_ROWS);
}

/* Returns false if a smallest value is above the largest, or no data has such a length. */
static bool unpack_chunks(struct column_store *store, const uint8_t *data)
{
    for (uint32_t chunk = 0; chunk < store->chunks; chunk++) {
        const uint8_t *at = data + packed_directory_chunk(chunk);
        store->frees[chunk] = (struct column_frees){packed_get64(at), packed_get64(at + 8)};
        for (unsigned column = 0; column < COLUMN_TOTAL; column++) {
            const uint8_t *values = at + packed_directory_column(column);
            struct column_entry *entry = column_store_entry(store, chunk, (enum column)column);
            entry->min = packed_get64(values);
            entry->max = packed_get64(values + 8);
            entry->length = packed_get32(values + 16);
            entry->width = (uint8_t)column_width(entry->max - entry->min);
            entry->present = true;
            if (entry->min > entry->max ||
                !column_length_possible(entry->length, column_store_chunk_rows(store, chunk),
                                        entry->width))
                return false;
        }
    }
    return true;
}

bool column_directory_unpack(struct column_store *store, bool *found, struct session_error *error)
{
    uint8_t *data;
    size_t length;
    struct last_chunk last = {-1, 0};
    *found = false;
    if (!database_packed_array(store->database, PACKED_DIRECTORY, &data, &length, error))
        return false;
    bool good = !data || database_each(store->database,
                                       "SELECT id, rows FROM column_chunk ORDER BY id DESC LIMIT 1",
                                       read_last, &last, error);
    if (good && data && length >= PACKED_DIRECTORY_HEAD &&
        fits(packed_get64(data), length, &last)) {
        store->rows = packed_get64(data);
        const uint64_t chunks = packed_directory_chunks(store->rows);
        good = reserve(store, chunks, error);
        store->chunks = good ? (uint32_t)chunks : 0;
        *found = good && unpack_chunks(store, data);
    }
    if (!*found)
        store->rows = store->chunks = 0;
    free(data);
    return good;
}

/* ---- from the rows of column_chunk ---- */

/* Returns what is wrong with a row, NULL if it is good. Rows come by id. */
static const char *fault(const struct column_store *store, const struct database_row *row)
{
    const int64_t id = database_number(row, 0), rows = database_number(row, 1);
    const int64_t width = database_number(row, 2);
    const uint64_t min = (uint64_t)database_number(row, 3);
    const uint64_t max = (uint64_t)database_number(row, 4);
    const uint64_t before = store->chunks == 0 ? 0 : (uint64_t)(store->chunks - 1);
    const int64_t chunk = id / COLUMN_ID_STRIDE;
    if (id < 0 || id % COLUMN_ID_STRIDE >= COLUMN_TOTAL)
        return "no such column";
    /* A chunk other than the last one or the next leaves a gap. */
    if (chunk != store->chunks && chunk + 1 != store->chunks)
        return "a chunk before it is missing";
    if (rows < 1 || rows > (int64_t)COLUMN_CHUNK_ROWS)
        return "its number of rows";
    if (chunk < store->chunks ? store->rows != before * COLUMN_CHUNK_ROWS + (uint64_t)rows
                              : store->rows != store->chunks * (uint64_t)COLUMN_CHUNK_ROWS)
        return "its number of rows";
    if (min > max || width != (int64_t)column_width(max - min))
        return "its width";
    if (!column_length_possible((uint64_t)database_number(row, 5), (size_t)rows, (unsigned)width))
        return "the length of its data";
    return NULL;
}

static bool collect_row(void *context, const struct database_row *row, struct session_error *error)
{
    struct column_store *store = context;
    const int64_t id = database_number(row, 0);
    const char *what = fault(store, row);
    if (what)
        return column_store_damaged(store, id, what, error);
    const uint32_t chunk = (uint32_t)(id / COLUMN_ID_STRIDE);
    if (chunk == store->capacity && !reserve(store, chunk * UINT64_C(2) + 64, error))
        return false;
    if (chunk == store->chunks) {
        store->chunks++;
        store->rows += (uint64_t)database_number(row, 1);
    }
    struct column_entry *entry =
        column_store_entry(store, chunk, (enum column)(id % COLUMN_ID_STRIDE));
    entry->min = (uint64_t)database_number(row, 3);
    entry->max = (uint64_t)database_number(row, 4);
    entry->length = (uint32_t)database_number(row, 5);
    entry->width = (uint8_t)database_number(row, 2);
    entry->present = true;
    return true;
}

/* The blocks of a chunk were freed between its first allocation and the end of the longest life
 * after its last one. */
static struct column_frees free_bounds(const struct column_store *store, uint32_t chunk)
{
    const uint64_t begin = column_store_max(store, chunk, COLUMN_ALLOC_NS);
    const uint64_t life = column_store_max(store, chunk, COLUMN_LIFE_NS);
    const bool all = column_store_min(store, chunk, COLUMN_LIFE_NS) > 0;
    return (struct column_frees){
        life == 0 ? UINT64_MAX : column_store_min(store, chunk, COLUMN_ALLOC_NS),
        !all || life - 1 > UINT64_MAX - begin ? UINT64_MAX : begin + life - 1};
}

bool column_directory_collect(struct column_store *store, struct session_error *error)
{
    char sql[100];
    snprintf(sql, sizeof(sql), "SELECT id, rows, width, min, max, length(data) FROM %s ORDER BY id",
             store->table);
    if (!database_each(store->database, sql, collect_row, store, error))
        return false;
    for (uint32_t chunk = 0; chunk < store->chunks; chunk++) {
        for (int column = 0; column < COLUMN_TOTAL; column++)
            if (!column_store_entry(store, chunk, (enum column)column)->present)
                return column_store_damaged(store, (int64_t)chunk * COLUMN_ID_STRIDE + column,
                                            "missing", error);
        store->frees[chunk] = free_bounds(store, chunk);
    }
    return true;
}
