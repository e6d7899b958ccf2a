/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/column_store.h"

#include <stdlib.h>

#include "session/data/database.h"
#include "session/data/error.h"

/* One chunk of one column. The chunks in memory form a list, the most recently used first. */
struct entry {
    uint64_t min, max;
    uint8_t *data;
    uint32_t rows;
    uint8_t width;
    bool present;
    struct entry *newer, *older;
};

struct column_store {
    struct database *database;
    struct entry *entries; /* chunk * COLUMN_TOTAL + column */
    uint32_t chunks, capacity;
    uint64_t rows;
    size_t held, budget;
    uint64_t reads;
    struct entry *newest, *oldest;
};

static size_t entry_length(const struct entry *entry)
{
    return column_data_length(entry->rows, entry->width);
}

static bool store_damaged(const struct column_store *store, int64_t id, const char *what,
                          struct session_error *error)
{
    return session_fail(error, 0, "%s: column chunk %lld is damaged: %s: ingest the trace again",
                        database_path(store->database), (long long)id, what);
}

static bool directory_grow(struct column_store *store, uint32_t chunk, struct session_error *error)
{
    if (chunk < store->capacity)
        return true;
    uint32_t capacity = store->capacity == 0 ? 64 : store->capacity * 2;
    struct entry *entries =
        realloc(store->entries, (size_t)capacity * COLUMN_TOTAL * sizeof(*entries));
    if (!entries)
        return session_fail_memory(error, "the directory of column chunks");
    for (size_t i = (size_t)store->capacity * COLUMN_TOTAL; i < (size_t)capacity * COLUMN_TOTAL;
         i++)
        entries[i] = (struct entry){.present = false};
    store->entries = entries;
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
        return store_damaged(store, id, "no such column", error);
    int64_t chunk = id / COLUMN_ID_STRIDE;
    /* Rows come by id: a chunk other than the last one or the next leaves a gap. */
    if (chunk != store->chunks && chunk + 1 != store->chunks)
        return store_damaged(store, id, "a chunk before it is missing", error);
    if (rows < 1 || rows > (int64_t)COLUMN_CHUNK_ROWS)
        return store_damaged(store, id, "its number of rows", error);
    if (min > max || width != (int64_t)column_width(max - min))
        return store_damaged(store, id, "its width", error);
    if ((uint64_t)database_number(row, 5) != column_data_length((size_t)rows, (unsigned)width))
        return store_damaged(store, id, "the length of its data", error);
    if (!directory_grow(store, (uint32_t)chunk, error))
        return false;
    store->chunks = (uint32_t)chunk + 1;
    store->entries[chunk * COLUMN_TOTAL + id % COLUMN_ID_STRIDE] = (struct entry){
        .min = min, .max = max, .rows = (uint32_t)rows, .width = (uint8_t)width, .present = true};
    return true;
}

static bool directory_check(struct column_store *store, struct session_error *error)
{
    for (uint32_t chunk = 0; chunk < store->chunks; chunk++) {
        const struct entry *first = &store->entries[(size_t)chunk * COLUMN_TOTAL];
        for (int column = 0; column < COLUMN_TOTAL; column++) {
            int64_t id = (int64_t)chunk * COLUMN_ID_STRIDE + column;
            if (!first[column].present)
                return store_damaged(store, id, "missing", error);
            if (first[column].rows != first->rows ||
                (chunk + 1 < store->chunks && first[column].rows != COLUMN_CHUNK_ROWS))
                return store_damaged(store, id, "its number of rows", error);
        }
        store->rows += first->rows;
    }
    return true;
}

struct column_store *column_store_open(struct database *database, size_t budget,
                                       struct session_error *error)
{
    struct column_store *store = calloc(1, sizeof(*store));
    if (!store) {
        session_fail_memory(error, "the column chunks");
        return NULL;
    }
    /* Twice the size of all columns of one chunk at full width: views stay valid for a scan. */
    size_t least = (size_t)2 * COLUMN_TOTAL * column_data_length(COLUMN_CHUNK_ROWS, 8);
    store->database = database;
    store->budget = budget > least ? budget : least;
    if (!database_each(database,
                       "SELECT id, rows, width, min, max, length(data) FROM column_chunk "
                       "ORDER BY id",
                       directory_row, store, error) ||
        !directory_check(store, error)) {
        column_store_close(store);
        return NULL;
    }
    return store;
}

void column_store_close(struct column_store *store)
{
    if (!store)
        return;
    for (struct entry *entry = store->newest; entry; entry = entry->older)
        free(entry->data);
    free(store->entries);
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

static struct entry *store_entry(const struct column_store *store, uint32_t chunk,
                                 enum column column)
{
    return &store->entries[(size_t)chunk * COLUMN_TOTAL + column];
}

uint32_t column_store_chunk_rows(const struct column_store *store, uint32_t chunk)
{
    return store_entry(store, chunk, COLUMN_ADDRESS)->rows;
}

uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column)
{
    return store_entry(store, chunk, column)->min;
}

uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column)
{
    return store_entry(store, chunk, column)->max;
}

static void list_remove(struct column_store *store, struct entry *entry)
{
    *(entry->newer ? &entry->newer->older : &store->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &store->oldest) = entry->newer;
}

static void list_push(struct column_store *store, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = store->newest;
    *(store->newest ? &store->newest->newer : &store->oldest) = entry;
    store->newest = entry;
}

static void store_evict(struct column_store *store, size_t wanted)
{
    while (store->oldest && store->held + wanted > store->budget) {
        struct entry *entry = store->oldest;
        list_remove(store, entry);
        store->held -= entry_length(entry);
        free(entry->data);
        entry->data = NULL;
    }
}

static bool values_in_range(const struct entry *entry)
{
    uint64_t range = entry->max - entry->min;
    uint64_t mask = column_mask(entry->width);
    uint64_t largest = 0;
    for (uint32_t row = 0; row < entry->rows; row++) {
        uint64_t value = column_get(entry->data, entry->width, mask, 0, row);
        largest = value > largest ? value : largest;
    }
    return largest <= range;
}

static bool store_read(struct column_store *store, struct entry *entry, int64_t id,
                       struct session_error *error)
{
    size_t length = entry_length(entry);
    store_evict(store, length);
    entry->data = malloc(length);
    if (!entry->data)
        return session_fail_memory(error, "a column chunk");
    bool good = database_chunk(store->database, id, entry->data, length, error) &&
                (values_in_range(entry) || store_damaged(store, id, "a value out of range", error));
    if (!good) {
        free(entry->data);
        entry->data = NULL;
        return false;
    }
    store->held += length;
    store->reads++;
    list_push(store, entry);
    return true;
}

bool column_store_get(struct column_store *store, uint32_t chunk, enum column column,
                      struct column_view *view, struct session_error *error)
{
    struct entry *entry = store_entry(store, chunk, column);
    if (entry->width > 0 && !entry->data) {
        if (!store_read(store, entry, (int64_t)chunk * COLUMN_ID_STRIDE + column, error))
            return false;
    } else if (entry->width > 0 && store->newest != entry) {
        list_remove(store, entry);
        list_push(store, entry);
    }
    *view = (struct column_view){.data = entry->data,
                                 .min = entry->min,
                                 .max = entry->max,
                                 .mask = column_mask(entry->width),
                                 .width = entry->width,
                                 .rows = entry->rows};
    return true;
}

size_t column_store_held(const struct column_store *store)
{
    return store->held;
}

uint64_t column_store_reads(const struct column_store *store)
{
    return store->reads;
}
