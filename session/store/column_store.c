/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/column_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "schemas/packed_array.h"
#include "session/store/database.h"
#include "session/store/error.h"

/* Returns false with `error` set to what is wrong with row `id` of column_chunk. */
static bool column_store_damaged(const struct column_store *store, int64_t id, const char *what,
                                 struct session_error *error)
{
    return session_fail(error, 0, "%s: column chunk %lld is damaged: %s; ingest the trace again",
                        database_path(store->database), (long long)id, what);
}

/* ---- column directory ---- */

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

/* Fills the directory of an empty store from the packed array, which is one read. Stores in
 * `*found` if that exists and fits the table. Returns false with `error` set. */
static bool column_directory_unpack(struct column_store *store, bool *found,
                                    struct session_error *error)
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

/* Fills the directory of an empty store from the rows of column_chunk. False with `error` set. */
static bool column_directory_collect(struct column_store *store, struct session_error *error)
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

/* ---- the store ---- */

/* Prepares direct reading. */
static void open_direct(struct column_store *store)
{
    const uint32_t root = database_direct_root(store->database, store->table);
    if (root == 0)
        return;
    store->direct = big_rows_open(database_path(store->database), root);
    if (store->direct && database_changed(store->database)) {
        big_rows_close(store->direct); /* another file has taken its name */
        store->direct = NULL;
    }
}

static struct column_store *open_table(struct database *database, const char *table,
                                       struct session_error *error)
{
    struct column_store *store = calloc(1, sizeof(*store));
    if (!store)
        return session_fail_memory_null(error, "the column chunks");
    store->database = database;
    store->table = table;
    return store;
}

struct column_store *column_store_open(struct database *database, struct session_error *error)
{
    struct column_store *store = open_table(database, "column_chunk", error);
    bool found;
    if (!store)
        return NULL;
    if (!column_directory_unpack(store, &found, error) ||
        (!found && !column_directory_collect(store, error))) {
        column_store_close(store);
        return NULL;
    }
    open_direct(store);
    return store;
}

struct column_store *column_store_open_sample(struct database *database,
                                              struct session_error *error)
{
    struct column_store *store = open_table(database, "sample_chunk", error);
    if (!store)
        return NULL;
    if (!column_directory_collect(store, error)) {
        column_store_close(store);
        return NULL;
    }
    open_direct(store);
    return store;
}

void column_store_close(struct column_store *store)
{
    if (!store)
        return;
    big_rows_close(store->direct);
    FREE_ALL(store->entries, store->frees, store);
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
    return chunk + 1 < store->chunks
               ? COLUMN_CHUNK_ROWS
               : (uint32_t)(store->rows - (uint64_t)chunk * COLUMN_CHUNK_ROWS);
}

uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->min;
}

uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->max;
}

size_t column_store_length(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->length;
}

uint64_t column_store_first_free(const struct column_store *store, uint32_t chunk)
{
    return store->frees[chunk].first;
}

uint64_t column_store_last_free(const struct column_store *store, uint32_t chunk)
{
    return store->frees[chunk].last;
}

struct column_reads column_store_reads(const struct column_store *store)
{
    return (struct column_reads){
        .direct = atomic_load_explicit(&store->direct_reads, memory_order_relaxed),
        .by_sqlite = atomic_load_explicit(&store->sqlite_reads, memory_order_relaxed),
        .bytes = atomic_load_explicit(&store->bytes, memory_order_relaxed),
    };
}

/* ---- column reader ---- */

/* Reads chunks: one buffer for each column. */

/* ---- values ----------------------------------------------------------------------------- */

#define INLINE COLUMN_INLINE

/* Returns the bytes of the values of a view whose max - min needs `width` bytes: 0, 1, 2, 4 or 8.
 */
static unsigned column_view_width(unsigned width)
{
    static const uint8_t widths[] = {0, 1, 2, 4, 4, 8, 8, 8, 8};
    return widths[width];
}

/* Returns the bytes that a view's data needs. */
static size_t column_view_length(uint32_t rows, unsigned width)
{
    return column_batches(rows) * COLUMN_BATCH_ROWS * width + COLUMN_PADDING;
}

/* subtract32() and subtract64() turn ends into beginnings: they subtract the lifetimes of a batch's
 * rows. A lifetime of 0 is that of a block which was never freed, and nothing is subtracted. */
#define SUBTRACT_OF(name, type, life_type)                                                         \
    typedef type name##_value;                                                                     \
    INLINE void name(name##_value *values, const uint8_t *data, size_t rows, type above,           \
                     type none)                                                                    \
    {                                                                                              \
        for (size_t i = 0; i < rows; i++) {                                                        \
            life_type life;                                                                        \
            memcpy(&life, data + i * sizeof(life), sizeof(life));                                  \
            values[i] -= (type)life + above + (life == 0 ? none : 0);                              \
        }                                                                                          \
    }
#define SUBTRACT(name, type)                                                                       \
    SUBTRACT_OF(name##_8, type, uint8_t)                                                           \
    SUBTRACT_OF(name##_16, type, uint16_t)                                                         \
    SUBTRACT_OF(name##_32, type, uint32_t)                                                         \
    SUBTRACT_OF(name##_64, type, uint64_t)                                                         \
    typedef type name##_value;                                                                     \
    INLINE void name(name##_value *values, const struct column_view *life, size_t first,           \
                     size_t rows)                                                                  \
    {                                                                                              \
        const type above = (type)(life->min - 1), none = life->min == 0;                           \
        const uint8_t *data = life->width == 0 ? NULL : life->data + first * life->width;          \
        for (size_t i = 0; life->width == 0 && i < rows; i++)                                      \
            values[i] -= above + none;                                                             \
        if (life->width == 1)                                                                      \
            name##_8(values, data, rows, above, none);                                             \
        else if (life->width == 2)                                                                 \
            name##_16(values, data, rows, above, none);                                            \
        else if (life->width == 4)                                                                 \
            name##_32(values, data, rows, above, none);                                            \
        else if (life->width == 8)                                                                 \
            name##_64(values, data, rows, above, none);                                            \
    }
SUBTRACT(subtract32, uint32_t)
SUBTRACT(subtract64, uint64_t)

/* Stores the low `width` (1 or 2) bytes of the values of a batch. */
INLINE void store_narrow(const uint32_t *from, unsigned width, size_t rows, uint8_t *to)
{
    for (size_t i = 0; width == 1 && i < rows; i++)
        to[i] = (uint8_t)from[i];
    for (size_t i = 0; width == 2 && i < rows; i++) {
        const uint16_t value = (uint16_t)from[i];
        memcpy(to + i * 2, &value, 2);
    }
}

/* `values` has room for whole batches, and begins where a malloc() did, so it is aligned. */
INLINE bool unpack_body(const uint8_t *data, size_t length, const struct column_view *life,
                        const struct column_view *view, uint8_t *values)
{
    struct column_places places;
    uint32_t narrow[COLUMN_BATCH_ROWS];
    const size_t batches = column_batches(view->rows);
    bool good = column_find_batches(data, length, view->rows, &places);
    for (size_t i = 0; good && i < batches; i++) {
        const size_t first = i * COLUMN_BATCH_ROWS, rows = column_batch_rows(view->rows, i);
        uint8_t *to = values + first * view->width;
        if (view->width == 8) {
            uint64_t *wide = (void *)to;
            good = column_batch_get64(&places.batch[i], places.body[i], rows, -view->min, wide);
            if (life)
                subtract64(wide, life, first, rows);
            continue;
        }
        uint32_t *small = view->width == 4 ? (void *)to : narrow;
        good =
            column_batch_get32(&places.batch[i], places.body[i], rows, -(uint32_t)view->min, small);
        if (life)
            subtract32(small, life, first, rows);
        store_narrow(small, view->width, rows, to);
    }
    return good;
}

#define LARGEST_OF(name, type)                                                                     \
    INLINE uint64_t name(const uint8_t *data, uint32_t rows)                                       \
    {                                                                                              \
        type largest = 0, value;                                                                   \
        for (uint32_t row = 0; row < rows; row++) {                                                \
            memcpy(&value, data + (size_t)row * sizeof(value), sizeof(value));                     \
            largest = value > largest ? value : largest;                                           \
        }                                                                                          \
        return largest;                                                                            \
    }
LARGEST_OF(largest_8, uint8_t)
LARGEST_OF(largest_16, uint16_t)
LARGEST_OF(largest_32, uint32_t)
LARGEST_OF(largest_64, uint64_t)

INLINE uint64_t largest_body(const struct column_view *view)
{
    switch (view->width) {
    case 1:
        return largest_8(view->data, view->rows);
    case 2:
        return largest_16(view->data, view->rows);
    case 4:
        return largest_32(view->data, view->rows);
    default:
        return largest_64(view->data, view->rows);
    }
}

#if defined(__x86_64__)
static __attribute__((noinline, target("avx2,bmi2"))) bool
unpack_avx2(const uint8_t *data, size_t length, const struct column_view *life,
            const struct column_view *view, uint8_t *values)
{
    return unpack_body(data, length, life, view, values);
}

static __attribute__((noinline, target("avx2"))) uint64_t
largest_avx2(const struct column_view *view)
{
    return largest_body(view);
}
#endif

static __attribute__((noinline)) bool unpack_plain(const uint8_t *data, size_t length,
                                                   const struct column_view *life,
                                                   const struct column_view *view, uint8_t *values)
{
    return unpack_body(data, length, life, view, values);
}

static __attribute__((noinline)) uint64_t largest_plain(const struct column_view *view)
{
    return largest_body(view);
}

/* Unpacks the data of a chunk, and stores its values minus view->min in `values`, which has
 * column_view_length() bytes. `life`: of the column alloc_ns the lifetimes, otherwise NULL. Returns
 * false if the data is damaged. */
static bool column_values_unpack(const uint8_t *data, size_t length, const struct column_view *life,
                                 const struct column_view *view, uint8_t *values)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return unpack_avx2(data, length, life, view, values);
#endif
    return unpack_plain(data, length, life, view, values);
}

/* Returns the largest of the stored values of a view that has some. */
static uint64_t column_values_largest(const struct column_view *view)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return largest_avx2(view);
#endif
    return largest_plain(view);
}

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
    if (!reader)
        return session_fail_memory_null(error, "a reader of column chunks");
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
    FREE_ALL(reader->packed, reader->leaf.page, reader);
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
