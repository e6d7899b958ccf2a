/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives the events of a trace in the order of time.
 *
 * Order of calls: merge_new(), merge_watch() if wanted, merge_next() until it returns false,
 * merge_free(). Each chunk is one sorted run. It is opened when its base is due and closed at its
 * end, so the open chunks are about as many as the threads that ran at that time. The runs are
 * merged by a binary heap (Knuth, The Art of Computer Programming 3, 5.4.1).
 *
 * A realloc is two events: its free half at the stamp before the call, its allocation half at the
 * stamp after it. A failed realloc is not an event. If events of different runs have equal stamps,
 * frees come first, then the order is by place in the file. A caller must still be ready for a free
 * that comes before its allocation with the same stamp. */
#pragma once

#include "ingest/trace/cursor.h"
#include "ingest/trace/file.h"

enum event_kind {
    EVENT_ALLOCATE, /* ALLOC, ALLOC_ATTR, and the second half of a realloc */
    EVENT_FREE,     /* FREE, FREE_STACK, and the first half of a realloc */
    EVENT_EXTENDED, /* arena, mark, RSS and the like, at its own time */
};

struct trace_event {
    enum event_kind kind;
    bool of_realloc;
    uint32_t thread;
    uint64_t ticks;
    uint64_t coding_ticks; /* of the coding state after the record: a *when* is relative to it */
    uint64_t offset;       /* of the record in the file */
    const struct trace_record *record;       /* valid until the next call */
    const struct trace_extension *extension; /* of EVENT_EXTENDED */
    uint64_t *carry; /* of_realloc: a number that the first half leaves for the second */
};

struct merge;

/* Begins a merge, which uses `file` until merge_free(). NULL with `status` set. */
struct merge *merge_new(const struct trace_file *file, struct ingest_status *status);
void merge_free(struct merge *merge);

/* A watcher that sees records without a payload some time before their events are given, in an
 * unspecified order. It can prefetch the memory that the events will need. */
struct merge_watcher {
    void *context;
    void (*prefetch)(void *context, const struct trace_record *record); /* may be NULL */
    /* Sees each record again later. It can prefetch memory that the memory prefetched by prefetch()
     * points to. May be NULL. */
    void (*prefetch_next)(void *context, const struct trace_record *record);
};
void merge_watch(struct merge *merge, struct merge_watcher watcher);

/* Gives the next event. False at the end, in a growing trace at the last stamp, or with `status`
 * set if it cannot continue. */
bool merge_next(struct merge *merge, struct trace_event *event, struct ingest_status *status);

/* A chunk of a trace that is still being recorded. Both pointers stay valid until merge_free(). */
struct merge_chunk {
    const struct trace_slot *slot; /* as it was at the last poll */
    const bool *closed;            /* it will gain no more records */
};

/* Returns how many of trace_file_size() bytes are in done chunks, for the progress bar. */
uint64_t merge_bytes_done(const struct merge *merge);

/* Returns the highest number of chunks that were open at the same time. */
size_t merge_most_open(const struct merge *merge);

/* Gives the events of a trace that is still being recorded, in the order of time as far as it is
 * known.
 *
 * Order of calls: trace_follow_new(); trace_follow_poll() from time to time, and after each poll
 * trace_follow_next() until it returns false; trace_follow_free().
 *
 * A poll reads the records that were committed since the last one, and gives them to a scanner
 * first. A thread stamps an event before it commits it. So at a poll an event with an earlier stamp
 * may still be missing, but the next poll sees it. Therefore events are given only up to the
 * highest stamp that the previous poll has seen. An event comes late, out of order, only if its
 * thread was held up for a whole poll between stamp and commit. */

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

/* Returns the committed bytes of all chunks, which grow with anything recorded. */
uint64_t trace_follow_committed(const struct trace_follow *follow);

/* Gives the next event. False if there is none up to the limit, or with `status` set. */
bool trace_follow_next(struct trace_follow *follow, struct trace_event *event,
                       struct ingest_status *status);
