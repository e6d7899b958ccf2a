/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends blocks of the heap, and reads what events say: their thread, stack and size. Notes what is
 * wrong with them.
 */
#ifndef MPROF_INGEST_REPLAY_BLOCKS_H
#define MPROF_INGEST_REPLAY_BLOCKS_H

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

/*
 * Ends a block that was live on the heap, at `ns`: writes its row and updates the sums. Thread 0:
 * no thread freed it. Returns the row's id, or 0 if the sink failed.
 */
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

#endif
