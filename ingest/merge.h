/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a trace in the order of time.
 *
 * Order of calls: merge_new(), merge_watch() if wanted, merge_next() until it returns false,
 * merge_free(). Each chunk is one sorted run; it is opened when its base is due and closed at its
 * end, so that about as many chunks are open as threads were live at that time. The runs are merged
 * by a binary heap (Knuth, The Art of Computer Programming 3, 5.4.1).
 *
 * A realloc is two events: its free half at the stamp before the call, its allocation half at the
 * stamp after it. A failed one is none. Equal stamps of different runs: frees come first, then by
 * place in the file; whoever replays must still be ready for a free whose allocation has the same
 * stamp and comes behind it.
 */
#ifndef MPROF_INGEST_MERGE_H
#define MPROF_INGEST_MERGE_H

#include "ingest/trace_extended.h"
#include "ingest/trace_file.h"

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
    uint64_t coding_ticks; /* of the coding state behind the record: what a *when* is relative to */
    uint64_t offset;       /* of the record in the file */
    const struct trace_record *record;       /* until the next call */
    const struct trace_extension *extension; /* of EVENT_EXTENDED */
    uint64_t *carry; /* of_realloc: one number that the first half leaves for the second */
};

struct merge;

/* Keeps `file` for its life. NULL with `status` set where memory is exhausted. */
struct merge *merge_new(const struct trace_file *file, struct ingest_status *status);
void merge_free(struct merge *merge);

/*
 * Hears of records some time before their events are given, in no order that could be relied on:
 * to bring near what the events will need.
 */
struct merge_watcher {
    void *context;
    void (*expect)(void *context, const struct trace_record *record); /* NULL: nobody */
};
void merge_watch(struct merge *merge, struct merge_watcher watcher);

/* False at the end, or with `status` set where it cannot go on. */
bool merge_next(struct merge *merge, struct trace_event *event, struct ingest_status *status);

/* Bytes of chunks that are done, of trace_file_size(): for the progress bar. */
uint64_t merge_bytes_done(const struct merge *merge);

/* The most chunks that were open at the same time. */
size_t merge_most_open(const struct merge *merge);

#endif
