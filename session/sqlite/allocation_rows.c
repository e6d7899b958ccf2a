/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/allocation_rows.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/large_memory.h"
#include "session/scan/scan.h"
#include "session/sqlite/allocation_filter.h"
#include "session/sqlite/allocation_groups.h"

size_t allocation_gathered_max = (size_t)8 << 20;

/* The way to a row's value of a column of v_allocation. */
struct reading {
    enum { READ_NOTHING, READ_PLAIN, READ_SHARED, READ_MADE } how;
    int column;                            /* of chunks: of the first two */
    const struct allocation_value *values; /* by id, of the second */
};

struct allocation_rows {
    struct session *session;
    struct allocation_columns *columns;
    struct column_reader *reader;
    struct allocation_filter *filter;
    uint64_t used;
    struct reading reading[ALLOCATION_COLUMNS];
    unsigned needs; /* columns of chunks, a bit for each, of which each row has a value */
    /* The rows that are ready: those of a batch as they are stored, or those of one group. The
     * present one has its values at `at`. */
    const struct allocation_array *from;
    uint64_t same[COLUMN_TOTAL]; /* the values that all of them have */
    unsigned has_same;           /* columns with such a value */
    size_t at, behind;
    /* The chunks that rows come from as they are stored. */
    bool streams;
    uint32_t chunk, chunks;
    size_t batch;
    struct allocation_chunk open;
    struct allocation_array stored[ALLOCATION_ARRAYS];
    bool keeps; /* only rows of the group before `next` */
    /* The groups. */
    struct allocation_groups *groups; /* NULL: rows come as they are stored */
    size_t next, gathered;            /* the next group, and the one after the gathered ones */
    size_t capacity;                  /* of the arrays of gathered rows, in rows */
    struct allocation_array arrays[ALLOCATION_ARRAYS];
    bool one; /* each group has one row */
};

/* ---- arrays ---- */

static void free_arrays(struct allocation_array arrays[ALLOCATION_ARRAYS])
{
    for (size_t i = 0; i < ALLOCATION_ARRAYS; i++) {
        free(arrays[i].values);
        arrays[i].values = NULL;
    }
}

/* Makes room for so many rows. Returns false with `error` set. */
static bool make_arrays(struct allocation_array arrays[ALLOCATION_ARRAYS], size_t count,
                        struct session_error *error)
{
    free_arrays(arrays);
    for (size_t i = 0; i < ALLOCATION_ARRAYS; i++) {
        if (arrays[i].width == 0)
            continue;
        arrays[i].values = large_memory(count * arrays[i].width);
        if (!arrays[i].values)
            return session_fail_memory(error, "the allocations");
    }
    return true;
}

static uint64_t array_at(const struct allocation_array *array, size_t at)
{
    return array->width == 4 ? ((const uint32_t *)array->values)[at]
                             : ((const uint64_t *)array->values)[at];
}

/* Returns the bytes of a number in gathered rows of a column of chunks. */
static unsigned width_of(const struct allocation_rows *rows, enum column column)
{
    uint64_t largest = 0;
    for (uint32_t chunk = 0; chunk < column_store_chunks(rows->session->columns); chunk++) {
        const uint64_t here = column_store_max(rows->session->columns, chunk, column);
        largest = here > largest ? here : largest;
    }
    return largest <= UINT32_MAX ? 4 : 8;
}

/* ---- rows as they are stored ---- */

/* Starts to read rows from the chunks. */
static bool stream(struct allocation_rows *rows, struct session_error *error)
{
    rows->streams = true;
    rows->from = rows->stored;
    rows->chunk = allocation_filter_first_chunk(rows->filter);
    rows->batch = 0;
    if (rows->stored[ALLOCATION_IDS].values)
        return true;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        rows->stored[column].width = (rows->needs >> column & 1) != 0 ? 8 : 0;
    rows->stored[ALLOCATION_IDS].width = 8;
    return make_arrays(rows->stored, KERNEL_ROWS, error);
}

static void take_batch(struct allocation_rows *rows, const struct kernel_rows *batch)
{
    uint64_t *ids = rows->stored[ALLOCATION_IDS].values;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if ((rows->needs >> column & 1) != 0)
            kernel_take(&rows->open.views[column], batch, rows->stored[column].values);
    }
    for (size_t i = 0; i < batch->count; i++)
        ids[i] = (uint64_t)rows->chunk * COLUMN_CHUNK_ROWS + batch->first + batch->row[i] + 1;
    rows->at = 0;
    rows->behind = batch->count;
}

/* Reads the next batch that has rows. There may be none: then the stream has ended. */
static bool next_batch(struct allocation_rows *rows, struct session_error *error)
{
    const unsigned needs = rows->needs | (rows->keeps ? allocation_groups_needs(rows->groups) : 0);
    struct kernel_rows batch;
    for (; rows->chunk < rows->chunks; rows->chunk++, rows->batch = 0) {
        if (rows->batch == 0 && !allocation_filter_open(rows->filter, rows->reader, rows->chunk,
                                                        needs, &rows->open, error))
            return false;
        while (rows->batch < KERNEL_BATCHES) {
            if (kernel_list(rows->open.words, rows->batch++, &batch) == 0)
                continue;
            if (rows->keeps)
                allocation_groups_keep(rows->groups, &rows->open, rows->next - 1, &batch);
            if (batch.count == 0)
                continue;
            take_batch(rows, &batch);
            return true;
        }
    }
    rows->streams = false;
    rows->at = rows->behind = 0;
    return true;
}

/* ---- groups ---- */

/* Returns the bytes that gathered rows have each. */
static size_t row_bytes(const struct allocation_rows *rows)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ALLOCATION_ARRAYS; i++)
        bytes += rows->arrays[i].width;
    return bytes;
}

/* Gathers the rows of the next groups, as many as there is room for. If there is none for the first
 * one that has rows, or it has all, its rows come as they are stored. */
static bool next_groups(struct allocation_rows *rows, struct session_error *error)
{
    const size_t bytes = rows->one ? 0 : row_bytes(rows);
    const uint64_t most =
        bytes == 0 ? UINT64_MAX : allocation_gathered_max * sizeof(uint64_t) / bytes + 1;
    const size_t groups = allocation_groups_count(rows->groups), first = rows->gathered;
    const uint64_t all = allocation_groups_all_rows(rows->groups);
    uint64_t count = 0, here = 0;
    rows->at = rows->behind = 0;
    for (; rows->gathered < groups; rows->gathered++, count += here) {
        here = allocation_groups_rows(rows->groups, rows->gathered);
        if (count > 0 && (count + here > most || count == all))
            break;
    }
    rows->from = rows->arrays;
    rows->next = first;
    if (bytes == 0 || count == 0)
        return true;
    here = allocation_groups_rows(rows->groups, rows->gathered - 1);
    if (here > most || here == all) {
        rows->next = rows->gathered;
        rows->keeps = here < all;
        allocation_groups_ids(rows->groups, rows->next - 1, rows->same);
        return stream(rows, error) && next_batch(rows, error);
    }
    if (count > rows->capacity) {
        rows->capacity = 0;
        if (!make_arrays(rows->arrays, (size_t)count, error))
            return false;
        rows->capacity = (size_t)count;
    }
    return allocation_groups_gather(rows->groups, first, rows->gathered, rows->arrays, error);
}

/* Goes to the first row of the next group that has one. There may be none. */
static bool next_group(struct allocation_rows *rows, struct session_error *error)
{
    const size_t groups = allocation_groups_count(rows->groups);
    for (;;) {
        for (; rows->next < rows->gathered; rows->next++) {
            const uint64_t count = allocation_groups_rows(rows->groups, rows->next);
            if (count == 0)
                continue;
            allocation_groups_ids(rows->groups, rows->next++, rows->same);
            rows->at = rows->behind;
            rows->behind += rows->one ? 1 : (size_t)count;
            return true;
        }
        if (rows->gathered == groups) {
            rows->at = rows->behind;
            return true;
        }
        if (!next_groups(rows, error))
            return false;
        if (rows->streams)
            return true;
    }
}

static bool start_groups(struct allocation_rows *rows, const struct allocation_order *order,
                         struct session_error *error)
{
    rows->groups =
        allocation_groups_new(rows->session, rows->columns, rows->filter, rows->used, order, error);
    if (!rows->groups)
        return false;
    const unsigned same = allocation_groups_same(rows->groups);
    rows->has_same = same;
    rows->needs &= ~same;
    rows->one = order->one && rows->needs == 0;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if ((rows->needs >> column & 1) != 0)
            rows->arrays[column].width = width_of(rows, (enum column)column);
    }
    if (allocation_columns_need_id(rows->columns, rows->used))
        rows->arrays[ALLOCATION_IDS].width =
            column_store_rows(rows->session->columns) <= UINT32_MAX ? 4 : 8;
    return next_group(rows, error);
}

/* ---- all ---- */

struct allocation_rows *allocation_rows_new(struct session *session,
                                            struct allocation_columns *columns,
                                            struct session_error *error)
{
    struct allocation_rows *rows = calloc(1, sizeof(*rows));
    if (!rows) {
        session_fail_memory(error, "the allocations");
        return NULL;
    }
    rows->session = session;
    rows->columns = columns;
    rows->chunks = column_store_chunks(session->columns);
    rows->reader = column_reader_new(session->columns, error);
    rows->filter = rows->reader ? allocation_filter_new(session, columns, error) : NULL;
    if (rows->filter)
        return rows;
    allocation_rows_free(rows);
    return NULL;
}

void allocation_rows_free(struct allocation_rows *rows)
{
    if (!rows)
        return;
    allocation_groups_free(rows->groups);
    allocation_filter_free(rows->filter);
    column_reader_free(rows->reader);
    free_arrays(rows->stored);
    free_arrays(rows->arrays);
    free(rows);
}

bool allocation_rows_test(struct allocation_rows *rows, const struct allocation_test *test,
                          struct session_error *error)
{
    return allocation_filter_add(rows->filter, test, error);
}

/* Finds out how the values of a column that is in use are found. */
static struct reading reading_of(const struct allocation_rows *rows, int column)
{
    const unsigned needs = allocation_column_needs(column);
    if (allocation_column_is_plain(column))
        return (struct reading){READ_PLAIN, __builtin_ctz(needs), NULL};
    if (allocation_column_by(column) == BY_ROW)
        return (struct reading){.how = READ_MADE};
    return (struct reading){READ_SHARED, __builtin_ctz(needs),
                            allocation_values(rows->columns, column)};
}

bool allocation_rows_start(struct allocation_rows *rows, uint64_t used,
                           const struct allocation_order *order, struct session_error *error)
{
    uint64_t named = used;
    for (size_t i = 0; i < order->count; i++)
        named |= UINT64_C(1) << order->columns[i];
    if (!allocation_columns_use(rows->columns, named, error))
        return false;
    for (int column = 0; column < ALLOCATION_COLUMNS; column++) {
        if ((used >> column & 1) == 0)
            continue;
        rows->needs |= allocation_column_needs(column);
        rows->reading[column] = reading_of(rows, column);
    }
    rows->used = used;
    rows->chunks = allocation_filter_behind_chunk(rows->filter);
    if (order->count > 0)
        return start_groups(rows, order, error);
    return stream(rows, error) && next_batch(rows, error);
}

bool allocation_rows_next(struct allocation_rows *rows, struct session_error *error)
{
    if (++rows->at < rows->behind)
        return true;
    if (rows->streams && !next_batch(rows, error))
        return false;
    return rows->streams || !rows->groups || next_group(rows, error);
}

bool allocation_rows_at_end(const struct allocation_rows *rows)
{
    return rows->at >= rows->behind;
}

/* Returns the present row's value in a column of chunks. */
static uint64_t value_at(const struct allocation_rows *rows, int column)
{
    return (rows->has_same >> column & 1) != 0 ? rows->same[column]
                                               : array_at(&rows->from[column], rows->at);
}

void allocation_rows_value(const struct allocation_rows *rows, int column,
                           struct allocation_value *value)
{
    const struct reading *reading = &rows->reading[column];
    struct allocation_row row;
    switch (reading->how) {
    case READ_PLAIN:
        value->number = (int64_t)value_at(rows, reading->column);
        value->form = VALUE_NUMBER;
        break;
    case READ_SHARED:
        *value = reading->values[value_at(rows, reading->column)];
        break;
    case READ_MADE:
        if (allocation_columns_need_id(rows->columns, UINT64_C(1) << column))
            row.id = array_at(&rows->from[ALLOCATION_IDS], rows->at);
        for (unsigned needs = allocation_column_needs(column); needs != 0; needs &= needs - 1)
            row.of[__builtin_ctz(needs)] = value_at(rows, __builtin_ctz(needs));
        allocation_value_of_row(rows->columns, column, &row, value);
        break;
    default:
        *value = (struct allocation_value){.form = VALUE_NULL};
    }
}

/* Gathers the present group again, with ids, and goes back to the present row. With `one`, the
 * present row is the first of its group. */
static bool gather_ids(struct allocation_rows *rows, struct session_error *error)
{
    const size_t group = rows->next - 1;
    const uint64_t count = rows->one ? 1 : allocation_groups_rows(rows->groups, group);
    uint64_t skipped = count - (rows->behind - rows->at);
    rows->one = false;
    rows->capacity = 0;
    rows->arrays[ALLOCATION_IDS].width =
        column_store_rows(rows->session->columns) <= UINT32_MAX ? 4 : 8;
    rows->gathered = rows->next = group;
    rows->behind = 0;
    if (!next_group(rows, error))
        return false;
    for (; rows->streams && skipped >= rows->behind; skipped -= rows->behind) {
        if (!next_batch(rows, error))
            return false;
    }
    rows->at += (size_t)skipped;
    return true;
}

bool allocation_rows_id(struct allocation_rows *rows, uint64_t *id, struct session_error *error)
{
    if (!rows->streams && rows->arrays[ALLOCATION_IDS].width == 0 && !gather_ids(rows, error))
        return false;
    *id = array_at(&rows->from[ALLOCATION_IDS], rows->at);
    return true;
}
