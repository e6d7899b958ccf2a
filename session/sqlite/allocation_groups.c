/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each pass gives every thread some chunks that follow each other. A thread counts the rows of each
 * group among its own; the sums of all threads before it say where in a group its rows begin. So
 * the threads need no lock, and rows stay in the order of ids.
 */
#include "session/sqlite/allocation_groups.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/sort_order.h"
#include "session/group/code_map.h"
#include "session/scan/scan.h"
#include "session/sqlite/allocation_filter.h"
#include "session/sqlite/allocation_rows.h"

enum { PARTS = 4 };
#define PLACE_NONE UINT32_MAX
/* Bytes of the counts of all threads, about. */
enum { COUNTS_MAX = 64 << 20 };

size_t allocation_groups_dense_max = (size_t)1 << 20;

/* Columns with shared ids that tell the groups apart: those with one kind of ids are one part. */
struct part {
    enum column column;
    uint32_t *ranks; /* by id */
    uint32_t *ids;   /* by rank: one that has it */
    size_t count;    /* ranks */
    uint32_t step;   /* of a dense number, for each rank */
    bool same;       /* no column tells its ids in a group apart: one of them stands for all */
};

/* Chunks that follow each other, for one thread of a pass. */
struct range {
    struct allocation_groups *groups;
    uint32_t first, behind;
    struct code_map codes; /* unless numbers are dense: those that its rows have */
    uint32_t *group;       /* by code; NULL: numbers are dense, and each is that of its group */
    uint64_t *rows;        /* by code or group */
    size_t capacity;       /* of `rows` */
    uint32_t *place; /* by code or group: of its next row that is gathered, PLACE_NONE: none */
    struct allocation_chunk chunk;
};

struct allocation_groups {
    struct session *session;
    const struct allocation_columns *columns;
    const struct allocation_filter *filter;
    struct part part[PARTS];
    size_t parts;
    bool dense;         /* the number of a group is made of its ranks */
    struct code *codes; /* otherwise: by group */
    uint64_t *rows;     /* by group */
    size_t count;
    uint64_t all_rows;
    struct range *ranges;
    size_t range_count;
    const struct allocation_array *arrays; /* that are filled now */
};

static bool fail_memory(struct session_error *error)
{
    return session_fail_memory(error, "the groups of allocations");
}

/* ---- parts ---- */

/* Makes one part of the columns with the same kind of ids. */
static bool add_part(struct allocation_groups *groups, uint64_t used,
                     const struct allocation_order *order, size_t first, size_t count,
                     struct session_error *error)
{
    struct part *part = &groups->part[groups->parts++];
    const enum allocation_by by = allocation_column_by(order->columns[first]);
    part->count = allocation_ranks(groups->columns, order->columns + first, count,
                                   order->descending >> first, &part->ranks, error);
    if (part->count == 0)
        return false;
    part->column = allocation_by_column(by);
    part->ids = calloc(part->count, sizeof(*part->ids));
    if (!part->ids)
        return fail_memory(error);
    for (size_t id = allocation_ids(groups->columns, by); id-- > 0;)
        part->ids[part->ranks[id]] = (uint32_t)id;
    for (size_t i = 0; i < count; i++)
        used &= ~(UINT64_C(1) << order->columns[first + i]);
    part->same = true;
    for (int column = 0; column < ALLOCATION_COLUMNS; column++) {
        if ((used >> column & 1) != 0 && (allocation_column_needs(column) >> part->column & 1) != 0)
            part->same = false;
    }
    return true;
}

static bool add_parts(struct allocation_groups *groups, uint64_t used,
                      const struct allocation_order *order, struct session_error *error)
{
    for (size_t first = 0, behind; first < order->count; first = behind) {
        const enum allocation_by by = allocation_column_by(order->columns[first]);
        behind = first + 1;
        while (behind < order->count && allocation_column_by(order->columns[behind]) == by)
            behind++;
        if (!add_part(groups, used, order, first, behind - first, error))
            return false;
    }
    uint64_t product = 1;
    for (size_t i = groups->parts; i-- > 0;) {
        /* One kind of ids may be two parts: ORDER BY function, kind, module. */
        for (size_t k = 0; k < groups->parts; k++) {
            if (k != i && groups->part[k].column == groups->part[i].column)
                groups->part[i].same = false;
        }
        groups->part[i].step = (uint32_t)product;
        product = product > UINT32_MAX ? product : product * groups->part[i].count;
    }
    groups->dense = groups->parts == 1 || product <= allocation_groups_dense_max;
    groups->count = groups->dense ? (size_t)product : 0;
    return true;
}

/* ---- the groups of a batch of rows ---- */

/* Stores the codes of rows: the ranks of all parts. */
static void code_rows(const struct allocation_groups *groups, const struct allocation_chunk *chunk,
                      const struct kernel_rows *batch, struct code *codes)
{
    uint64_t values[KERNEL_ROWS];
    memset(codes, 0, batch->count * sizeof(*codes));
    for (size_t part = 0; part < groups->parts; part++) {
        const uint32_t *ranks = groups->part[part].ranks;
        const unsigned shift = part % 2 == 0 ? 32 : 0;
        kernel_take(&chunk->views[groups->part[part].column], batch, values);
        for (size_t i = 0; i < batch->count; i++)
            *(part < 2 ? &codes[i].high : &codes[i].low) |= (uint64_t)ranks[values[i]] << shift;
    }
}

static void number_dense_rows(const struct allocation_groups *groups,
                              const struct allocation_chunk *chunk, const struct kernel_rows *batch,
                              uint32_t *numbers)
{
    uint64_t values[KERNEL_ROWS];
    memset(numbers, 0, batch->count * sizeof(*numbers));
    for (size_t part = 0; part < groups->parts; part++) {
        const uint32_t *ranks = groups->part[part].ranks;
        const uint32_t step = groups->part[part].step;
        kernel_take(&chunk->views[groups->part[part].column], batch, values);
        for (size_t i = 0; i < batch->count; i++)
            numbers[i] += ranks[values[i]] * step;
    }
}

static bool equal_codes(const struct code *left, const struct code *right)
{
    return left->high == right->high && left->low == right->low;
}

/* Stores the number of each row of a batch: its code, or its group. Neighbours often have the same
 * code. */
static void number_rows(const struct range *range, const struct kernel_rows *batch,
                        uint32_t *numbers)
{
    struct code codes[KERNEL_ROWS];
    if (range->groups->dense) {
        number_dense_rows(range->groups, &range->chunk, batch, numbers);
        return;
    }
    code_rows(range->groups, &range->chunk, batch, codes);
    for (size_t i = 0; i < batch->count; i++) {
        const bool again = i > 0 && equal_codes(&codes[i], &codes[i - 1]);
        numbers[i] = again ? numbers[i - 1] : code_map_find(&range->codes, codes[i]);
    }
}

unsigned allocation_groups_needs(const struct allocation_groups *groups)
{
    unsigned needs = 0;
    for (size_t i = 0; i < groups->parts; i++)
        needs |= 1u << groups->part[i].column;
    return needs;
}

void allocation_groups_keep(const struct allocation_groups *groups,
                            const struct allocation_chunk *chunk, size_t group,
                            struct kernel_rows *batch)
{
    struct code codes[KERNEL_ROWS];
    uint32_t numbers[KERNEL_ROWS];
    size_t kept = 0;
    if (groups->dense)
        number_dense_rows(groups, chunk, batch, numbers);
    else
        code_rows(groups, chunk, batch, codes);
    for (size_t i = 0; i < batch->count; i++) {
        batch->row[kept] = batch->row[i];
        kept += groups->dense ? numbers[i] == group : equal_codes(&codes[i], &groups->codes[group]);
    }
    batch->count = kept;
}

/* ---- counting ---- */

/* Counts rows by code. */
static bool count_codes(struct range *range, const struct kernel_rows *batch)
{
    struct code codes[KERNEL_ROWS];
    uint32_t number = 0;
    code_rows(range->groups, &range->chunk, batch, codes);
    for (size_t i = 0; i < batch->count; i++) {
        if (i == 0 || !equal_codes(&codes[i], &codes[i - 1])) {
            if (!code_map_add(&range->codes, codes[i], CODE_NONE, &number))
                return false;
            if (number >= range->capacity) {
                const size_t capacity = range->codes.capacity;
                uint64_t *rows = realloc(range->rows, capacity * sizeof(*rows));
                if (!rows)
                    return false;
                memset(rows + range->capacity, 0, (capacity - range->capacity) * sizeof(*rows));
                range->rows = rows;
                range->capacity = capacity;
            }
        }
        range->rows[number]++;
    }
    return true;
}

static bool count_range(void *context, struct scan_worker *worker, uint32_t index,
                        struct session_error *error)
{
    struct allocation_groups *groups = context;
    struct range *range = &groups->ranges[index];
    struct column_reader *reader = scan_reader(worker, error);
    const unsigned needs = allocation_groups_needs(groups);
    uint32_t numbers[KERNEL_ROWS];
    struct kernel_rows batch;
    if (!reader)
        return false;
    for (uint32_t chunk = range->first; chunk < range->behind; chunk++) {
        if (!scan_go_on(groups->session, error) ||
            !allocation_filter_open(groups->filter, reader, chunk, needs, &range->chunk, error))
            return false;
        KERNEL_EACH_BATCH(range->chunk.words, &batch)
        {
            if (!groups->dense && !count_codes(range, &batch))
                return fail_memory(error);
            if (!groups->dense)
                continue;
            number_dense_rows(groups, &range->chunk, &batch, numbers);
            for (size_t i = 0; i < batch.count; i++)
                range->rows[numbers[i]]++;
        }
    }
    return true;
}

/* Makes as many ranges as there are threads and room for. */
static bool make_ranges(struct allocation_groups *groups, struct session_error *error)
{
    const uint32_t first = allocation_filter_first_chunk(groups->filter);
    const uint32_t behind = allocation_filter_behind_chunk(groups->filter);
    const size_t chunks = behind > first ? behind - first : 0;
    const size_t room = 1 + COUNTS_MAX / sizeof(uint64_t) / (groups->count + 1);
    size_t count = scan_threads(groups->session);
    count = count < chunks ? count : chunks;
    count = count < room ? count : room;
    groups->ranges = calloc(count + 1, sizeof(*groups->ranges));
    if (!groups->ranges)
        return fail_memory(error);
    groups->range_count = count;
    for (size_t i = 0; i < count; i++) {
        struct range *range = &groups->ranges[i];
        range->groups = groups;
        range->first = first + (uint32_t)(chunks * i / count);
        range->behind = first + (uint32_t)(chunks * (i + 1) / count);
        if (groups->dense)
            range->rows = calloc(groups->count + 1, sizeof(*range->rows));
        if (groups->dense && !range->rows)
            return fail_memory(error);
    }
    return true;
}

/* Calls `work` for each range. */
static bool each_range(struct allocation_groups *groups, scan_chunk_work *work,
                       struct session_error *error)
{
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = groups;
    return scan_chunks(groups->session, (uint32_t)groups->range_count, work, contexts,
                       SCAN_THREADS_MAX, error);
}

/* Sorts the codes of all ranges, `count` of them. Stores in an array that the caller frees their
 * places in `codes` in the order of the codes. NULL with `error` set. */
static struct sort_entry *sort_codes(const struct allocation_groups *groups,
                                     const struct code *codes, size_t count,
                                     struct session_error *error)
{
    struct sort_entry *entries = malloc((count + 1) * sizeof(*entries));
    bool good = entries || fail_memory(error);
    for (size_t i = 0; good && i < count; i++)
        entries[i] = (struct sort_entry){codes[i].low, i};
    /* The first two parts are in the upper number. */
    good = good && (groups->parts <= 2 || sort_entries_of(groups->session, entries, count, error));
    for (size_t i = 0; good && i < count; i++)
        entries[i].key = codes[entries[i].row].high;
    if (good && sort_entries_of(groups->session, entries, count, error))
        return entries;
    free(entries);
    return NULL;
}

/* Makes groups of the codes that any row has, in their order, and finds that of each code. */
static bool number_groups(struct allocation_groups *groups, struct session_error *error)
{
    size_t count = 0, place = 0;
    for (size_t i = 0; i < groups->range_count; i++)
        count += groups->ranges[i].codes.count;
    struct code *codes = malloc((count + 1) * sizeof(*codes));
    uint32_t *group = malloc((count + 1) * sizeof(*group));
    groups->codes = malloc((count + 1) * sizeof(*groups->codes));
    bool good = (codes && group && groups->codes) || fail_memory(error);
    for (size_t i = 0; good && i < groups->range_count; i++) {
        const struct code_map *of_range = &groups->ranges[i].codes;
        if (of_range->count > 0)
            memcpy(codes + place, of_range->codes, of_range->count * sizeof(*codes));
        place += of_range->count;
    }
    struct sort_entry *sorted = good ? sort_codes(groups, codes, count, error) : NULL;
    for (size_t i = 0; sorted && i < count; i++) {
        const struct code *code = &codes[sorted[i].row];
        if (i == 0 || !equal_codes(code, &groups->codes[groups->count - 1]))
            groups->codes[groups->count++] = *code;
        group[sorted[i].row] = (uint32_t)groups->count - 1;
    }
    good = sorted != NULL;
    place = 0;
    for (size_t i = 0; good && i < groups->range_count; i++) {
        struct range *range = &groups->ranges[i];
        range->group = malloc((range->codes.count + 1) * sizeof(*group));
        good = range->group || fail_memory(error);
        if (good && range->codes.count > 0)
            memcpy(range->group, group + place, range->codes.count * sizeof(*group));
        place += range->codes.count;
    }
    free(codes);
    free(group);
    free(sorted);
    return good;
}

/* Returns the numbers that the rows of a range may have, and the group of one of them. */
static size_t range_numbers(const struct range *range)
{
    return range->group ? range->codes.count : range->groups->count;
}

static size_t group_of(const struct range *range, size_t number)
{
    return range->group ? range->group[number] : number;
}

/* Counts the rows of each group. */
static bool count_rows(struct allocation_groups *groups, struct session_error *error)
{
    if (!each_range(groups, count_range, error) ||
        (!groups->dense && !number_groups(groups, error)))
        return false;
    groups->rows = calloc(groups->count + 1, sizeof(*groups->rows));
    if (!groups->rows)
        return fail_memory(error);
    for (size_t i = 0; i < groups->range_count; i++) {
        const struct range *range = &groups->ranges[i];
        for (size_t number = 0; number < range_numbers(range); number++)
            groups->rows[group_of(range, number)] += range->rows[number];
    }
    for (size_t group = 0; group < groups->count; group++)
        groups->all_rows += groups->rows[group];
    return true;
}

/* ---- gathering ---- */

static void store(const struct allocation_array *array, const uint32_t *places,
                  const uint64_t *values, size_t count)
{
    uint32_t *narrow = array->values;
    uint64_t *wide = array->values;
    for (size_t i = 0; array->width == 4 && i < count; i++)
        narrow[places[i]] = (uint32_t)values[i];
    for (size_t i = 0; array->width == 8 && i < count; i++)
        wide[places[i]] = values[i];
}

static void gather_batch(struct range *range, uint32_t chunk, struct kernel_rows *batch)
{
    const struct allocation_groups *groups = range->groups;
    uint32_t numbers[KERNEL_ROWS], places[KERNEL_ROWS];
    uint64_t values[KERNEL_ROWS];
    size_t kept = 0;
    number_rows(range, batch, numbers);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t *place = &range->place[numbers[i]];
        batch->row[kept] = batch->row[i];
        if (*place != PLACE_NONE)
            places[kept++] = (*place)++;
    }
    batch->count = kept;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if (groups->arrays[column].width == 0)
            continue;
        kernel_take(&range->chunk.views[column], batch, values);
        store(&groups->arrays[column], places, values, kept);
    }
    for (size_t i = 0; i < kept; i++)
        values[i] = (uint64_t)chunk * COLUMN_CHUNK_ROWS + batch->first + batch->row[i] + 1;
    store(&groups->arrays[ALLOCATION_IDS], places, values, kept);
}

static bool gather_range(void *context, struct scan_worker *worker, uint32_t index,
                         struct session_error *error)
{
    struct allocation_groups *groups = context;
    struct range *range = &groups->ranges[index];
    struct column_reader *reader = scan_reader(worker, error);
    unsigned needs = allocation_groups_needs(groups);
    struct kernel_rows batch;
    if (!reader)
        return false;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        needs |= groups->arrays[column].width != 0 ? 1u << column : 0;
    for (uint32_t chunk = range->first; chunk < range->behind; chunk++) {
        if (!scan_go_on(groups->session, error) ||
            !allocation_filter_open(groups->filter, reader, chunk, needs, &range->chunk, error))
            return false;
        KERNEL_EACH_BATCH(range->chunk.words, &batch)
        {
            gather_batch(range, chunk, &batch);
        }
    }
    return true;
}

/* Finds the place of the first row that a range has of each group. The groups' own places are those
 * after the rows of the ranges before it. */
static bool find_places(struct range *range, size_t first, size_t behind, uint32_t *group_places)
{
    const size_t numbers = range_numbers(range);
    if (!range->place)
        range->place = malloc((numbers + 1) * sizeof(*range->place));
    for (size_t number = 0; range->place && number < numbers; number++) {
        const size_t group = group_of(range, number);
        range->place[number] = PLACE_NONE;
        if (group < first || group >= behind)
            continue;
        range->place[number] = group_places[group - first];
        group_places[group - first] += (uint32_t)range->rows[number];
    }
    return range->place != NULL;
}

bool allocation_groups_gather(struct allocation_groups *groups, size_t first, size_t behind,
                              const struct allocation_array arrays[ALLOCATION_ARRAYS],
                              struct session_error *error)
{
    uint32_t *places = malloc((behind - first + 1) * sizeof(*places));
    uint32_t place = 0;
    bool good = places != NULL;
    for (size_t group = first; good && group < behind; group++) {
        places[group - first] = place;
        place += (uint32_t)groups->rows[group];
    }
    for (size_t i = 0; good && i < groups->range_count; i++)
        good = find_places(&groups->ranges[i], first, behind, places);
    free(places);
    groups->arrays = arrays;
    return good ? each_range(groups, gather_range, error) : fail_memory(error);
}

/* ---- all ---- */

struct allocation_groups *allocation_groups_new(struct session *session,
                                                const struct allocation_columns *columns,
                                                const struct allocation_filter *filter,
                                                uint64_t used, const struct allocation_order *order,
                                                struct session_error *error)
{
    struct allocation_groups *groups = calloc(1, sizeof(*groups));
    if (!groups) {
        fail_memory(error);
        return NULL;
    }
    groups->session = session;
    groups->columns = columns;
    groups->filter = filter;
    if (add_parts(groups, used, order, error) && make_ranges(groups, error) &&
        count_rows(groups, error))
        return groups;
    allocation_groups_free(groups);
    return NULL;
}

void allocation_groups_free(struct allocation_groups *groups)
{
    if (!groups)
        return;
    for (size_t i = 0; i < groups->range_count; i++) {
        code_map_free(&groups->ranges[i].codes);
        free(groups->ranges[i].group);
        free(groups->ranges[i].rows);
        free(groups->ranges[i].place);
    }
    for (size_t i = 0; i < groups->parts; i++) {
        free(groups->part[i].ranks);
        free(groups->part[i].ids);
    }
    free(groups->ranges);
    free(groups->codes);
    free(groups->rows);
    free(groups);
}

size_t allocation_groups_count(const struct allocation_groups *groups)
{
    return groups->count;
}

uint64_t allocation_groups_all_rows(const struct allocation_groups *groups)
{
    return groups->all_rows;
}

uint64_t allocation_groups_rows(const struct allocation_groups *groups, size_t group)
{
    return groups->rows[group];
}

unsigned allocation_groups_same(const struct allocation_groups *groups)
{
    unsigned same = 0;
    for (size_t i = 0; i < groups->parts; i++)
        same |= groups->part[i].same ? 1u << groups->part[i].column : 0;
    return same;
}

void allocation_groups_ids(const struct allocation_groups *groups, size_t group,
                           uint64_t ids[COLUMN_TOTAL])
{
    for (size_t i = 0; i < groups->parts; i++) {
        const struct part *part = &groups->part[i];
        const struct code *code = groups->dense ? NULL : &groups->codes[group];
        const uint64_t of_code = code ? (i < 2 ? code->high : code->low) : 0;
        const size_t rank =
            code ? (uint32_t)(of_code >> (i % 2 == 0 ? 32 : 0)) : group / part->step % part->count;
        ids[part->column] = part->ids[rank];
    }
}
