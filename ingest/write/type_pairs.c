/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/type_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "schemas/array.h"

struct stack_type {
    uint32_t stack, type;
    uint64_t allocations, bytes, live_count, live_bytes;
};

struct size_type {
    uint64_t size, allocations, live_count;
    uint32_t type;
};

/* ---- counting ---- */

static struct stack_type *find_other(struct type_pairs *pairs, uint32_t stack, uint32_t type)
{
    const uint64_t hash = hash_combine(hash_seed(), (uint64_t)stack << 32 | type);
    INDEX_MAP_EACH(&pairs->by_stack, hash, index)
        if (pairs->others[index].stack == stack && pairs->others[index].type == type)
            return &pairs->others[index];
    if (!ARRAY_RESERVE(pairs->others, pairs->other_count, pairs->other_capacity) ||
        !index_map_insert(&pairs->by_stack, hash, (uint32_t)pairs->other_count))
        return NULL;
    pairs->others[pairs->other_count] = (struct stack_type){.stack = stack, .type = type};
    return &pairs->others[pairs->other_count++];
}

static bool add_stack(struct type_pairs *pairs, uint64_t stack, uint32_t type, uint64_t size,
                      bool live)
{
    if (stack >= pairs->stack_count) {
        if (stack >= UINT32_MAX || !ARRAY_RESERVE(pairs->first, stack, pairs->stack_capacity))
            return false;
        pairs->stack_count = (size_t)stack + 1;
    }
    if (pairs->first[stack] == 0)
        pairs->first[stack] = type + 1;
    if (pairs->first[stack] == type + 1)
        return true;
    struct stack_type *other = find_other(pairs, (uint32_t)stack, type);
    if (!other)
        return false;
    other->allocations++;
    other->bytes += size;
    other->live_count += live;
    other->live_bytes += live ? size : 0;
    return true;
}

static struct size_type *find_size(struct type_pairs *pairs, uint64_t size, uint32_t type)
{
    const uint64_t hash = hash_combine(hash_combine(hash_seed(), size), type);
    INDEX_MAP_EACH(&pairs->by_size, hash, index)
        if (pairs->sizes[index].size == size && pairs->sizes[index].type == type)
            return &pairs->sizes[index];
    if (!ARRAY_RESERVE(pairs->sizes, pairs->size_count, pairs->size_capacity) ||
        !index_map_insert(&pairs->by_size, hash, (uint32_t)pairs->size_count))
        return NULL;
    pairs->sizes[pairs->size_count] = (struct size_type){.size = size, .type = type};
    return &pairs->sizes[pairs->size_count++];
}

static bool add_size(struct type_pairs *pairs, uint64_t size, uint32_t type, bool live)
{
    enum { RECENT = sizeof(pairs->recent) / sizeof(*pairs->recent) };
    uint32_t *recent = &pairs->recent[(size ^ size >> 10 ^ (uint64_t)type * 37) % RECENT];
    struct size_type *pair = *recent ? &pairs->sizes[*recent - 1] : NULL;
    if (!pair || pair->size != size || pair->type != type) {
        pair = find_size(pairs, size, type);
        if (!pair)
            return false;
        *recent = (uint32_t)(pair - pairs->sizes) + 1;
    }
    pair->allocations++;
    pair->live_count += live;
    return true;
}

void type_pairs_add(struct type_pairs *pairs, const struct row_batch *batch)
{
    enum { AHEAD = 16 }; /* rows whose stacks are fetched into the cache */
    const uint64_t *stacks = batch->column[COLUMN_STACK];
    for (size_t i = 0; i < batch->rows && !pairs->failed; i++) {
        if (i + AHEAD < batch->rows && stacks[i + AHEAD] < pairs->stack_count)
            __builtin_prefetch(&pairs->first[stacks[i + AHEAD]]);
        const uint32_t type = (uint32_t)batch->column[COLUMN_TYPE][i];
        const uint64_t size = batch->column[COLUMN_SIZE][i];
        const bool live = batch->column[COLUMN_LIFE_NS][i] == 0;
        if (batch->column[COLUMN_ARENA][i] == 0)
            pairs->failed = !add_stack(pairs, batch->column[COLUMN_STACK][i], type, size, live) ||
                            !add_size(pairs, size, type, live);
    }
}

void type_pairs_free(struct type_pairs *pairs)
{
    FREE_ALL(pairs->first, pairs->others, pairs->sizes);
    index_map_free(&pairs->by_stack);
    index_map_free(&pairs->by_size);
    *pairs = (struct type_pairs){.failed = false};
}

/* ---- rows ---- */

ARRAY_ORDER(compare_others, struct stack_type, ORDER(a->stack, b->stack) ?: ORDER(a->type, b->type))

ARRAY_ORDER(compare_sizes, struct size_type, ORDER(a->size, b->size) ?: ORDER(a->type, b->type))

typedef bool put_function(void *context, const uint64_t *row, size_t count);

static bool put_stack_type(const struct stack_type *row, put_function *put, void *context)
{
    const uint64_t values[] = {row->stack, row->type,       row->allocations,
                               row->bytes, row->live_count, row->live_bytes};
    return row->allocations == 0 || put(context, values, 6);
}

/* Puts the types of one stack, in order: others[begin … end - 1] and the first one. */
static bool put_types(const struct stack_type *others, size_t begin, size_t end,
                      struct stack_type first, put_function *put, void *context)
{
    bool good = true, waits = true;
    for (size_t i = begin; i < end; i++) {
        first.allocations -= others[i].allocations;
        first.bytes -= others[i].bytes;
        first.live_count -= others[i].live_count;
        first.live_bytes -= others[i].live_bytes;
    }
    for (size_t i = begin; good && i < end; i++) {
        if (waits && first.type < others[i].type) {
            waits = false;
            good = put_stack_type(&first, put, context);
        }
        good = good && put_stack_type(&others[i], put, context);
    }
    return good && (!waits || put_stack_type(&first, put, context));
}

static bool each_stack(struct type_pairs *pairs, const struct stack_usages *stacks,
                       put_function *put, void *context)
{
    bool good = true;
    size_t at = 0;
    if (pairs->other_count > 1)
        qsort(pairs->others, pairs->other_count, sizeof(*pairs->others), compare_others);
    for (size_t stack = 0; good && stack < pairs->stack_count && stack < stacks->capacity;
         stack++) {
        const struct stack_usage usage = stack_usages_of(stacks, stack);
        const size_t begin = at;
        while (at < pairs->other_count && pairs->others[at].stack == stack)
            at++;
        if (pairs->first[stack] != 0)
            good = put_types(pairs->others, begin, at,
                             (struct stack_type){(uint32_t)stack, pairs->first[stack] - 1,
                                                 usage.allocations, usage.bytes, usage.live_count,
                                                 usage.live_bytes},
                             put, context);
    }
    return good;
}

static bool each_size(struct type_pairs *pairs, put_function *put, void *context)
{
    bool good = true;
    if (pairs->size_count > 1)
        qsort(pairs->sizes, pairs->size_count, sizeof(*pairs->sizes), compare_sizes);
    for (size_t i = 0; good && i < pairs->size_count; i++) {
        const struct size_type *pair = &pairs->sizes[i];
        const uint64_t values[] = {pair->size, pair->type, pair->allocations, pair->live_count};
        good = put(context, values, 4);
    }
    return good;
}

static bool put_key(void *context, const uint64_t *row, size_t count)
{
    uint8_t record[WRITER_BTREE_KEY_MAX + 8], *end = record + 1 + count;
    record[0] = (uint8_t)(1 + count);
    for (size_t i = 0; i < count; i++)
        end = writer_put_number(record + 1 + i, end, (int64_t)row[i]);
    return writer_btree_put_key(context, record, (size_t)(end - record));
}

bool type_pairs_pages(struct type_pairs *pairs, const struct stack_usages *stacks,
                      struct writer_pages *pages, uint32_t stack_root, uint32_t size_root)
{
    struct writer_btree by_stack, by_size;
    if (pairs->failed) {
        pages->error = ENOMEM;
        return false;
    }
    writer_btree_open(&by_stack, pages, stack_root, WRITER_BTREE_INDEX);
    writer_btree_open(&by_size, pages, size_root, WRITER_BTREE_INDEX);
    const bool good = each_stack(pairs, stacks, put_key, &by_stack) &&
                      each_size(pairs, put_key, &by_size) && writer_btree_finish(&by_stack) &&
                      writer_btree_finish(&by_size);
    writer_btree_close(&by_stack);
    writer_btree_close(&by_size);
    return good;
}

static bool put_moment(struct writer_btree *tree, uint64_t id,
                       const struct residency_moment *moment)
{
    bool good = true;
    for (size_t i = 0; good && i < moment->sum_count; i++) {
        uint64_t row[RESIDENCY_SUM_VALUES];
        residency_sum_values(&moment->sums[i], id, row);
        good = put_key(tree, row, RESIDENCY_SUM_VALUES);
    }
    return good;
}

bool writer_residency_pages(const struct residency *residency, struct writer_pages *pages,
                            uint32_t root)
{
    struct writer_btree tree;
    bool good = true;
    writer_btree_open(&tree, pages, root, WRITER_BTREE_INDEX);
    for (size_t i = 0; good && residency && i < residency->moment_count; i++)
        good = put_moment(&tree, i + 1, &residency->moments[i]);
    good = good && writer_btree_finish(&tree);
    writer_btree_close(&tree);
    return good;
}

bool writer_residency_rows_pages(struct writer_records *rows, struct writer_pages *pages,
                                 uint32_t root)
{
    uint64_t(*some)[RESIDENCY_SUM_VALUES] = malloc(WRITER_RECORDS_MAX * sizeof(*some));
    struct writer_btree tree;
    bool good = some && writer_records_flush(rows);
    size_t count;
    writer_btree_open(&tree, pages, root, WRITER_BTREE_INDEX);
    for (uint64_t place = 0; good && place < rows->written; place += count) {
        const uint64_t left = rows->written - place;
        count = left < WRITER_RECORDS_MAX ? (size_t)left : WRITER_RECORDS_MAX;
        good = writer_records_read(rows, place, count, some);
        for (size_t i = 0; good && i < count; i++)
            good = put_key(&tree, some[i], RESIDENCY_SUM_VALUES);
    }
    good = good && writer_btree_finish(&tree);
    writer_btree_close(&tree);
    free(some);
    return good || writer_pages_fail(pages, rows->error ? rows->error : ENOMEM);
}

struct inserting {
    sqlite3_stmt *insert;
    int result;
};

static bool insert_row(void *context, const uint64_t *row, size_t count)
{
    struct inserting *inserting = context;
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(inserting->insert, (int)i + 1, (int64_t)row[i]);
    sqlite3_step(inserting->insert);
    inserting->result = sqlite3_reset(inserting->insert);
    return inserting->result == SQLITE_OK;
}

int type_pairs_put(struct type_pairs *pairs, const struct stack_usages *stacks, sqlite3 *database)
{
    struct inserting stack = {.insert = NULL}, size = {.insert = NULL};
    int result = pairs->failed ? SQLITE_NOMEM : SQLITE_OK;
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(database, "INSERT INTO stack_type VALUES (?,?,?,?,?,?)", -1,
                                    &stack.insert, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(database, "INSERT INTO size_type VALUES (?,?,?,?)", -1,
                                    &size.insert, NULL);
    if (result == SQLITE_OK && !each_stack(pairs, stacks, insert_row, &stack))
        result = stack.result;
    if (result == SQLITE_OK && !each_size(pairs, insert_row, &size))
        result = size.result;
    sqlite3_finalize(stack.insert);
    sqlite3_finalize(size.insert);
    return result;
}

/* ---- call nodes ---------------------------------------------------------------------------- */

/* The columns of call_node: id, parent_id, function_id, then the sums. */
enum { NAMES = 3, COLUMNS = NAMES + 2 * CALL_TREE_SUMS };

struct paging {
    struct writer_btree table, index;
};

/* A record may end before the last column: the rest has the default value, which is 0
 * (https://sqlite.org/fileformat2.html, "Record Format"). Most nodes are inner ones, whose own sums
 * are 0. */
static bool put_row(struct paging *paging, const struct call_tree_row *row)
{
    uint8_t record[1 + COLUMNS + (COLUMNS + 1) * 8], types[COLUMNS], data[(COLUMNS + 1) * 8];
    uint8_t *end = data, *used;
    size_t count = NAMES;
    types[0] = types[1] = SERIAL_NULL; /* the id is the row's own number */
    if (row->parent != 0)
        end = writer_put_number(&types[1], end, row->parent);
    end = used = writer_put_number(&types[2], end, row->function);
    for (size_t i = 0; i < (size_t)2 * CALL_TREE_SUMS; i++) {
        const uint64_t sum = i < CALL_TREE_SUMS ? row->total[i] : row->self[i - CALL_TREE_SUMS];
        end = writer_put_number(&types[NAMES + i], end, (int64_t)sum);
        if (sum != 0) {
            count = NAMES + i + 1;
            used = end;
        }
    }
    record[0] = (uint8_t)(count + 1);
    memcpy(record + 1, types, count);
    memcpy(record + 1 + count, data, (size_t)(used - data));
    return writer_btree_put_row(&paging->table, row->id, record, 1 + count + (size_t)(used - data));
}

static bool put_node_key(struct paging *paging, const struct call_tree_row *row)
{
    uint8_t record[3 + 3 * 8], *end = record + 3;
    record[0] = 3;
    record[1] = SERIAL_NULL;
    if (row->parent != 0)
        end = writer_put_number(record + 1, end, row->parent);
    end = writer_put_number(record + 2, end, row->id);
    return writer_btree_put_key(&paging->index, record, (size_t)(end - record));
}

static bool put_node(void *context, const struct call_tree_row *row)
{
    return put_row(context, row) && put_node_key(context, row);
}

bool writer_call_nodes_pages(const struct call_tree *tree, struct writer_pages *pages,
                             uint32_t table_root, uint32_t index_root)
{
    struct paging paging;
    writer_btree_open(&paging.table, pages, table_root, WRITER_BTREE_TABLE);
    writer_btree_open(&paging.index, pages, index_root, WRITER_BTREE_INDEX);
    const bool good = call_tree_each(tree, put_node, &paging) &&
                      writer_btree_finish(&paging.table) && writer_btree_finish(&paging.index);
    writer_btree_close(&paging.table);
    writer_btree_close(&paging.index);
    return good;
}
