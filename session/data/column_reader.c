/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads chunks: one buffer for each column. */
#include <stdlib.h>

#include "session/data/column_directory.h"
#include "session/data/column_values.h"
#include "session/data/database.h"
#include "session/data/error.h"

enum { NO_CHUNK = UINT32_MAX };

struct column_reader {
    struct column_store *store;
    struct big_rows_leaf leaf;
    uint8_t *packed; /* the data of a chunk as it lies in the file */
    size_t packed_size;
    struct {
        uint8_t *values;
        size_t size;
        uint32_t chunk; /* whose values they are, or NO_CHUNK */
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
        free(reader->column[column].values);
    free(reader->packed);
    free(reader->leaf.page);
    free(reader);
}

static bool grow(uint8_t **bytes, size_t *size, size_t length)
{
    if (*size >= length)
        return true;
    free(*bytes);
    *bytes = malloc(length);
    *size = *bytes ? length : 0;
    return *bytes != NULL;
}

/* Reads from the file, or if the chunk does not lie there as expected, through SQLite. */
static bool read_data(struct column_reader *reader, uint32_t chunk, enum column column,
                      struct session_error *error)
{
    struct column_store *store = reader->store;
    const struct column_entry *entry = column_store_entry(store, chunk, column);
    const int64_t id = (int64_t)chunk * COLUMN_ID_STRIDE + column;
    const int64_t numbers[BIG_ROW_NUMBERS] = {column_store_chunk_rows(store, chunk), entry->width,
                                              (int64_t)entry->min, (int64_t)entry->max};
    uint64_t bytes = 0;
    const bool direct =
        store->direct && big_rows_read(store->direct, &reader->leaf, (uint64_t)id, numbers,
                                       reader->packed, entry->length, &bytes);
    atomic_fetch_add_explicit(&store->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(direct ? &store->direct_reads : &store->sqlite_reads, 1,
                              memory_order_relaxed);
    return direct ||
           database_chunk(store->database, store->table, id, reader->packed, entry->length, error);
}

/* Describes the values of a chunk. */
static struct column_view make_view(const struct column_reader *reader, uint32_t chunk,
                                    enum column column)
{
    const struct column_entry *entry = column_store_entry(reader->store, chunk, column);
    const unsigned width = column_view_width(entry->width);
    return (struct column_view){.data = width > 0 ? reader->column[column].values : NULL,
                                .min = entry->min,
                                .max = entry->max,
                                .mask = column_mask(width),
                                .width = width,
                                .rows = column_store_chunk_rows(reader->store, chunk)};
}

static bool read_chunk(struct column_reader *reader, uint32_t chunk, enum column column,
                       struct session_error *error)
{
    struct column_entry *entry = column_store_entry(reader->store, chunk, column);
    const int64_t id = (int64_t)chunk * COLUMN_ID_STRIDE + column;
    struct column_view view = make_view(reader, chunk, column), life;
    /* The times of allocations follow from those of the ends. */
    if (column == COLUMN_ALLOC_NS &&
        !column_reader_get(reader, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    reader->column[column].chunk = NO_CHUNK;
    if (!grow(&reader->packed, &reader->packed_size, entry->length) ||
        !grow(&reader->column[column].values, &reader->column[column].size,
              column_view_length(view.rows, view.width)))
        return session_fail_memory(error, "a column chunk");
    if (!read_data(reader, chunk, column, error))
        return false;
    view.data = reader->column[column].values;
    if (!column_values_unpack(reader->packed, entry->length,
                              column == COLUMN_ALLOC_NS ? &life : NULL, &view,
                              reader->column[column].values))
        return column_store_damaged(reader->store, id, "its blocks", error);
    if (!atomic_load_explicit(&entry->checked, memory_order_relaxed)) {
        if (column_values_largest(&view) > entry->max - entry->min)
            return column_store_damaged(reader->store, id, "a value out of range", error);
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
    *view = make_view(reader, chunk, column);
    return true;
}
