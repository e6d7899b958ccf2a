/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/extended.h"
#include "ingest/replay/replay.h"
#include "schemas/array.h"

/* ---- earlier ------------------------------------------------------------------------------- */

/* Replays a block of an arena as if it were allocated now. */
static bool of_arena(struct replay *replay, const struct trace_event *event)
{
    struct trace_extension extension = *event->extension;
    struct trace_event allocation = *event;
    extension.type = TRACE_EXT_ARENA_ALLOC;
    allocation.extension = &extension;
    allocation.thread = (uint32_t)extension.thread;
    return replay_arena(replay, &allocation);
}

/* Replays a block of the heap as if it were allocated now. */
static bool of_heap(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const uint64_t log2 = extension->alignment;
    const struct trace_record record = {
        .kind = TRACE_ALLOC_ATTR,
        .address = extension->address,
        .size = extension->size,
        .stack = (uint32_t)(extension->stack <= UINT32_MAX ? extension->stack : UINT32_MAX),
        .alloc_kind = extension->kind < TRACE_KIND_COUNT ? (enum trace_alloc_kind)extension->kind
                                                         : TRACE_KIND_MALLOC,
        .alignment = log2 > 0 && log2 <= 63 ? UINT64_C(1) << (log2 - 1) : 0,
    };
    struct trace_event allocation = *event;
    allocation.kind = EVENT_ALLOCATE;
    allocation.record = &record;
    allocation.thread = (uint32_t)extension->thread;
    allocation.of_realloc = false;
    return replay_allocate(replay, &allocation);
}

uint64_t replay_before_ns(const struct replay *replay, const struct trace_event *event,
                          uint64_t age)
{
    const struct trace_time *time = &replay->time;
    const uint64_t inside = event->ticks > time->start_ticks ? event->ticks - time->start_ticks : 0;
    unsigned __int128 before = age > inside ? age - inside : 0;
    if (time->scaled)
        before = before * time->ns / time->ticks;
    return before > INT64_MAX ? INT64_MAX : (uint64_t)before;
}

static bool remember(struct replay *replay, const struct trace_event *event, bool of_heap)
{
    const struct trace_extension *extension = event->extension;
    struct earlier *earlier = &replay->earlier;
    if (!ARRAY_RESERVE(earlier->before_ns, earlier->count, earlier->capacity) ||
        !ARRAY_RESERVE(earlier->heap, earlier->heap_count, earlier->heap_capacity))
        return false;
    earlier->before_ns[earlier->count++] = replay_before_ns(replay, event, extension->age);
    if (of_heap) {
        earlier->heap[earlier->heap_count++] = earlier->count;
        earlier->heap_bytes += extension->size <= REPLAY_LARGEST_SIZE ? extension->size : 0;
    }
    return true;
}

bool replay_earlier(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    struct earlier *earlier = &replay->earlier;
    const uint64_t now_ns = replay->now_ns;
    if (extension->address == 0 || extension->thread > UINT32_MAX ||
        !replay_thread(replay, (uint32_t)extension->thread))
        return true; /* the scan has said so */
    /* These records are the first events of a trace. One that comes later is damaged. */
    if (replay->events != earlier->count || replay->allocations != earlier->heap_count) {
        replay_problem(replay, event, PROBLEM_RECORD, extension->address,
                       "a block of the trace before comes after the first event");
        return true;
    }
    if (!remember(replay, event, extension->arena == 0))
        return false;
    replay->now_ns = 0;
    const bool good = extension->arena == 0 ? of_heap(replay, event) : of_arena(replay, event);
    replay->now_ns = now_ns;
    return good;
}

/* Returns the block's number from 1 among those live at the trace's beginning, or 0. */
static uint64_t number_of(const struct earlier *earlier, const struct live_block *block)
{
    uint64_t number = block->order;
    if (block->arena == 0)
        number = number <= earlier->heap_count && number ? earlier->heap[number - 1] : 0;
    return number <= earlier->count ? number : 0;
}

uint64_t replay_earlier_ns(const struct replay *replay, const struct live_block *block)
{
    const uint64_t number = number_of(&replay->earlier, block);
    return number ? replay->earlier.before_ns[number - 1] : 0;
}

/* Lists the row of a block if the block was live when the trace began. Returns `row`, or 0 if
 * memory is exhausted. */
static uint64_t replay_earlier_row(struct replay *replay, const struct live_block *block,
                                   uint64_t row)
{
    struct earlier *earlier = &replay->earlier;
    const uint64_t number = number_of(earlier, block);
    if (number == 0 || row == 0)
        return row;
    if (!ARRAY_RESERVE(earlier->rows, earlier->row_count, earlier->row_capacity))
        return 0;
    earlier->rows[earlier->row_count++] =
        (struct earlier_row){.row = row, .before_ns = earlier->before_ns[number - 1]};
    return row;
}

bool replay_earlier_copy(struct replay *copy)
{
    struct earlier *earlier = &copy->earlier;
    struct earlier_row *rows = malloc((earlier->row_count + 1) * sizeof(*rows));
    if (!rows)
        return false;
    if (earlier->row_count)
        memcpy(rows, earlier->rows, earlier->row_count * sizeof(*rows));
    earlier->rows = rows;
    earlier->row_capacity = earlier->row_count + 1;
    return true;
}

void replay_earlier_free(struct earlier *earlier)
{
    FREE_ALL(earlier->before_ns, earlier->heap, earlier->rows);
    *earlier = (struct earlier){0};
}

/* ---- blocks -------------------------------------------------------------------------------- */

void replay_problem(struct replay *replay, const struct trace_event *event, enum problem_kind kind,
                    uint64_t address, const char *detail)
{
    struct problem *problem = problems_add(&replay->problems, kind, "%s", detail);
    if (!problem)
        return;
    problem->ns = (int64_t)replay->now_ns;
    if (address != 0)
        problem->address = (int64_t)address;
    problem->thread = event->thread;
    problem->byte_offset = (int64_t)event->offset;
}

uint64_t replay_close(struct replay *replay, const struct live_block *block, uint64_t ns,
                      uint32_t thread, uint32_t stack)
{
    uint64_t lifetime = ns - block->alloc_ns;
    const struct totals_block counted = replay_counted(replay, block);
    if (!totals_free(replay->totals, &counted, replay->now_ns, lifetime, thread != 0) ||
        (replay->residency && !residency_freed(replay->residency, block)))
        return 0;
    return replay_put_row(replay, block, lifetime + 1, thread, stack);
}

uint64_t replay_close_live(struct replay *replay, struct live_block *block, uint32_t thread,
                           uint32_t stack)
{
    live_table_release(&replay->heap, block);
    uint64_t row = replay_close(replay, block, replay->now_ns, thread, stack);
    block->alloc_ns = replay->now_ns;
    return row;
}

bool replay_note_free(struct replay *replay, const struct live_block *block, uint32_t thread,
                      uint32_t stack)
{
    const struct mismatch_row *mismatch;
    if (!free_calls_note(&replay->free_calls, block, stack, &mismatch))
        return false;
    struct problem *problem =
        !mismatch ? NULL
                  : problems_add(&replay->problems, PROBLEM_MISMATCHED_FREE,
                                 "by %s, which does not match its allocation", mismatch->function);
    if (!problem)
        return true;
    problem->ns = (int64_t)replay->now_ns;
    problem->address = (int64_t)block->address;
    problem->thread = thread;
    return true;
}

bool replay_close_late(struct replay *replay, struct live_block *block,
                       const struct pending_free *waiting)
{
    struct thread_counts *thread = replay_thread(replay, waiting->thread);
    if (!thread)
        return false;
    thread->frees++;
    if (waiting->stack != 0 && !replay_note_free(replay, block, waiting->thread, waiting->stack))
        return false;
    return replay_close_live(replay, block, waiting->thread, waiting->stack) != 0;
}

/* ---- inherited ----------------------------------------------------------------------------- */

uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free)
{
    if (!ARRAY_RESERVE(replay->inherited, replay->inherited_count, replay->inherited_capacity))
        return 0;
    replay->inherited[replay->inherited_count++] = *free;
    if (block->state == BLOCK_EMPTY) {
        if (replay->residency && !residency_allocated(replay->residency, free->address, block))
            return 0;
        live_table_claim(table, block);
        *block = (struct live_block){
            .address = free->address, .alloc_ns = free->ns, .state = block->state};
        live_table_release(table, block);
    }
    return REPLAY_OF_INHERITED | replay->inherited_count;
}

/* ---- rows ---------------------------------------------------------------------------------- */

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
        replay->inherited[(block->realloc_of & ~REPLAY_OF_INHERITED) - 1].realloc_to =
            replay->rows + 1;
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

bool replay_put_live(struct replay *replay, const struct live_table *table)
{
    struct number_pair *order = malloc((table->live + 1) * sizeof(*order));
    const struct live_block *block;
    size_t count = 0;
    bool good = order != NULL;
    for (size_t at = 0; good && (block = live_table_next(table, &at));)
        order[count++] = (struct number_pair){block->order, at};
    if (good)
        sort_pairs(order, count);
    for (size_t i = 0; good && i < count; i++) {
        size_t at = order[i].value - 1;
        good = replay_put_row(replay, live_table_next(table, &at), 0, 0, 0) != 0;
    }
    free(order);
    return good;
}
