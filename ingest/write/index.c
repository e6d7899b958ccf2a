/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/index.h"

#include <errno.h>
#include <stdlib.h>

#include "ingest/write/btree.h"

/* The number of rows that are sorted at once, 8 bytes each. */
enum { ROWS_AT_ONCE = 16 << 20 };

/* The number of the index's rows that are written between two calls of `stop`. */
enum { ROWS_PER_LOOK = 1 << 18 };

struct build {
    struct stack_index *index;
    struct writer_btree *tree;
    bool (*stop)(const void *context);
    const void *context;
    struct writer_columns columns;
    uint32_t *order;          /* pairs by stack and type */
    uint64_t *rows;           /* of the current range of pairs, in their places */
    uint64_t *stacks, *types; /* of one chunk */
    uint64_t low, high;       /* the first and last stack of that range */
};

/* Rows that are fetched into the cache before they are needed: first what is known of the stack,
 * later its pair. */
enum { STACKS_AHEAD = 24, PAIRS_AHEAD = 12 };

/* Prefetches for row `i` of `rows`, whose stacks are these. */
static inline void prefetch(const struct stack_index *index, const uint64_t *stacks, size_t i,
                            size_t rows)
{
    if (i + STACKS_AHEAD < rows && stacks[i + STACKS_AHEAD] < index->by_stack_capacity)
        __builtin_prefetch(&index->by_stack[stacks[i + STACKS_AHEAD]]);
    if (i + PAIRS_AHEAD < rows && stacks[i + PAIRS_AHEAD] < index->by_stack_capacity) {
        const uint32_t pair = index->by_stack[stacks[i + PAIRS_AHEAD]];
        __builtin_prefetch(&index->pairs[pair == 0 ? 0 : pair - 1], 1);
    }
}

/* Returns the pair, or INDEX_NONE if there is none yet. */
static uint32_t find_pair(struct stack_index *index, uint32_t stack, uint32_t type)
{
    if (stack < index->by_stack_capacity && index->by_stack[stack] != 0) {
        uint32_t last = index->by_stack[stack] - 1;
        if (index->pairs[last].type == type)
            return last;
    }
    uint64_t hash = hash_combine(hash_seed(), (uint64_t)stack << 32 | type);
    size_t probe = index_map_begin(&index->by_pair, hash);
    uint32_t found;
    while ((found = index_map_next(&index->by_pair, hash, &probe)) != INDEX_NONE)
        if (index->pairs[found].stack == stack && index->pairs[found].type == type)
            break;
    if (found != INDEX_NONE)
        index->by_stack[stack] = found + 1;
    return found;
}

static uint32_t add_pair(struct stack_index *index, uint32_t stack, uint32_t type)
{
    uint64_t hash = hash_combine(hash_seed(), (uint64_t)stack << 32 | type);
    if (index->count >= INDEX_NONE - 1 ||
        !array_reserve(&index->pairs, &index->capacity, index->count + 1, sizeof(*index->pairs)) ||
        !array_reserve(&index->by_stack, &index->by_stack_capacity, (size_t)stack + 1,
                       sizeof(*index->by_stack)) ||
        !index_map_insert(&index->by_pair, hash, (uint32_t)index->count))
        return INDEX_NONE;
    index->pairs[index->count] = (struct stack_index_pair){.stack = stack, .type = type};
    index->by_stack[stack] = (uint32_t)index->count + 1;
    return (uint32_t)index->count++;
}

bool writer_index_count(struct stack_index *index, const struct row_batch *batch)
{
    for (size_t i = 0; i < batch->rows; i++) {
        uint32_t stack = (uint32_t)batch->column[COLUMN_STACK][i];
        uint32_t type = (uint32_t)batch->column[COLUMN_TYPE][i];
        prefetch(index, batch->column[COLUMN_STACK], i, batch->rows);
        uint32_t pair = find_pair(index, stack, type);
        if (pair == INDEX_NONE)
            pair = add_pair(index, stack, type);
        if (pair == INDEX_NONE)
            return false;
        index->pairs[pair].rows++;
    }
    return true;
}

void writer_index_free(struct stack_index *index)
{
    free(index->pairs);
    free(index->by_stack);
    index_map_free(&index->by_pair);
    *index = (struct stack_index){0};
}

static int compare_pairs(const void *a, const void *b, void *context)
{
    const struct stack_index_pair *pairs = context;
    const struct stack_index_pair *x = &pairs[*(const uint32_t *)a];
    const struct stack_index_pair *y = &pairs[*(const uint32_t *)b];
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

/* Puts the entry (stack, type, row). */
static bool put_row(struct build *build, const struct stack_index_pair *pair, uint64_t row)
{
    uint8_t record[4 + 3 * 8], *end = record + 4;
    record[0] = 4;
    end = writer_put_number(record + 1, end, pair->stack);
    end = writer_put_number(record + 2, end, pair->type);
    end = writer_put_number(record + 3, end, (int64_t)row);
    if (row % ROWS_PER_LOOK == 0 && build->stop && build->stop(build->context))
        return writer_pages_fail(build->tree->pages, EINTR);
    return writer_btree_put_key(build->tree, record, (size_t)(end - record));
}

/* Puts the chunk's rows of the current pairs into their places. `at_once`: there is only one pair,
 * and its rows go to the tree at once. */
static bool place_rows(struct build *build, uint64_t first_row, size_t rows, bool at_once)
{
    struct stack_index *index = build->index;
    bool good = true;
    for (size_t i = 0; good && i < rows; i++) {
        prefetch(index, build->stacks, i, rows);
        if (build->stacks[i] < build->low || build->stacks[i] > build->high)
            continue;
        uint32_t found = find_pair(index, (uint32_t)build->stacks[i], (uint32_t)build->types[i]);
        struct stack_index_pair *pair = &index->pairs[found];
        if (found == INDEX_NONE)
            return writer_pages_fail(build->tree->pages, EIO);
        if (pair->next == UINT64_MAX)
            continue;
        if (at_once)
            good = put_row(build, pair, first_row + i);
        else
            build->rows[pair->next++] = first_row + i;
    }
    return good;
}

static bool read_columns(struct build *build, bool at_once)
{
    bool good = true;
    for (uint64_t chunk = 0; good; chunk++) {
        size_t rows =
            writer_columns_read(&build->columns, chunk, COLUMN_STACK, NULL, build->stacks);
        if (rows == 0)
            break;
        if (writer_columns_read(&build->columns, chunk, COLUMN_TYPE, NULL, build->types) != rows)
            return writer_pages_fail(build->tree->pages, EIO);
        if (build->stop && build->stop(build->context))
            return writer_pages_fail(build->tree->pages, EINTR);
        good = place_rows(build, chunk * COLUMN_CHUNK_ROWS + 1, rows, at_once);
    }
    if (build->columns.failed)
        return writer_pages_fail(build->tree->pages, EIO);
    return build->tree->pages->error == 0;
}

/* Puts the entries of the pairs order[first … end), in order. */
static bool put_pairs(struct build *build, size_t first, size_t end)
{
    struct stack_index_pair *pairs = build->index->pairs;
    uint64_t place = 0;
    bool good = true;
    for (size_t i = first; i < end; i++) {
        pairs[build->order[i]].next = place;
        place += pairs[build->order[i]].rows;
    }
    build->low = pairs[build->order[first]].stack;
    build->high = pairs[build->order[end - 1]].stack;
    /* If one pair has more rows than fit, its rows are in order already. */
    bool at_once = place > ROWS_AT_ONCE;
    good = read_columns(build, at_once);
    place = 0;
    for (size_t i = first; good && i < end && !at_once; i++) {
        const struct stack_index_pair *pair = &pairs[build->order[i]];
        if (pair->next != place + pair->rows)
            return writer_pages_fail(build->tree->pages, EIO);
        for (; good && place < pair->next; place++)
            good = put_row(build, pair, build->rows[place]);
    }
    for (size_t i = first; i < end; i++)
        pairs[build->order[i]].next = UINT64_MAX;
    return good;
}

static bool put_all(struct build *build)
{
    const struct stack_index *index = build->index;
    size_t end;
    for (size_t i = 0; i < index->count; i++) {
        build->order[i] = (uint32_t)i;
        index->pairs[i].next = UINT64_MAX;
    }
    qsort_r(build->order, index->count, sizeof(*build->order), compare_pairs, index->pairs);
    for (size_t first = 0; first < index->count; first = end) {
        uint64_t rows = index->pairs[build->order[first]].rows;
        for (end = first + 1; end < index->count; end++) {
            rows += index->pairs[build->order[end]].rows;
            if (rows > ROWS_AT_ONCE)
                break;
        }
        if (!put_pairs(build, first, end))
            return false;
    }
    return true;
}

/* Returns how many rows need memory at once. */
static uint64_t rows_at_once(const struct stack_index *index)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < index->count && rows < ROWS_AT_ONCE; i++)
        rows += index->pairs[i].rows;
    return rows < ROWS_AT_ONCE ? rows : ROWS_AT_ONCE;
}

bool writer_index_build(struct stack_index *index, const char *path, struct writer_btree *tree,
                        bool (*stop)(const void *context), const void *context)
{
    struct build build = {.index = index, .tree = tree, .stop = stop, .context = context};
    size_t chunk_size = COLUMN_CHUNK_ROWS * sizeof(uint64_t);
    build.order = malloc((index->count + 1) * sizeof(*build.order));
    build.rows = malloc((rows_at_once(index) + 1) * sizeof(*build.rows));
    build.stacks = malloc(chunk_size);
    build.types = malloc(chunk_size);
    bool good = build.order && build.rows && build.stacks && build.types;
    if (!good)
        writer_pages_fail(build.tree->pages, ENOMEM);
    else if (!writer_columns_open(&build.columns, path))
        good = writer_pages_fail(build.tree->pages, EIO);
    good = good && put_all(&build);
    writer_columns_close(&build.columns);
    free(build.order);
    free(build.rows);
    free(build.stacks);
    free(build.types);
    return good;
}

/* ---- columns ------------------------------------------------------------------------------- */

static int prepare(struct writer_columns *columns, sqlite3 *database)
{
    return sqlite3_prepare_v2(database, "SELECT rows, min, data FROM column_chunk WHERE id = ?", -1,
                              &columns->query, NULL);
}

bool writer_columns_open(struct writer_columns *columns, const char *path)
{
    *columns = (struct writer_columns){.database = NULL};
    return sqlite3_open_v2(path, &columns->database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
           prepare(columns, columns->database) == SQLITE_OK;
}

int writer_columns_begin(struct writer_columns *columns, sqlite3 *database)
{
    *columns = (struct writer_columns){.database = NULL};
    return prepare(columns, database);
}

void writer_columns_close(struct writer_columns *columns)
{
    sqlite3_finalize(columns->query);
    sqlite3_close(columns->database);
}

size_t writer_columns_read(struct writer_columns *columns, uint64_t chunk, unsigned column,
                           const uint64_t *life, uint64_t *values)
{
    sqlite3_stmt *query = columns->query;
    size_t rows = 0;
    sqlite3_bind_int64(query, 1, (int64_t)(chunk * COLUMN_ID_STRIDE + column));
    int result = sqlite3_step(query);
    if (result == SQLITE_ROW) {
        const uint64_t min = (uint64_t)sqlite3_column_int64(query, 1);
        const uint8_t *data = sqlite3_column_blob(query, 2);
        const size_t length = (size_t)sqlite3_column_bytes(query, 2);
        rows = (size_t)sqlite3_column_int64(query, 0);
        for (size_t i = 0; length == 0 && i < rows && i < COLUMN_CHUNK_ROWS; i++)
            values[i] = min;
        if (rows > COLUMN_CHUNK_ROWS ||
            (length > 0 && !column_unpack(data, length, life, rows, values))) {
            rows = 0;
            columns->failed = true;
        }
    } else if (result != SQLITE_DONE) {
        columns->failed = true;
    }
    sqlite3_reset(query);
    return rows;
}

bool writer_columns_read_batch(struct writer_columns *columns, uint64_t chunk,
                               struct row_batch *batch)
{
    const uint64_t *life = batch->column[COLUMN_LIFE_NS];
    batch->first_id = chunk * COLUMN_CHUNK_ROWS + 1;
    batch->rows =
        writer_columns_read(columns, chunk, COLUMN_LIFE_NS, NULL, batch->column[COLUMN_LIFE_NS]);
    bool good = batch->rows != 0;
    for (unsigned i = 0; good && i < COLUMN_TOTAL; i++)
        good = i == COLUMN_LIFE_NS ||
               writer_columns_read(columns, chunk, i, i == COLUMN_ALLOC_NS ? life : NULL,
                                   batch->column[i]) == batch->rows;
    return good;
}
