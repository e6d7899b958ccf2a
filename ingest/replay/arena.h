/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays the events of custom allocators. */
#ifndef MPROF_INGEST_REPLAY_ARENA_H
#define MPROF_INGEST_REPLAY_ARENA_H

#include "ingest/replay/state.h"

/* Replays ARENA and ARENA_* records. False if memory is exhausted or the sink failed. */
bool replay_arena(struct replay *replay, const struct trace_event *event);

/* Returns the blocks of an arena, or of the heap for 0. NULL if there is no such arena. */
struct live_table *replay_blocks(struct replay *replay, uint64_t arena);

#endif
