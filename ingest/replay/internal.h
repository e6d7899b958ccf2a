/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that the parts of replay share. */
#ifndef MPROF_INGEST_REPLAY_INTERNAL_H
#define MPROF_INGEST_REPLAY_INTERNAL_H

#include "ingest/replay/replay.h"

/* Returns the counts of a thread, or NULL if the scan rejected its number. */
struct thread_counts *replay_thread(struct replay *replay, uint32_t number);

/* Notes a problem with the event's time, thread and place in the trace. Address 0: none. */
void replay_problem(struct replay *replay, const struct trace_event *event, enum problem_kind kind,
                    uint64_t address, const char *detail);

/*
 * Writes the row of `block`. life_ns 0: it was never freed. Returns the row's id, or 0 if the sink
 * failed.
 */
uint64_t replay_put_row(struct replay *replay, const struct live_block *block, uint64_t life_ns,
                        uint32_t free_thread, uint32_t free_stack);

/* Returns the stack id of an event's node. Counts orphans. INDEX_NONE if memory is exhausted. */
uint32_t replay_stack(struct replay *replay, const struct trace_event *event, uint64_t node);

/* Returns `size`, or 0 for an impossible size, which it notes as a problem. */
uint64_t replay_size(struct replay *replay, const struct trace_event *event, uint64_t size);

/*
 * Ends a block that was live on the heap, at `ns`: writes its row and updates the sums. Thread 0:
 * no thread freed it. Returns the row's id, or 0 if the sink failed.
 */
uint64_t replay_close(struct replay *replay, const struct live_block *block, uint64_t ns,
                      uint32_t thread, uint32_t stack);

/* Ends a block of the heap by a free that waited for it. False if the sink failed. */
bool replay_close_late(struct replay *replay, struct live_block *block,
                       const struct pending_free *waiting);

/* Settle the frees and the blocks that need not wait any longer at `event` (NULL: at the end).
 * False if the sink failed. */
bool replay_settle_frees(struct replay *replay, const struct trace_event *event);
bool replay_settle_blocks(struct replay *replay, const struct trace_event *event);

/* Keeps a free of a block that is not live, until its order is known. False if memory is
 * exhausted. */
bool replay_keep_free(struct replay *replay, const struct trace_event *event, uint64_t address,
                      uint32_t stack);
/* Takes the free that waits for `block` out of the list. False if there is none. */
bool replay_take_free(struct replay *replay, const struct live_block *block,
                      struct pending_free *taken);

/* Keeps a live block whose address `event` gives out again. False if memory is exhausted. */
bool replay_contest(struct replay *replay, const struct trace_event *event,
                    const struct live_block *block);
/* Takes the first block that waits for a free of `address`, such as `event`, out of the list. False
 * if there is none. */
bool replay_take_contested(struct replay *replay, const struct trace_event *event, uint64_t address,
                           struct live_block *block);

/* The id of a skipped row. In `realloc_of` of a block it means none. */
#define REPLAY_NO_ROW UINT64_MAX

/* A flag in `realloc_of` of a block: the block was made of an inherited one. The other bits are the
 * index + 1 of that one. */
#define REPLAY_OF_INHERITED (UINT64_C(1) << 63)

/*
 * Notes a free of a block that a forked process did not allocate itself. `block` is the entry of
 * its table at the address, which is not live. Returns the `realloc_of` for a block that is made of
 * it, or 0 if memory is exhausted.
 */
uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free);

/* Sets the row of the block that was made of an inherited one. */
void replay_inherited_became(struct replay *replay, uint64_t realloc_of, uint64_t row);

/* Replays an extended record: arena, mark, RSS and others. False if memory is exhausted or the sink
 * failed. */
bool replay_extended(struct replay *replay, const struct trace_event *event);

/* Replays ARENA and ARENA_* records. False if memory is exhausted or the sink failed. */
bool replay_arena(struct replay *replay, const struct trace_event *event);

/* Returns the blocks of an arena, or of the heap for 0. NULL if there is no such arena. */
struct live_table *replay_blocks(struct replay *replay, uint64_t arena);

/* Adds a snapshot that the program asked for by number of allocations. */
bool replay_autosave(struct replay *replay);

/* Tells whether a block that is not live may have been allocated while recording was paused. */
static inline bool replay_may_be_unseen(const struct replay *replay, const struct live_block *block)
{
    return replay->paused_before &&
           (block->state != BLOCK_FREED || block->alloc_ns < replay->resumed_ns);
}

#endif
