/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives the events of a trace that is still being recorded, in the order of time as far as it is
 * known.
 *
 * Order of calls: trace_follow_new(); trace_follow_poll() from time to time, and after each poll
 * trace_follow_next() until it returns false; trace_follow_free().
 *
 * A poll reads the records that were committed since the last one, and gives them to a scanner
 * first. A thread stamps an event before it commits it. So at a poll an event with an earlier stamp
 * may still be missing, but the next poll sees it. Therefore events are given only up to the
 * highest stamp that the previous poll has seen. An event comes late, out of order, only if its
 * thread was held up for a whole poll between stamp and commit.
 */
#ifndef MPROF_INGEST_TRACE_FOLLOW_H
#define MPROF_INGEST_TRACE_FOLLOW_H

#include "ingest/trace/cursor.h"
#include "ingest/trace/merge.h"

/* Reads the records before the merge does. Both functions return false if memory is exhausted. */
struct trace_scanner {
    void *context;
    /* Reads the records of a chunk from the position of `cursor` on. Nothing else uses this cursor.
     * `begins`: it is at the chunk's begin. */
    bool (*read)(void *context, struct trace_cursor *cursor, bool begins);
    /* Ends a poll. Gives the highest stamp of all records so far. */
    bool (*polled)(void *context, uint64_t *last_ticks);
};

struct trace_follow;

/* Begins to read `file`, which it refreshes. The file and the scanner's context must outlive the
 * result. NULL if memory is exhausted. */
struct trace_follow *trace_follow_new(struct trace_file *file, struct trace_scanner scanner);
void trace_follow_free(struct trace_follow *follow);

/* Reads what the trace has gained. Extensions of earlier events become invalid. False with `status`
 * set if memory is exhausted. */
bool trace_follow_poll(struct trace_follow *follow, struct ingest_status *status);

/* Returns the stamp up to which events are given. trace_follow_lift_limit() makes it the last
 * stamp: call that when no more records will come. */
uint64_t trace_follow_limit(const struct trace_follow *follow);
void trace_follow_lift_limit(struct trace_follow *follow);

/* Returns the bytes that are committed in all chunks, a number that grows when anything is
 * recorded. */
uint64_t trace_follow_committed(const struct trace_follow *follow);

/* Gives the next event. False if there is none up to the limit, or with `status` set. */
bool trace_follow_next(struct trace_follow *follow, struct trace_event *event,
                       struct ingest_status *status);

#endif
