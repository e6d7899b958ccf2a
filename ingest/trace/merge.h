/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives the events of a trace in the order of time.
 *
 * Order of calls: merge_new(), merge_watch() if wanted, merge_next() until it returns false,
 * merge_free(). Each chunk is one sorted run. It is opened when its base is due and closed at its
 * end, so the open chunks are about as many as the threads that ran at that time. The runs are
 * merged by a binary heap (Knuth, The Art of Computer Programming 3, 5.4.1).
 *
 * A realloc is two events: its free half at the stamp before the call, its allocation half at the
 * stamp after it. A failed realloc is not an event. If events of different runs have equal stamps,
 * frees come first, then the order is by place in the file. A caller must still be ready for a free
 * that comes before its allocation with the same stamp.
 */
#ifndef MPROF_INGEST_TRACE_MERGE_H
#define MPROF_INGEST_TRACE_MERGE_H

#include "ingest/trace/extended.h"
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

/* Begins a merge, which uses `file` until merge_free(). NULL with `status` set if memory is
 * exhausted. */
struct merge *merge_new(const struct trace_file *file, struct ingest_status *status);
void merge_free(struct merge *merge);

/*
 * A watcher that sees records without a payload some time before their events are given, in an
 * unspecified order. It can prefetch the memory that the events will need.
 */
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

/*
 * Merge a trace that is still being recorded (follow.h). merge_new_growing() begins without chunks,
 * NULL if memory is exhausted. Each time slots have grown, call merge_step() before they change,
 * merge_add() for each chunk that has begun, and merge_wake(). Then merge_next() gives the events
 * up to the stamp `last`. merge_set_last() raises it. False if memory is exhausted.
 */
struct merge *merge_new_growing(const struct trace_file *file);
void merge_step(struct merge *merge);
bool merge_add(struct merge *merge, struct merge_chunk chunk);
bool merge_wake(struct merge *merge, uint64_t last);
void merge_set_last(struct merge *merge, uint64_t last);

/* Returns how many of the trace_file_size() bytes are in chunks that are done, for the progress
 * bar. */
uint64_t merge_bytes_done(const struct merge *merge);

/* Returns the highest number of chunks that were open at the same time. */
size_t merge_most_open(const struct merge *merge);

#endif
