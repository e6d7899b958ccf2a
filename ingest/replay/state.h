/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a replay, for the parts of replay. */
#pragma once

#include "ingest/replay/collections.h"
#include "ingest/replay/free_calls.h"
#include "ingest/replay/live_table.h"
#include "ingest/replay/regions.h"
#include "ingest/replay/residency.h"
#include "ingest/replay/row_batch.h"
#include "ingest/replay/totals.h"
#include "ingest/replay/type_table.h"
#include "ingest/trace/file.h"
#include "ingest/trace/merge.h"

#define ARENA_NO_ROW UINT32_MAX

/* An arena. Its sums are separate from those of the heap, which already count its memory. */
struct arena_row {
    uint32_t id, parent; /* ids of the trace; parent 0: none */
    char *name;
    struct live_table blocks;
    uint64_t allocations, objects, bytes, live_count, live_bytes, peak_bytes, peak_ns;
    uint64_t collected;    /* blocks that a garbage collector took */
    uint32_t runtime;      /* id of the module whose collections took them, 0: none is known */
    bool collected_before; /* a collector took blocks of it before the trace began */
    /* An unordered list of the rows of those arenas under it that may have live blocks. */
    uint32_t first_child, next_sibling;
    bool listed; /* in its parent's list, or it has no parent */
};

struct mark_row {
    uint64_t ns;
    const char *kind; /* 'mark', 'snapshot', 'pause', 'resume', 'end' */
    char *name;       /* or NULL */
};

struct rss_row {
    uint64_t ns, bytes;
};

/* A free that waits for its allocation (replay.c). */
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

/* A row of a block that was live when the trace began. */
struct earlier_row {
    uint64_t row, before_ns;
};

/* Those blocks (blocks.h). */
struct earlier {
    uint64_t *before_ns; /* before the trace, by number of the event, from 1 */
    size_t count, capacity;
    uint64_t *heap; /* number of the event, by number of the heap's allocation, from 1 */
    size_t heap_count, heap_capacity;
    uint64_t heap_bytes;
    struct earlier_row *rows; /* in the order of ids */
    size_t row_count, row_capacity;
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
    uint64_t rows;   /* completed, those before included: the id of the last one */
    uint64_t before; /* rows of the sink before this replay */
    bool skips_rows; /* completed blocks count in the sums, but get no row */
    uint64_t skipped_rows;
    uint64_t events;      /* replayed allocation and free events; a realloc is two */
    uint64_t allocations; /* of the heap */
    uint64_t orphaned_events;
    uint64_t failed_allocations;
    uint64_t before_bytes; /* live before the recorder came, as the allocator said */
    uint64_t sizes;        /* the sum of all blocks that were allocated */
    bool before_known;
    uint64_t now_ns, now_ticks;
    struct thread_counts *threads; /* by row of the scan's threads */
    size_t thread_capacity;
    struct thread_counts *last; /* of the last event's thread, as a cache, or NULL */
    uint32_t last_number;
    struct problems problems; /* of the events; the scan has its own */
    struct pending_free *pending;
    size_t pending_count, pending_capacity;
    struct contested_block *contested;
    size_t contested_count, contested_capacity;
    bool fast_clock, sampled;
    bool paused_before;       /* recording was paused, or began late, for all or for a module */
    uint64_t resumed_ns;      /* when it last resumed; UINT64_MAX: it has not */
    uint64_t unseen_frees;    /* of blocks that may have been allocated while it was paused */
    uint64_t ambiguous_pairs; /* made by guessing an order that stamps do not tell */
    bool forked;              /* the process owns a copy of its parent's live blocks */
    struct inherited_free *inherited;
    size_t inherited_count, inherited_capacity;
    struct earlier earlier;
    struct arena_row *arenas;
    size_t arena_count, arena_capacity;
    struct index_map arena_by_id;
    uint32_t last_arena;               /* the row of the last event's arena, if there are arenas */
    uint64_t autosave, until_autosave; /* allocations from snapshot to snapshot, 0: none */
    struct mark_row *marks;
    size_t mark_count, mark_capacity;
    struct collections collections;
    struct regions regions;
    struct regions mapped;       /* without --mmap: large anonymous memory, to name it */
    struct residency *residency; /* NULL: no pages were read, or not yet */
    struct free_calls free_calls;
    struct wrong_sizes wrong_sizes;
    struct rss_row *samples;
    size_t sample_count, sample_capacity;
};
