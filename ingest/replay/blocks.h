/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends blocks of the heap, and reads what events say: their thread, stack and size. Notes what is
 * wrong with them. */
#pragma once

#include "ingest/replay/state.h"

#define REPLAY_LARGEST_SIZE (UINT64_C(1) << 47) /* of a block: the address space */
#define REPLAY_LARGEST_SUM (UINT64_C(1) << 62)  /* of all blocks */

/* Returns the counts of a thread, or NULL if the scan rejected its number. */
static inline struct thread_counts *replay_thread(struct replay *replay, uint32_t number)
{
    if (!replay->last || replay->last_number != number) {
        uint32_t index = threads_known(&replay->scan->threads, number);
        replay->last = index == INDEX_NONE ? NULL : &replay->threads[index];
        replay->last_number = number;
    }
    return replay->last;
}

/* Notes a problem with the event's time, thread and place in the trace. Address 0: none. */
void replay_problem(struct replay *replay, const struct trace_event *event, enum problem_kind kind,
                    uint64_t address, const char *detail);

/* Returns the stack id of an event's node. Counts orphans. INDEX_NONE if memory is exhausted. */
static inline uint32_t replay_stack(struct replay *replay, const struct trace_event *event,
                                    uint64_t node)
{
    uint32_t stack = stacks_find(replay->stacks, node > UINT32_MAX ? UINT32_MAX : (uint32_t)node);
    if (stack != INDEX_NONE && replay->stacks->rows[stack].state == STACK_LOST) {
        replay->orphaned_events++;
        replay_problem(replay, event, PROBLEM_ORPHANED_STACK, 0,
                       "the stack was defined in a part of the trace that is lost");
    }
    return stack;
}

/* Returns `size`, or 0 for an impossible size, which it notes as a problem. The sum of all sizes
 * fits into a number of the session. */
static inline uint64_t replay_size(struct replay *replay, const struct trace_event *event,
                                   uint64_t size)
{
    if (size <= REPLAY_LARGEST_SIZE && size <= REPLAY_LARGEST_SUM - replay->sizes) {
        replay->sizes += size;
        return size;
    }
    replay_problem(replay, event, PROBLEM_IMPOSSIBLE_SIZE, event->record->address,
                   size <= REPLAY_LARGEST_SIZE ? "the sum is too large for a number: taken as 0"
                                               : "larger than the address space: taken as 0");
    return 0;
}

/* Notes a problem if the function that frees the block does not match its allocation. False if
 * memory is exhausted. */
bool replay_note_free(struct replay *replay, const struct live_block *block, uint32_t thread,
                      uint32_t stack);

/* Ends a block that was live on the heap, at `ns`: writes its row and updates the sums. Thread 0:
 * no thread freed it. Returns the row's id, or 0 if the sink failed. */
uint64_t replay_close(struct replay *replay, const struct live_block *block, uint64_t ns,
                      uint32_t thread, uint32_t stack);

/* Does the same for a block that is in the table, now. */
uint64_t replay_close_live(struct replay *replay, struct live_block *block, uint32_t thread,
                           uint32_t stack);

/* Ends a block of the heap by a free that waited for it. False if the sink failed. */
bool replay_close_late(struct replay *replay, struct live_block *block,
                       const struct pending_free *waiting);

/* Returns true if a block that is not live may have been allocated while recording was paused. */
static inline bool replay_may_be_unseen(const struct replay *replay, const struct live_block *block)
{
    return replay->paused_before &&
           (block->state != BLOCK_FREED || block->alloc_ns < replay->resumed_ns);
}

/* Returns what the sums need to know of a block of the heap. */
static inline struct totals_block replay_counted(const struct replay *replay,
                                                 const struct live_block *block)
{
    return (struct totals_block){
        .address = block->address,
        .size = block->size,
        .order = block->order,
        .alloc_ns = block->alloc_ns,
        .stack = block->stack,
        .function = stacks_function(replay->stacks, block->stack),
        .type = block->type,
    };
}

/* Notes frees of blocks that a forked process has inherited from its parent. */

/* A flag in `realloc_of` of a block: the block was made of an inherited one. The other bits are the
 * index + 1 of that one. */
#define REPLAY_OF_INHERITED (UINT64_C(1) << 63)

/* Notes a free of a block that a forked process did not allocate itself. `block` is the entry of
 * its table at the address, which is not live. Returns the `realloc_of` for a block that is made of
 * it, or 0 if memory is exhausted. */
uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free);

/* Writes a row of `allocation` for each block. */

/* The id of a skipped row. In `realloc_of` of a block it means none. */
#define REPLAY_NO_ROW UINT64_MAX

/* Writes the row of `block`. life_ns 0: it was never freed. Returns the row's id, or 0 if the sink
 * failed. */
uint64_t replay_put_row(struct replay *replay, const struct live_block *block, uint64_t life_ns,
                        uint32_t free_thread, uint32_t free_stack);

/* Writes rows of all live blocks of `table` (one of the replay's), in the order of allocation.
 * replay_finish() calls it. Before that, only call it for a copy of the replay with its own sink.
 * False if memory is exhausted or the sink failed. */
bool replay_put_live(struct replay *replay, const struct live_table *table);

/* ---- earlier ------------------------------------------------------------------------------- */

/* Blocks that were live when a rotated trace began (trace-format.md, "Rotation").
 *
 * They count as allocations at the time 0, so that all sums and rows agree. Their rows are listed,
 * and so is how long before the trace they were allocated. */

/* Replays a LIVE record. False if memory is exhausted or the sink failed. */
bool replay_earlier(struct replay *replay, const struct trace_event *event);

/* Returns how long before the beginning of the trace something happened that is `age` ticks older
 * than the event, in ns. 0: not before it. */
uint64_t replay_before_ns(const struct replay *replay, const struct trace_event *event,
                          uint64_t age);

/* Returns how long before the trace the block was allocated, in ns. 0: in the trace. */
uint64_t replay_earlier_ns(const struct replay *replay, const struct live_block *block);

/* Gives `copy` rows of its own, which it may add to. False if memory is exhausted. */
bool replay_earlier_copy(struct replay *copy);

void replay_earlier_free(struct earlier *earlier);
