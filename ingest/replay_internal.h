/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of replay share. */
#ifndef MPROF_INGEST_REPLAY_INTERNAL_H
#define MPROF_INGEST_REPLAY_INTERNAL_H

#include "ingest/replay.h"

/* Row of the event's thread. NULL where the scan did not believe the thread's number. */
struct thread_row *replay_thread(struct replay *replay, uint32_t number);

/* Notes a problem with the event's time, thread and place in the trace. Address 0: none. */
void replay_problem(struct replay *replay, const struct trace_event *event, enum problem_kind kind,
                    uint64_t address, const char *detail);

/*
 * Writes the row of `block`; life_ns 0: it was never freed. Returns the row's id, 0 where the sink
 * refused.
 */
uint64_t replay_put_row(struct replay *replay, const struct live_block *block, uint64_t life_ns,
                        uint32_t free_thread, uint32_t free_stack);

/* Stack id of an event's node; counts orphans. INDEX_NONE where memory is exhausted. */
uint32_t replay_stack(struct replay *replay, const struct trace_event *event, uint64_t node);

/* A size as it counts: impossible ones are noted, and 0. */
uint64_t replay_size(struct replay *replay, const struct trace_event *event, uint64_t size);

/*
 * Ends a block that was live on the heap, at `ns`: its row, its share in the sums. Thread 0: nobody
 * freed it. Returns the row's id, 0 where the sink refused.
 */
uint64_t replay_close(struct replay *replay, const struct live_block *block, uint64_t ns,
                      uint32_t thread, uint32_t stack);

/* Ends a block of the heap by a free that had waited for it. False where the sink refused. */
bool replay_close_late(struct replay *replay, struct live_block *block,
                       const struct pending_free *waiting);

/* What waits and is not waited for any longer at `event` (NULL: at the end). False: sink refused.
 */
bool replay_settle_frees(struct replay *replay, const struct trace_event *event);
bool replay_settle_blocks(struct replay *replay, const struct trace_event *event);

/* Lets a free of what is not live wait. False where memory is exhausted. */
bool replay_keep_free(struct replay *replay, const struct trace_event *event, uint64_t address,
                      uint32_t stack);
/* The free that waits for `block`, if one does. */
bool replay_take_free(struct replay *replay, const struct live_block *block,
                      struct pending_free *taken);

/* Lets a live block wait whose address `event` gives out. False where memory is exhausted. */
bool replay_displace(struct replay *replay, const struct trace_event *event,
                     const struct live_block *block);
/* The first block that waits for a free of `address` such as `event`, if one does. */
bool replay_take_displaced(struct replay *replay, const struct trace_event *event, uint64_t address,
                           struct live_block *block);

/* A row that was skipped; in `realloc_of` of a block as if there were none. */
#define REPLAY_NO_ROW UINT64_MAX

/* In `realloc_of` of a block: it was made of an inherited one, whose index + 1 the rest is. */
#define REPLAY_OF_INHERITED (UINT64_C(1) << 63)

/*
 * Notes a free of what a forked process did not allocate itself; `block` is what its table has at
 * the address, not live. Returns what the realloc_of of a block made of it is; 0: memory is
 * exhausted.
 */
uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free);

/* Puts the row of the block that was made of an inherited one. */
void replay_inherited_became(struct replay *replay, uint64_t realloc_of, uint64_t row);

/* Arena, mark, RSS and the like. False where memory is exhausted or the sink refused. */
bool replay_extended(struct replay *replay, const struct trace_event *event);

/* ARENA and ARENA_*: false where memory is exhausted or the sink refused. */
bool replay_arena(struct replay *replay, const struct trace_event *event);

/* The blocks of an arena, of the heap for 0; NULL where there is no such arena. */
struct live_table *replay_blocks(struct replay *replay, uint64_t arena);

/* A snapshot that the program asked for by number of allocations. */
bool replay_autosave(struct replay *replay);

/* Whether a block that is not live may have been allocated while recording was paused. */
static inline bool replay_may_be_unseen(const struct replay *replay, const struct live_block *block)
{
    return replay->rested && (block->state != BLOCK_FREED || block->alloc_ns < replay->rested_ns);
}

#endif
