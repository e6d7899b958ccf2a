/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/allocation_rows.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/code_map.h"
#include "session/scan/kernels.h"
#include "session/scan/row_set.h"
#include "session/scan/scan.h"
#include "session/sqlite/allocation_filter.h"

size_t allocation_gathered_max = (size_t)8 << 20;

enum { PARTS = 4 };
#define GROUP_NONE UINT32_MAX

/* Columns with shared ids that tell the groups apart: those with one kind of ids are one part. */
struct part {
    enum column column;
    uint32_t *ranks; /* by id */
    bool same;       /* no column tells its ids in a group apart: one of them stands for all */
};

struct groups {
    struct part part[PARTS];
    size_t parts;
    struct code_map codes; /* with several parts: their ranks */
    uint32_t *number;      /* of the code with this number; NULL: there is one part */
    uint64_t *rows;        /* by group */
    uint32_t *ids[PARTS];  /* by group: ids that one row of it has */
    size_t count;
    uint64_t *place;      /* by group of those that are gathered */
    size_t first, behind; /* of these */
};

struct allocation_rows {
    struct session *session;
    struct allocation_columns *columns;
    struct column_reader *reader;
    struct allocation_filter *filter;
    uint64_t used;
    unsigned needs; /* columns of chunks, a bit for each */
    /* The rows that are ready. */
    uint64_t *of[COLUMN_TOTAL], *ids;
    size_t at, count, capacity;
    /* The chunks that the rows come from, unless they are gathered. */
    bool streams;
    uint32_t chunk, chunks;
    size_t block;
    uint64_t words[ROW_SET_WORDS];
    struct column_view views[COLUMN_TOTAL];
    uint32_t only; /* the group whose rows come; GROUP_NONE: all */
    bool grouped, one;
    struct groups groups;
};

/* ---- the rows of a chunk ---- */

/* Reads the columns of a chunk. Returns false with `error` set. */
static bool read_views(struct allocation_rows *rows, uint32_t chunk, unsigned needs,
                       struct session_error *error)
{
    /* Lifetimes come after times: that is the order in which a reader keeps them. */
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if ((needs >> column & 1) != 0 &&
            !column_reader_get(rows->reader, chunk, (enum column)column, &rows->views[column],
                               error))
            return false;
    }
    return true;
}

/* Finds the rows of the chunk that meet the tests, and reads what `needs` says of them. Returns
 * false with `error` set. */
static bool open_chunk(struct allocation_rows *rows, uint32_t chunk, unsigned needs,
                       struct session_error *error)
{
    bool any;
    if (!scan_go_on(rows->session, error) ||
        !allocation_filter_chunk(rows->filter, rows->reader, chunk, rows->words, &any, error))
        return false;
    return !any || read_views(rows, chunk, needs, error);
}

/* Stores the codes of a block's rows: the ranks of all parts. */
static void code_rows(const struct allocation_rows *rows, const struct kernel_rows *block,
                      struct code *codes)
{
    uint64_t values[KERNEL_ROWS];
    memset(codes, 0, block->count * sizeof(*codes));
    for (size_t part = 0; part < rows->groups.parts; part++) {
        const uint32_t *ranks = rows->groups.part[part].ranks;
        const unsigned shift = part % 2 == 0 ? 32 : 0;
        kernel_take(&rows->views[rows->groups.part[part].column], block, values);
        for (size_t i = 0; i < block->count; i++)
            *(part < 2 ? &codes[i].high : &codes[i].low) |= (uint64_t)ranks[values[i]] << shift;
    }
}

/* Stores the group of each row of a block. */
static void number_rows(const struct allocation_rows *rows, const struct kernel_rows *block,
                        uint32_t *numbers)
{
    const struct groups *groups = &rows->groups;
    if (!groups->number) {
        uint64_t values[KERNEL_ROWS];
        kernel_take(&rows->views[groups->part[0].column], block, values);
        for (size_t i = 0; i < block->count; i++)
            numbers[i] = groups->part[0].ranks[values[i]];
        return;
    }
    struct code codes[KERNEL_ROWS];
    code_rows(rows, block, codes);
    for (size_t i = 0; i < block->count; i++)
        numbers[i] = groups->number[code_map_find(&groups->codes, codes[i])];
}

/* Returns the part whose ids lie in a column and have one id that stands for all of a group; PARTS:
 * none. */
static size_t same_part(const struct groups *groups, int column)
{
    for (size_t i = 0; i < groups->parts; i++) {
        if ((int)groups->part[i].column == column && groups->part[i].same)
            return i;
    }
    return PARTS;
}

/* Keeps the rows of one group. */
static void keep_only(const struct allocation_rows *rows, struct kernel_rows *block)
{
    uint32_t numbers[KERNEL_ROWS];
    size_t kept = 0;
    number_rows(rows, block, numbers);
    for (size_t i = 0; i < block->count; i++) {
        block->row[kept] = block->row[i];
        kept += numbers[i] == rows->only;
    }
    block->count = kept;
}

/* ---- rows as they are stored ---- */

static unsigned group_needs(const struct allocation_rows *rows)
{
    unsigned needs = 0;
    for (size_t i = 0; i < rows->groups.parts; i++)
        needs |= 1u << rows->groups.part[i].column;
    return needs;
}

/* Makes room for so many rows. Returns false with `error` set. */
static bool make_room(struct allocation_rows *rows, size_t count, struct session_error *error)
{
    if (count <= rows->capacity)
        return true;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        free(rows->of[column]);
        rows->of[column] = NULL;
    }
    free(rows->ids);
    rows->capacity = 0;
    rows->ids = malloc(count * sizeof(*rows->ids));
    bool good = rows->ids != NULL;
    for (int column = 0; good && column < COLUMN_TOTAL; column++) {
        if ((rows->needs >> column & 1) == 0)
            continue;
        rows->of[column] = malloc(count * sizeof(*rows->of[column]));
        good = rows->of[column] != NULL;
    }
    rows->capacity = good ? count : 0;
    return good || session_fail_memory(error, "the allocations");
}

/* Starts to read rows from the chunks: those of one group, or GROUP_NONE: all. */
static bool stream(struct allocation_rows *rows, uint32_t only, struct session_error *error)
{
    rows->streams = true;
    rows->only = only;
    rows->chunk = allocation_filter_first_chunk(rows->filter);
    rows->block = 0;
    rows->at = rows->count = 0;
    return make_room(rows, KERNEL_ROWS, error);
}

static void take_column(struct allocation_rows *rows, int column, const struct kernel_rows *block)
{
    const struct groups *groups = &rows->groups;
    const size_t same = rows->only != GROUP_NONE ? same_part(groups, column) : PARTS;
    kernel_take(&rows->views[column], block, rows->of[column]);
    for (size_t i = 0; same < PARTS && i < block->count; i++)
        rows->of[column][i] = groups->ids[same][rows->only];
}

/* Reads the next block that has rows. There may be none. */
static bool next_block(struct allocation_rows *rows, struct session_error *error)
{
    const unsigned needs = rows->needs | (rows->only != GROUP_NONE ? group_needs(rows) : 0);
    struct kernel_rows block;
    rows->at = rows->count = 0;
    for (; rows->chunk < rows->chunks; rows->chunk++, rows->block = 0) {
        if (rows->block == 0 && !open_chunk(rows, rows->chunk, needs, error))
            return false;
        while (rows->block < KERNEL_BLOCKS) {
            if (kernel_list(rows->words, rows->block++, &block) == 0)
                continue;
            if (rows->only != GROUP_NONE)
                keep_only(rows, &block);
            if (block.count == 0)
                continue;
            for (int column = 0; column < COLUMN_TOTAL; column++) {
                if ((rows->needs >> column & 1) != 0)
                    take_column(rows, column, &block);
            }
            for (size_t i = 0; i < block.count; i++)
                rows->ids[i] =
                    (uint64_t)rows->chunk * COLUMN_CHUNK_ROWS + block.first + block.row[i] + 1;
            rows->count = block.count;
            return true;
        }
    }
    rows->streams = false;
    return true;
}

/* ---- groups ---- */

static bool fail_groups(struct session_error *error)
{
    return session_fail_memory(error, "the groups of allocations");
}

/* Makes one part of the columns with the same kind of ids. */
static bool add_part(struct allocation_rows *rows, const struct allocation_order *order,
                     size_t first, size_t count, struct session_error *error)
{
    struct part *part = &rows->groups.part[rows->groups.parts++];
    const size_t ranks = allocation_ranks(rows->columns, order->columns + first, count,
                                          order->descending >> first, &part->ranks, error);
    part->column = allocation_by_column(allocation_column_by(order->columns[first]));
    uint64_t others = rows->used;
    for (size_t i = 0; i < count; i++)
        others &= ~(UINT64_C(1) << order->columns[first + i]);
    part->same = true;
    for (int column = 0; column < ALLOCATION_COLUMNS; column++) {
        if ((others >> column & 1) != 0 &&
            (allocation_column_needs(column) >> part->column & 1) != 0)
            part->same = false;
    }
    rows->groups.count = ranks;
    return ranks > 0;
}

static int compare_codes(const void *left, const void *right, void *context)
{
    const struct code *codes = context;
    const struct code *a = &codes[*(const uint32_t *)left], *b = &codes[*(const uint32_t *)right];
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

/* Finds the codes that the rows have, and numbers them in their order. */
static bool find_codes(struct allocation_rows *rows, struct session_error *error)
{
    struct groups *groups = &rows->groups;
    struct code codes[KERNEL_ROWS];
    struct kernel_rows block;
    uint32_t number;
    for (uint32_t chunk = allocation_filter_first_chunk(rows->filter); chunk < rows->chunks;
         chunk++) {
        if (!open_chunk(rows, chunk, group_needs(rows), error))
            return false;
        KERNEL_EACH_BLOCK(rows->words, &block)
        {
            code_rows(rows, &block, codes);
            for (size_t i = 0; i < block.count; i++) {
                if (!code_map_add(&groups->codes, codes[i], GROUP_NONE, &number))
                    return fail_groups(error);
            }
        }
    }
    groups->count = groups->codes.count;
    groups->number = malloc((groups->count + 1) * sizeof(*groups->number));
    uint32_t *order = malloc((groups->count + 1) * sizeof(*order));
    for (uint32_t i = 0; order && i < groups->count; i++)
        order[i] = i;
    if (order && groups->number) {
        qsort_r(order, groups->count, sizeof(*order), compare_codes, groups->codes.codes);
        for (uint32_t i = 0; i < groups->count; i++)
            groups->number[order[i]] = i;
    }
    free(order);
    return (order && groups->number) || fail_groups(error);
}

/* Counts the rows of each group, and notes the ids of its first one. */
static bool count_rows(struct allocation_rows *rows, struct session_error *error)
{
    struct groups *groups = &rows->groups;
    uint32_t numbers[KERNEL_ROWS];
    struct kernel_rows block;
    groups->rows = calloc(groups->count + 1, sizeof(*groups->rows));
    bool good = groups->rows != NULL;
    for (size_t i = 0; good && i < groups->parts; i++) {
        groups->ids[i] = calloc(groups->count + 1, sizeof(*groups->ids[i]));
        good = groups->ids[i] != NULL;
    }
    if (!good)
        return fail_groups(error);
    for (uint32_t chunk = allocation_filter_first_chunk(rows->filter); chunk < rows->chunks;
         chunk++) {
        if (!open_chunk(rows, chunk, group_needs(rows), error))
            return false;
        KERNEL_EACH_BLOCK(rows->words, &block)
        {
            number_rows(rows, &block, numbers);
            for (size_t i = 0; i < block.count; i++) {
                const uint32_t number = numbers[i];
                const size_t row = block.first + block.row[i];
                if (groups->rows[number]++ > 0)
                    continue;
                for (size_t part = 0; part < groups->parts; part++)
                    groups->ids[part][number] =
                        (uint32_t)column_view_at(&rows->views[groups->part[part].column], row);
            }
        }
    }
    return true;
}

/* Makes the rows ready of which each group has one. They have the number of the group as id. */
static bool take_ones(struct allocation_rows *rows, struct session_error *error)
{
    const struct groups *groups = &rows->groups;
    if (!make_room(rows, groups->count + 1, error))
        return false;
    for (size_t group = 0; group < groups->count; group++) {
        if (groups->rows[group] == 0)
            continue;
        for (size_t part = 0; part < groups->parts; part++) {
            if (rows->of[groups->part[part].column])
                rows->of[groups->part[part].column][rows->count] = groups->ids[part][group];
        }
        rows->ids[rows->count++] = group;
    }
    rows->groups.first = rows->groups.behind = groups->count;
    return true;
}

static void gather_block(struct allocation_rows *rows, uint32_t chunk, struct kernel_rows *block)
{
    struct groups *groups = &rows->groups;
    uint32_t numbers[KERNEL_ROWS];
    uint64_t places[KERNEL_ROWS], values[KERNEL_ROWS];
    size_t kept = 0;
    number_rows(rows, block, numbers);
    for (size_t i = 0; i < block->count; i++) {
        if (numbers[i] < groups->first || numbers[i] >= groups->behind)
            continue;
        block->row[kept] = block->row[i];
        numbers[kept] = numbers[i];
        places[kept++] = groups->place[numbers[i] - groups->first]++;
    }
    block->count = kept;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if ((rows->needs >> column & 1) == 0)
            continue;
        const size_t same = same_part(groups, column);
        if (same == PARTS)
            kernel_take(&rows->views[column], block, values);
        for (size_t i = 0; i < kept; i++)
            rows->of[column][places[i]] = same == PARTS ? values[i] : groups->ids[same][numbers[i]];
    }
    for (size_t i = 0; i < kept; i++)
        rows->ids[places[i]] =
            (uint64_t)chunk * COLUMN_CHUNK_ROWS + block->first + block->row[i] + 1;
}

/* Gathers the rows of the groups from `first` to `behind`, which are `count`. */
static bool gather(struct allocation_rows *rows, size_t count, struct session_error *error)
{
    struct groups *groups = &rows->groups;
    struct kernel_rows block;
    uint64_t place = 0;
    free(groups->place);
    groups->place = malloc((groups->behind - groups->first + 1) * sizeof(*groups->place));
    if (!groups->place)
        return fail_groups(error);
    if (!make_room(rows, count, error))
        return false;
    for (size_t group = groups->first; group < groups->behind; group++) {
        groups->place[group - groups->first] = place;
        place += groups->rows[group];
    }
    for (uint32_t chunk = allocation_filter_first_chunk(rows->filter); chunk < rows->chunks;
         chunk++) {
        if (!open_chunk(rows, chunk, rows->needs | group_needs(rows), error))
            return false;
        KERNEL_EACH_BLOCK(rows->words, &block)
        {
            gather_block(rows, chunk, &block);
        }
    }
    rows->count = count;
    return true;
}

/* Makes the rows of the next groups ready. There may be none. */
static bool next_groups(struct allocation_rows *rows, struct session_error *error)
{
    struct groups *groups = &rows->groups;
    const size_t values = (size_t)__builtin_popcount(rows->needs) + 1; /* and the id */
    const size_t most = allocation_gathered_max / (values + 1) + 1;
    size_t count = 0;
    rows->at = rows->count = 0;
    groups->first = groups->behind;
    while (groups->behind < groups->count &&
           (count == 0 || count + groups->rows[groups->behind] <= most))
        count += groups->rows[groups->behind++];
    if (count == 0)
        return true;
    /* Groups without rows may come before a large one. */
    if (count > most)
        return stream(rows, (uint32_t)groups->behind - 1, error) && next_block(rows, error);
    return gather(rows, count, error);
}

static bool start_groups(struct allocation_rows *rows, const struct allocation_order *order,
                         struct session_error *error)
{
    size_t first = 0;
    while (first < order->count) {
        const enum allocation_by by = allocation_column_by(order->columns[first]);
        size_t behind = first + 1;
        while (behind < order->count && allocation_column_by(order->columns[behind]) == by)
            behind++;
        if (!add_part(rows, order, first, behind - first, error))
            return false;
        first = behind;
    }
    if (rows->groups.parts > 1 && !find_codes(rows, error))
        return false;
    if (!count_rows(rows, error))
        return false;
    return rows->one ? take_ones(rows, error) : next_groups(rows, error);
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
    allocation_filter_free(rows->filter);
    column_reader_free(rows->reader);
    for (int column = 0; column < COLUMN_TOTAL; column++)
        free(rows->of[column]);
    free(rows->ids);
    for (size_t i = 0; i < PARTS; i++) {
        free(rows->groups.part[i].ranks);
        free(rows->groups.ids[i]);
    }
    code_map_free(&rows->groups.codes);
    free(rows->groups.number);
    free(rows->groups.rows);
    free(rows->groups.place);
    free(rows);
}

bool allocation_rows_test(struct allocation_rows *rows, const struct allocation_test *test,
                          struct session_error *error)
{
    return allocation_filter_add(rows->filter, test, error);
}

bool allocation_rows_start(struct allocation_rows *rows, uint64_t used,
                           const struct allocation_order *order, struct session_error *error)
{
    uint64_t named = used;
    for (size_t i = 0; i < order->count; i++)
        named |= UINT64_C(1) << order->columns[i];
    if (!allocation_columns_use(rows->columns, named, error))
        return false;
    for (int column = 0; column < ALLOCATION_COLUMNS; column++)
        rows->needs |= (used >> column & 1) != 0 ? allocation_column_needs(column) : 0;
    rows->used = used;
    rows->grouped = order->count > 0;
    rows->one = order->one;
    rows->chunks = allocation_filter_behind_chunk(rows->filter);
    if (rows->grouped)
        return start_groups(rows, order, error);
    return stream(rows, GROUP_NONE, error) && next_block(rows, error);
}

bool allocation_rows_next(struct allocation_rows *rows, struct session_error *error)
{
    if (++rows->at < rows->count)
        return true;
    if (rows->streams && !next_block(rows, error))
        return false;
    while (rows->grouped && rows->at >= rows->count && !rows->streams &&
           rows->groups.behind < rows->groups.count) {
        if (!next_groups(rows, error))
            return false;
    }
    return true;
}

bool allocation_rows_at_end(const struct allocation_rows *rows)
{
    return rows->at >= rows->count;
}

void allocation_rows_value(const struct allocation_rows *rows, int column,
                           struct allocation_value *value)
{
    const enum allocation_by by = allocation_column_by(column);
    unsigned needs = allocation_column_needs(column);
    const size_t at = rows->at;
    struct allocation_row row;
    if ((rows->used >> column & 1) == 0) {
        *value = (struct allocation_value){.form = VALUE_NULL};
    } else if (allocation_column_is_plain(column)) {
        value->number = (int64_t)rows->of[__builtin_ctz(needs)][at];
        value->form = VALUE_NUMBER;
    } else if (by != BY_ROW) {
        *value = allocation_values(rows->columns, column)[rows->of[__builtin_ctz(needs)][at]];
    } else {
        row.id = rows->ids[at];
        for (; needs != 0; needs &= needs - 1)
            row.of[__builtin_ctz(needs)] = rows->of[__builtin_ctz(needs)][at];
        allocation_value_of_row(rows->columns, column, &row, value);
    }
}

bool allocation_rows_id(struct allocation_rows *rows, uint64_t *id, struct session_error *error)
{
    if (rows->one) {
        /* The present row becomes the first one of its group. A query that asked for no id of the
         * earlier groups treats all their rows alike: it needs no more of them. */
        rows->one = false;
        rows->groups.behind = rows->ids[rows->at];
        if (!next_groups(rows, error))
            return false;
    }
    *id = rows->ids[rows->at];
    return true;
}
