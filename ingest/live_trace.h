/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a trace that is still being recorded, in the order of time as far as that is known.
 *
 * Order of calls: live_trace_new(); live_trace_poll() now and then, and after each
 * live_trace_next() until it returns false; live_trace_free().
 *
 * A poll reads what was committed since the one before, and scans it: nodes, modules, threads. An
 * event is stamped before it is committed, so one that another thread stamped earlier may still
 * be missing; it will be there at the next poll. Events are therefore given up to the highest
 * stamp that the poll before this one has seen. Only a thread that was held up for a whole poll
 * between stamp and commit comes late, out of order.
 */
#ifndef MPROF_INGEST_LIVE_TRACE_H
#define MPROF_INGEST_LIVE_TRACE_H

#include "ingest/merge.h"
#include "ingest/trace_scan.h"

struct live_trace;

/* Both must outlive it; it refreshes `file` and fills `scan`. NULL: memory is exhausted. */
struct live_trace *live_trace_new(struct trace_file *file, struct trace_scan *scan);
void live_trace_free(struct live_trace *live);

/* False with `status` set where memory is exhausted. The extension of an event is gone then. */
bool live_trace_poll(struct live_trace *live, struct ingest_status *status);

/* Up to which ticks events are given; `at_end`: to the last one, as nothing will come any more. */
uint64_t live_trace_limit(const struct live_trace *live);
void live_trace_lift_limit(struct live_trace *live);

/* Bytes that are committed in all chunks: a number that stands still while nothing is recorded. */
uint64_t live_trace_committed(const struct live_trace *live);

/* False where the next event is behind the limit, or with `status` set. */
bool live_trace_next(struct live_trace *live, struct trace_event *event,
                     struct ingest_status *status);

#endif
