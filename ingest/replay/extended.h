/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays rare records: marks and samples (extended.c), custom allocators (arena.c). */
#ifndef MPROF_INGEST_REPLAY_EXTENDED_H
#define MPROF_INGEST_REPLAY_EXTENDED_H

#include "ingest/replay/state.h"

/* Replays an extended record: arena, mark, RSS and others. False if memory is exhausted or the sink
 * failed. */
bool replay_extended(struct replay *replay, const struct trace_event *event);

/* Adds a snapshot that the program asked for by number of allocations. */
bool replay_autosave(struct replay *replay);

/* Replays ARENA and ARENA_* records. False if memory is exhausted or the sink failed. */
bool replay_arena(struct replay *replay, const struct trace_event *event);

/* Returns the blocks of an arena, or of the heap for 0. NULL if there is no such arena. */
struct live_table *replay_blocks(struct replay *replay, uint64_t arena);

#endif
