/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays rare records: marks, samples and custom allocators. */
#pragma once

#include "ingest/replay/state.h"

/* Replays an extended record. False if memory is exhausted or the sink failed. */
bool replay_extended(struct replay *replay, const struct trace_event *event);

/* Adds a snapshot that the program asked for by number of allocations. */
bool replay_autosave(struct replay *replay);

/* Adds a mark for each snapshot of references, not an event. False if memory is exhausted. */
bool replay_reference_marks(struct replay *replay);

/* Replays ARENA and ARENA_* records. False if memory is exhausted or the sink failed. */
bool replay_arena(struct replay *replay, const struct trace_event *event);

/* Prefetches what a short record of an arena needs. */
void replay_prefetch_arena(const struct replay *replay, const struct trace_record *record);

/* The blocks that an arena keeps: the live ones that its runtime's last collection left. */
struct kept_blocks {
    bool known; /* there was such a collection; otherwise all live blocks are kept */
    int64_t ns; /* when it began; below 0: before the trace */
    uint64_t count, bytes;
};

struct kept_blocks replay_kept(const struct replay *replay, const struct arena_row *arena);
