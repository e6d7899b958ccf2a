/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the order of events whose stamps do not tell it (order.c). */
#ifndef MPROF_INGEST_REPLAY_ORDER_H
#define MPROF_INGEST_REPLAY_ORDER_H

#include "ingest/replay/state.h"

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

#endif
