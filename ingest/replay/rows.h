/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a row of `allocation` for each block. */
#ifndef MPROF_INGEST_REPLAY_ROWS_H
#define MPROF_INGEST_REPLAY_ROWS_H

#include "ingest/replay/state.h"

/* The id of a skipped row. In `realloc_of` of a block it means none. */
#define REPLAY_NO_ROW UINT64_MAX

/*
 * Writes the row of `block`. life_ns 0: it was never freed. Returns the row's id, or 0 if the sink
 * failed.
 */
uint64_t replay_put_row(struct replay *replay, const struct live_block *block, uint64_t life_ns,
                        uint32_t free_thread, uint32_t free_stack);

/*
 * Writes rows of all live blocks of `table` (one of the replay's), in the order of allocation.
 * replay_finish() calls it. Before that, only call it for a copy of the replay with its own sink.
 * False if memory is exhausted or the sink failed.
 */
bool replay_put_live(struct replay *replay, const struct live_table *table);

#endif
