/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that were live when a rotated trace began (trace-format.md, "Rotation").
 *
 * They count as allocations at the time 0, so that all sums and rows agree. Their rows are listed,
 * and so is how long before the trace they were allocated.
 */
#ifndef MPROF_INGEST_REPLAY_EARLIER_H
#define MPROF_INGEST_REPLAY_EARLIER_H

#include "ingest/replay/state.h"

/* Replays a LIVE record. False if memory is exhausted or the sink failed. */
bool replay_earlier(struct replay *replay, const struct trace_event *event);

/* Returns how long before the beginning of the trace something happened that is `age` ticks older
 * than the event, in ns. 0: not before it. */
uint64_t replay_before_ns(const struct replay *replay, const struct trace_event *event,
                          uint64_t age);

/* Returns how long before the trace the block was allocated, in ns. 0: in the trace. */
uint64_t replay_earlier_ns(const struct replay *replay, const struct live_block *block);

/* Lists the row of a block if the block was live when the trace began. Returns `row`, or 0 if
 * memory is exhausted. */
uint64_t replay_earlier_row(struct replay *replay, const struct live_block *block, uint64_t row);

/* Gives `copy` rows of its own, which it may add to. False if memory is exhausted. */
bool replay_earlier_copy(struct replay *copy);

void replay_earlier_free(struct earlier *earlier);

#endif
