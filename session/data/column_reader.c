/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads chunks: one buffer for each column. */
#include <stdlib.h>

#include "session/data/column_directory.h"
#include "session/data/column_largest.h"
#include "session/data/database.h"
#include "session/data/error.h"

enum { NO_CHUNK = UINT32_MAX };

struct column_reader {
    struct column_store *store;
    struct big_rows_leaf leaf;
    struct {
        uint8_t *data;
        size_t size;
        uint32_t chunk; /* whose values `data` holds, or NO_CHUNK */
    } column[COLUMN_TOTAL];
};

struct column_reader *column_reader_new(struct column_store *store, struct session_error *error)
{
    struct column_reader *reader = calloc(1, sizeof(*reader));
    if (!reader) {
        session_fail_memory(error, "a reader of column chunks");
        return NULL;
    }
    reader->store = store;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        reader->column[column].chunk = NO_CHUNK;
    return reader;
}

void column_reader_free(struct column_reader *reader)
{
    if (!reader)
        return;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        free(reader->column[column].data);
    free(reader->leaf.page);
    free(reader);
}

static bool grow(struct column_reader *reader, enum column column, size_t length)
{
    if (reader->column[column].size >= length)
        return true;
    free(reader->column[column].data);
    reader->column[column].data = malloc(length);
    reader->column[column].size = reader->column[column].data ? length : 0;
    return reader->column[column].data != NULL;
}

/* Reads from the file, or if the chunk does not lie there as expected, through SQLite. */
static bool read_data(struct column_reader *reader, uint32_t chunk, enum column column,
                      size_t length, struct session_error *error)
{
    struct column_store *store = reader->store;
    const struct column_entry *entry = column_store_entry(store, chunk, column);
    const int64_t id = (int64_t)chunk * COLUMN_ID_STRIDE + column;
    uint8_t *data = reader->column[column].data;
    const int64_t numbers[BIG_ROW_NUMBERS] = {column_store_chunk_rows(store, chunk), entry->width,
                                              (int64_t)entry->min, (int64_t)entry->max};
    uint64_t bytes = 0;
    const bool direct = store->direct && big_rows_read(store->direct, &reader->leaf, (uint64_t)id,
                                                       numbers, data, length, &bytes);
    atomic_fetch_add_explicit(&store->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(direct ? &store->direct_reads : &store->sqlite_reads, 1,
                              memory_order_relaxed);
    return direct || database_chunk(store->database, store->table, id, data, length, error);
}

static bool read_chunk(struct column_reader *reader, uint32_t chunk, enum column column,
                       struct session_error *error)
{
    struct column_store *store = reader->store;
    struct column_entry *entry = column_store_entry(store, chunk, column);
    const uint32_t rows = column_store_chunk_rows(store, chunk);
    const size_t length = column_data_length(rows, entry->width);
    reader->column[column].chunk = NO_CHUNK;
    if (!grow(reader, column, length))
        return session_fail_memory(error, "a column chunk");
    if (!read_data(reader, chunk, column, length, error))
        return false;
    if (!atomic_load_explicit(&entry->checked, memory_order_relaxed)) {
        if (column_largest(reader->column[column].data, rows, entry->width) >
            entry->max - entry->min)
            return column_store_damaged(store, (int64_t)chunk * COLUMN_ID_STRIDE + column,
                                        "a value out of range", error);
        atomic_store_explicit(&entry->checked, true, memory_order_relaxed);
    }
    reader->column[column].chunk = chunk;
    return true;
}

bool column_reader_get(struct column_reader *reader, uint32_t chunk, enum column column,
                       struct column_view *view, struct session_error *error)
{
    const struct column_entry *entry = column_store_entry(reader->store, chunk, column);
    if (entry->width > 0 && reader->column[column].chunk != chunk &&
        !read_chunk(reader, chunk, column, error))
        return false;
    *view = (struct column_view){.data = entry->width > 0 ? reader->column[column].data : NULL,
                                 .min = entry->min,
                                 .max = entry->max,
                                 .mask = column_mask(entry->width),
                                 .width = entry->width,
                                 .rows = column_store_chunk_rows(reader->store, chunk)};
    return true;
}
