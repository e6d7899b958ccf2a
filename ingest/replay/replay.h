/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns events in the order of time into allocations: a free completes the row that its allocation
 * began. Rows are numbered 1, 2, 3, … as they are completed. Blocks that are never freed come last.
 *
 * Order of calls: replay_init(), replay_event() for each event of the merge, replay_finish(),
 * then the results may be read, replay_free().
 *
 * Events that do not match:
 *  - A free of an address that is not live is an *unmatched free*. If the same address was freed
 *    before and the table still remembers it, it is a *double free*. So a double free is certain,
 *    but a late one may be counted as unmatched. Neither counts as a free.
 *  - An allocation of an address that is live is an *overlap*. The old block is closed at the new
 *    one's time, without a freeing thread. The program did not free it, so it does not count as a
 *    free.
 *  - A realloc of an unknown address is an unmatched free and an allocation.
 *  - In a forked process the first free of a block that it did not allocate is presumed to be of an
 *    inherited block: inherited.c. The second one is a double free.
 *  - An event whose stack is not defined in the readable parts of the trace is *orphaned*. Its
 * stack is the one row with state 'lost'.
 *  - A size above 2^47 is impossible. It is counted as a problem and taken as 0.
 */
#ifndef MPROF_INGEST_REPLAY_REPLAY_H
#define MPROF_INGEST_REPLAY_REPLAY_H

#include "ingest/replay/free_calls.h"
#include "ingest/replay/live_table.h"
#include "ingest/replay/regions.h"
#include "ingest/replay/row_batch.h"
#include "ingest/replay/totals.h"
#include "ingest/replay/type_table.h"
#include "ingest/replay/wrong_sizes.h"
#include "ingest/trace/clock.h"
#include "ingest/trace/merge.h"

#define ARENA_NO_ROW UINT32_MAX

/* An arena. Its sums are separate from those of the heap, which already count its memory. */
struct arena_row {
    uint32_t id, parent; /* ids of the trace; parent 0: none */
    char *name;
    struct live_table blocks;
    uint64_t allocations, objects, bytes, live_count, live_bytes, peak_bytes, peak_ns;
    /* An unordered list of the rows of those arenas under it that may have live blocks. */
    uint32_t first_child, next_sibling;
    bool listed; /* in its parent's list, or it has no parent */
};

struct mark_row {
    uint64_t ns;
    const char *kind; /* 'mark', 'snapshot', 'pause', 'resume', 'end' */
    char *name;       /* NULL: none */
};

struct rss_row {
    uint64_t ns, bytes;
};

/* A free that waits for its allocation (order.c). */
struct pending_free {
    uint64_t address;
    uint64_t offset, ticks, ns;
    uint32_t thread, stack;
};

/* A block that waits for its free while another has its address. */
struct contested_block {
    struct live_block block;
    uint64_t ticks, ns, offset; /* of the allocation that took the address */
    uint32_t thread;
};

/* A free of a block that a forked process inherited from its parent. */
struct inherited_free {
    uint64_t address, ns;
    uint64_t realloc_to; /* row of the block that it became, 0: none */
    uint32_t arena, thread, stack;
};

/* The counts of one thread. */
struct thread_counts {
    uint64_t allocations, frees, bytes;
};

struct replay {
    const struct trace_scan *scan;
    struct stacks *stacks;
    struct totals *totals;
    struct type_table *types;
    struct trace_time time;
    struct row_sink sink;
    struct row_batch *batch;
    struct live_table heap;
    uint64_t rows;   /* completed */
    bool skips_rows; /* completed blocks count in the sums, but get no row */
    uint64_t skipped_rows;
    uint64_t events; /* replayed allocation and free events; a realloc is two */
    uint64_t orphaned_events;
    uint64_t failed_allocations;
    uint64_t now_ns, now_ticks;
    struct thread_counts *threads; /* by row of the scan's threads */
    size_t thread_capacity;
    struct thread_counts *last; /* of the last event's thread, as a cache; NULL: none */
    uint32_t last_number;
    struct problems problems; /* of the events; the scan has its own */
    struct pending_free *pending;
    size_t pending_count, pending_capacity;
    struct contested_block *contested;
    size_t contested_count, contested_capacity;
    bool fast_clock, sampled;
    bool paused_before;       /* recording was paused, or began late */
    uint64_t resumed_ns;      /* when it last resumed; UINT64_MAX: it has not */
    uint64_t unseen_frees;    /* of blocks that may have been allocated while it was paused */
    uint64_t ambiguous_pairs; /* made by guessing an order that stamps do not tell */
    bool forked;              /* the process owns a copy of its parent's live blocks */
    struct inherited_free *inherited;
    size_t inherited_count, inherited_capacity;
    struct arena_row *arenas;
    size_t arena_count, arena_capacity;
    struct index_map arena_by_id;
    uint64_t autosave, until_autosave; /* allocations from snapshot to snapshot, 0: none */
    struct mark_row *marks;
    size_t mark_count, mark_capacity;
    struct regions regions;
    struct free_calls free_calls;
    struct wrong_sizes wrong_sizes;
    struct rss_row *samples;
    size_t sample_count, sample_capacity;
};

/* Begins the replay. All pointers must outlive it. False with `status` set. */
bool replay_init(struct replay *replay, const struct trace_file *file,
                 const struct trace_scan *scan, struct stacks *stacks, struct totals *totals,
                 struct type_table *types, struct row_sink sink, struct ingest_status *status);

/* Takes the clock and the threads that the scan of a growing trace has found since. False if memory
 * is exhausted. */
bool replay_extend(struct replay *replay, const struct trace_file *file);

/* Prefetches the memory that the record's event will need. For merge_watch(), with the replay as
 * context. */
void replay_prefetch_block(void *context, const struct trace_record *record);

/* Prefetches, after replay_prefetch_block(), the stack that allocated the block that the record
 * frees. */
void replay_prefetch_stack(void *context, const struct trace_record *record);

/* Replays one event. False with `status` set if memory is exhausted or the sink failed. */
bool replay_event(struct replay *replay, const struct trace_event *event,
                  struct ingest_status *status);

/* Writes rows of the blocks that are still live, in the order of allocation, and the last batch.
 * False with `status` set. */
bool replay_finish(struct replay *replay, struct ingest_status *status);

/*
 * Writes rows of all live blocks of `table` (one of the replay's), in the order of allocation.
 * replay_finish() calls it. Before that, only call it for a copy of the replay with its own sink.
 * False if memory is exhausted or the sink failed.
 */
bool replay_put_live(struct replay *replay, const struct live_table *table);
void replay_free(struct replay *replay);

#endif
