/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns events in the order of time into allocations: a free completes the row that its allocation
 * began. Rows are numbered 1, 2, 3, … as they are completed. Blocks that are never freed come last.
 *
 * Order of calls: replay_init(), replay_event() for each event of the merge, replay_finish(),
 * then the results may be read, replay_free().
 *
 * Events that do not match:
 *  - A free of an address that is not live is an *unmatched free*. If the same address was freed
 *    before and the table still remembers it, it is a *double free*. So a double free is certain,
 *    but a late one may be counted as unmatched. Neither counts as a free.
 *  - An allocation of an address that is live is an *overlap*. The old block is closed at the new
 *    one's time, without a freeing thread. The program did not free it, so it does not count as a
 *    free.
 *  - A realloc of an unknown address is an unmatched free and an allocation.
 *  - In a forked process the first free of a block that it did not allocate is presumed to be of an
 *    inherited block: blocks.c. The second one is a double free.
 *  - An event whose stack is not defined in the readable parts of the trace is *orphaned*. Its
 * stack is the one row with state 'lost'.
 *  - A size above 2^47 is impossible. It is counted as a problem and taken as 0. */
#pragma once

#include "ingest/replay/state.h"

/* Begins the replay. All pointers must outlive it. False with `status` set. */
bool replay_init(struct replay *replay, const struct trace_file *file,
                 const struct trace_scan *scan, struct stacks *stacks, struct totals *totals,
                 struct type_table *types, struct row_sink sink, struct ingest_status *status);

/* Takes the clock and the threads that a scan has found since. False if memory is exhausted. */
bool replay_extend(struct replay *replay, const struct trace_file *file);

/* Prefetches what the record's event will need. For merge_watch(), with the replay as context. */
void replay_prefetch_block(void *context, const struct trace_record *record);

/* Prefetches, after replay_prefetch_block(), the stack of the block that the record frees. */
void replay_prefetch_stack(void *context, const struct trace_record *record);

/* Replays one event. False with `status` set if memory is exhausted or the sink failed. */
bool replay_event(struct replay *replay, const struct trace_event *event,
                  struct ingest_status *status);

/* Replays an allocation of the heap. False if memory is exhausted or the sink failed. */
bool replay_allocate(struct replay *replay, const struct trace_event *event);

/* Writes rows of the blocks that are still live, in the order of allocation, and the last batch.
 * False with `status` set. */
bool replay_finish(struct replay *replay, struct ingest_status *status);

void replay_free(struct replay *replay);
