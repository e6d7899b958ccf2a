/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/rows.h"

#include <stdlib.h>

#include "ingest/replay/earlier.h"
#include "ingest/replay/inherited.h"

/* Returns the type of a block, which the rules or the program have named, and its elements. Blocks
 * of an arena are not the result of a call that the type rules can follow. */
static struct type_answer type_of(const struct replay *replay, const struct live_block *block)
{
    if (block->named || block->arena != 0)
        return (struct type_answer){block->type, block->count};
    struct type_answer answer = {block->type, block->count};
    if (!block->type_by_rules) {
        answer = type_table_find(replay->types, block->stack, block->size, block->kind);
        /* A type that the program has declared since may change the rules' answers. */
        if (answer.type != block->type)
            answer = (struct type_answer){block->type, 1};
    }
    if (answer.type == 0 && !block->unknown_listed)
        type_table_unknown(replay->types, block->stack, block->size);
    return answer;
}

uint64_t replay_put_row(struct replay *replay, const struct live_block *block, uint64_t life_ns,
                        uint32_t free_thread, uint32_t free_stack)
{
    struct row_batch *batch = replay->batch;
    if (!batch)
        return 0;
    struct type_answer type = type_of(replay, block);
    if (replay->skips_rows) {
        replay->skipped_rows++;
        return REPLAY_NO_ROW;
    }
    size_t row = batch->rows++;
    const bool of_none = block->realloc_of == REPLAY_NO_ROW;
    const bool of_inherited = !of_none && (block->realloc_of & REPLAY_OF_INHERITED) != 0;
    if (of_inherited)
        replay_inherited_became(replay, block->realloc_of, replay->rows + 1);
    batch->column[COLUMN_ADDRESS][row] = block->address;
    batch->column[COLUMN_SIZE][row] = block->size;
    batch->column[COLUMN_ALLOC_NS][row] = block->alloc_ns;
    batch->column[COLUMN_LIFE_NS][row] = life_ns;
    batch->column[COLUMN_STACK][row] = block->stack;
    batch->column[COLUMN_THREAD][row] = block->thread;
    batch->column[COLUMN_FREE_THREAD][row] = free_thread;
    batch->column[COLUMN_KIND][row] = block->kind;
    batch->column[COLUMN_TYPE][row] = type.type;
    batch->column[COLUMN_ARENA][row] = block->arena;
    batch->column[COLUMN_COUNT_OF_OBJECTS][row] = type.count;
    batch->column[COLUMN_ALIGNMENT][row] =
        block->alignment ? UINT64_C(1) << (block->alignment - 1) : 0;
    batch->column[COLUMN_REALLOC_OF][row] = of_inherited || of_none ? 0 : block->realloc_of;
    batch->column[COLUMN_FREE_STACK][row] = free_stack;
    if (batch->rows == COLUMN_CHUNK_ROWS) {
        replay->batch = replay->sink.exchange(replay->sink.context, batch);
        if (!replay->batch)
            return 0;
        replay->batch->rows = 0;
        replay->batch->first_id = replay->rows + 2;
    }
    return replay_earlier_row(replay, block, ++replay->rows);
}

struct order_entry {
    uint64_t order;
    const struct live_block *block;
};

static int compare_order(const void *a, const void *b)
{
    const struct order_entry *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

bool replay_put_live(struct replay *replay, const struct live_table *table)
{
    struct order_entry *entries = malloc((table->live + 1) * sizeof(*entries));
    size_t count = 0;
    bool good = entries != NULL;
    for (size_t i = 0; good && i < table->capacity; i++)
        if (table->blocks[i].state == BLOCK_LIVE)
            entries[count++] = (struct order_entry){table->blocks[i].order, &table->blocks[i]};
    if (good)
        qsort(entries, count, sizeof(*entries), compare_order);
    for (size_t i = 0; good && i < count; i++)
        good = replay_put_row(replay, entries[i].block, 0, 0, 0) != 0;
    free(entries);
    return good;
}
