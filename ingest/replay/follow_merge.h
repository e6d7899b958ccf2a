/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives the events of a trace that is still being recorded, in the order of time as far as it is
 * known.
 *
 * Order of calls: live_trace_new(); live_trace_poll() from time to time, and after each poll
 * live_trace_next() until it returns false; live_trace_free().
 *
 * A poll reads the records that were committed since the last one, and scans them for nodes,
 * modules and threads. A thread stamps an event before it commits it. So at a poll an event with an
 * earlier stamp may still be missing, but the next poll sees it. Therefore events are given only up
 * to the highest stamp that the previous poll has seen. An event comes late, out of order, only if
 * its thread was held up for a whole poll between stamp and commit.
 */
#ifndef MPROF_INGEST_REPLAY_FOLLOW_MERGE_H
#define MPROF_INGEST_REPLAY_FOLLOW_MERGE_H

#include "ingest/replay/scan.h"
#include "ingest/trace/merge.h"

struct live_trace;

/* Begins to read `file`, which it refreshes, and to fill `scan`. Both must outlive the result. NULL
 * if memory is exhausted. */
struct live_trace *live_trace_new(struct trace_file *file, struct trace_scan *scan);
void live_trace_free(struct live_trace *live);

/* Reads what the trace has gained. Extensions of earlier events become invalid. False with `status`
 * set if memory is exhausted. */
bool live_trace_poll(struct live_trace *live, struct ingest_status *status);

/* Returns the stamp up to which events are given. live_trace_lift_limit() makes it the last stamp:
 * call that when no more records will come. */
uint64_t live_trace_limit(const struct live_trace *live);
void live_trace_lift_limit(struct live_trace *live);

/* Returns the bytes that are committed in all chunks, a number that grows when anything is
 * recorded. */
uint64_t live_trace_committed(const struct live_trace *live);

/* Gives the next event. False if there is none up to the limit, or with `status` set. */
bool live_trace_next(struct live_trace *live, struct trace_event *event,
                     struct ingest_status *status);

#endif
