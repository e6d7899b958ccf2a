/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/column_store.h"

#include <stdlib.h>

#include "session/data/column_directory.h"
#include "session/data/database.h"
#include "session/data/error.h"

bool column_store_damaged(const struct column_store *store, int64_t id, const char *what,
                          struct session_error *error)
{
    return session_fail(error, 0, "%s: column chunk %lld is damaged: %s: ingest the trace again",
                        database_path(store->database), (long long)id, what);
}

static bool directory_grow(struct column_store *store, uint32_t chunk, struct session_error *error)
{
    if (chunk < store->capacity)
        return true;
    const uint32_t capacity = store->capacity == 0 ? 64 : store->capacity * 2;
    struct column_entry *entries =
        realloc(store->entries, (size_t)capacity * COLUMN_TOTAL * sizeof(*entries));
    if (entries)
        store->entries = entries;
    uint32_t *chunk_rows = realloc(store->chunk_rows, (size_t)capacity * sizeof(*chunk_rows));
    if (chunk_rows)
        store->chunk_rows = chunk_rows;
    if (!entries || !chunk_rows)
        return session_fail_memory(error, "the directory of column chunks");
    for (size_t i = (size_t)store->capacity * COLUMN_TOTAL; i < (size_t)capacity * COLUMN_TOTAL;
         i++)
        entries[i] = (struct column_entry){.present = false};
    store->capacity = capacity;
    return true;
}

static bool directory_row(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct column_store *store = context;
    int64_t id = database_number(row, 0);
    int64_t rows = database_number(row, 1);
    int64_t width = database_number(row, 2);
    uint64_t min = (uint64_t)database_number(row, 3);
    uint64_t max = (uint64_t)database_number(row, 4);
    if (id < 0 || id % COLUMN_ID_STRIDE >= COLUMN_TOTAL)
        return column_store_damaged(store, id, "no such column", error);
    int64_t chunk = id / COLUMN_ID_STRIDE;
    const bool new = chunk == store->chunks;
    /* Rows come by id: a chunk other than the last one or the next leaves a gap. */
    if (!new &&chunk + 1 != store->chunks)
        return column_store_damaged(store, id, "a chunk before it is missing", error);
    if (rows < 1 || rows > (int64_t)COLUMN_CHUNK_ROWS || (!new &&rows != store->chunk_rows[chunk]))
        return column_store_damaged(store, id, "its number of rows", error);
    if (min > max || width != (int64_t)column_width(max - min))
        return column_store_damaged(store, id, "its width", error);
    if ((uint64_t)database_number(row, 5) != column_data_length((size_t)rows, (unsigned)width))
        return column_store_damaged(store, id, "the length of its data", error);
    if (!directory_grow(store, (uint32_t)chunk, error))
        return false;
    store->chunks = (uint32_t)chunk + 1;
    store->chunk_rows[chunk] = (uint32_t)rows;
    struct column_entry *entry =
        column_store_entry(store, (uint32_t)chunk, (enum column)(id % COLUMN_ID_STRIDE));
    entry->min = min;
    entry->max = max;
    entry->width = (uint8_t)width;
    entry->present = true;
    return true;
}

static bool directory_check(struct column_store *store, struct session_error *error)
{
    for (uint32_t chunk = 0; chunk < store->chunks; chunk++) {
        for (int column = 0; column < COLUMN_TOTAL; column++)
            if (!column_store_entry(store, chunk, (enum column)column)->present)
                return column_store_damaged(store, (int64_t)chunk * COLUMN_ID_STRIDE + column,
                                            "missing", error);
        if (chunk + 1 < store->chunks && store->chunk_rows[chunk] != COLUMN_CHUNK_ROWS)
            return column_store_damaged(store, (int64_t)chunk * COLUMN_ID_STRIDE,
                                        "its number of rows", error);
        store->rows += store->chunk_rows[chunk];
    }
    return true;
}

static bool read_root(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    const int64_t page = database_number(row, 0);
    *(uint32_t *)context = page > 0 && page <= UINT32_MAX ? (uint32_t)page : 0;
    return true;
}

/* Prepares direct reading. A session that may still be written is read through SQLite. */
static bool open_direct(struct column_store *store, struct session_error *error)
{
    uint32_t root = 0;
    if (database_logged(store->database))
        return true;
    if (!database_each(store->database,
                       "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = "
                       "'column_chunk'",
                       read_root, &root, error))
        return false;
    store->direct = big_rows_open(database_path(store->database), root);
    if (store->direct && database_changed(store->database)) {
        big_rows_close(store->direct); /* another file has taken its name */
        store->direct = NULL;
    }
    return true;
}

struct column_store *column_store_open(struct database *database, struct session_error *error)
{
    struct column_store *store = calloc(1, sizeof(*store));
    if (!store) {
        session_fail_memory(error, "the column chunks");
        return NULL;
    }
    store->database = database;
    if (!database_each(database,
                       "SELECT id, rows, width, min, max, length(data) FROM column_chunk "
                       "ORDER BY id",
                       directory_row, store, error) ||
        !directory_check(store, error) || !open_direct(store, error)) {
        column_store_close(store);
        return NULL;
    }
    return store;
}

void column_store_close(struct column_store *store)
{
    if (!store)
        return;
    big_rows_close(store->direct);
    free(store->entries);
    free(store->chunk_rows);
    free(store);
}

uint64_t column_store_rows(const struct column_store *store)
{
    return store->rows;
}

uint32_t column_store_chunks(const struct column_store *store)
{
    return store->chunks;
}

uint32_t column_store_chunk_rows(const struct column_store *store, uint32_t chunk)
{
    return store->chunk_rows[chunk];
}

uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->min;
}

uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->max;
}

uint64_t column_store_first_free(const struct column_store *store, uint32_t chunk)
{
    return column_store_min(store, chunk, COLUMN_ALLOC_NS);
}

/* Adds the longest life to the last allocation, if all blocks were freed. */
uint64_t column_store_last_free(const struct column_store *store, uint32_t chunk)
{
    const uint64_t begin = column_store_max(store, chunk, COLUMN_ALLOC_NS);
    const uint64_t life = column_store_max(store, chunk, COLUMN_LIFE_NS);
    const bool all_freed = column_store_min(store, chunk, COLUMN_LIFE_NS) > 0;
    return !all_freed || life - 1 > UINT64_MAX - begin ? UINT64_MAX : begin + life - 1;
}

struct column_reads column_store_reads(const struct column_store *store)
{
    return (struct column_reads){
        .direct = atomic_load_explicit(&store->direct_reads, memory_order_relaxed),
        .by_sqlite = atomic_load_explicit(&store->sqlite_reads, memory_order_relaxed),
        .bytes = atomic_load_explicit(&store->bytes, memory_order_relaxed),
    };
}
