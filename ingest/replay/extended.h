/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays rare records, such as marks and samples. */
#ifndef MPROF_INGEST_REPLAY_EXTENDED_H
#define MPROF_INGEST_REPLAY_EXTENDED_H

#include "ingest/replay/state.h"

/* Replays an extended record: arena, mark, RSS and others. False if memory is exhausted or the sink
 * failed. */
bool replay_extended(struct replay *replay, const struct trace_event *event);

/* Adds a snapshot that the program asked for by number of allocations. */
bool replay_autosave(struct replay *replay);

#endif
