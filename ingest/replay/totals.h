/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The running sums of a session: the program's live bytes and peak, shares of stacks and
 * functions, slots of the timeline, sizes. Only the process heap counts here: blocks of an arena
 * were already counted as the arena's memory.
 */
#ifndef MPROF_INGEST_REPLAY_TOTALS_H
#define MPROF_INGEST_REPLAY_TOTALS_H

#include "ingest/base/array.h"
#include "ingest/replay/slot_sums.h"
#include "ingest/replay/stack_usage.h"
#include "ingest/replay/type_usage.h"

#define TIMELINE_SLOTS 4096

struct timeline_slot {
    uint64_t live_bytes, live_count; /* at the slot's end */
    uint64_t peak_bytes;
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

struct size_row {
    uint64_t size, allocations, frees;
    uint64_t at_peak_count, generation; /* as in stack_usage.h */
};

/* A block lived less than this if it was short-lived. */
#define SHORT_LIVED_NS 1000000

/* The live bytes of the allocations whose call site is in a function, and how many of them were
 * short-lived. All other numbers of a function are sums over its stacks. */
struct function_usage {
    uint64_t live_bytes, peak_bytes;
    uint64_t short_lived;
};

/* The part of a block that the sums need. */
struct totals_block {
    uint64_t address, size;
    uint64_t order; /* number of its allocation, from 1; only for totals_rename() */
    uint64_t alloc_ns;
    uint32_t stack, function; /* ids; function: of the call site, 0: none */
    uint32_t type;            /* id, 0: unknown */
};

struct totals_log;

struct totals {
    struct totals_log *log; /* gets each call that changes sums (totals_log.h), or NULL */
    uint64_t allocations, frees, reallocs, bytes;
    uint64_t live_bytes, live_count, peak_bytes, peak_count, peak_ns;
    uint64_t generation; /* number of peaks so far */
    uint64_t peak_order; /* number of the allocation that reached the peak */

    struct stack_usages stacks;
    struct function_usage *functions; /* by function id, 0: no call site */
    size_t function_capacity;
    struct type_usages types;
    struct slot_sums *slot_sums; /* or NULL */

    struct size_row *sizes;
    size_t size_count, size_capacity;
    struct index_map by_size;
    uint32_t small_sizes[1024]; /* index + 1 of a size below 1024, found without a hash */

    uint64_t slot_ns, slot_end;
    size_t slot_count, slot; /* how many there are, and the current one */
    struct timeline_slot slots[TIMELINE_SLOTS];
};

/* Begins the sums. `duration_ns` is that of the whole trace, which is divided into equal slots. */
void totals_init(struct totals *totals, uint64_t duration_ns);
/*
 * Sums up by time and key, too (slot_sums.h), before the first event. `events` is not less than the
 * number of allocations; if it is small, there are no such sums. False if memory is exhausted.
 */
bool totals_sum_slots(struct totals *totals, uint64_t duration_ns, uint64_t events);
/*
 * Extends the timeline of a trace that is still being recorded to `duration_ns`, which is not
 * before the last event counted. If there are too many slots then, every two of them become one.
 */
void totals_extend(struct totals *totals, uint64_t duration_ns);
void totals_free_memory(struct totals *totals);
/* Adds a size without counting a block. False if memory is exhausted. */
bool totals_know_size(struct totals *totals, uint64_t size);

/* Counts an allocation at block->alloc_ns. Times never decrease from call to call. False if memory
 * is exhausted. */
bool totals_allocate(struct totals *totals, const struct totals_block *block);

/*
 * Counts the end of an allocation. `counted` is false if the program did not free it (an overlap);
 * then it does not count as a free. False if memory is exhausted.
 */
bool totals_free(struct totals *totals, const struct totals_block *block, uint64_t ns,
                 uint64_t lifetime_ns, bool counted);

/* Gives a live block another type. False if memory is exhausted. */
bool totals_rename(struct totals *totals, const struct totals_block *block, uint32_t new_type);

/*
 * Adds the totals of another machine, after its last event. Sums are added, peaks are not. The
 * program's peak, and the shares at it, are those of the machine where the peak is largest. From
 * the timeline it takes only the length of the slots. `sum` begins with zeros. False if memory is
 * exhausted.
 */
bool totals_join(struct totals *sum, const struct totals *part);

/* Fills the remaining slots and the shares at the peak, after the last event so far. */
void totals_finish(struct totals *totals);
/* Closes the sums by time, after the last event. False if memory is exhausted. */
bool totals_finish_slots(struct totals *totals);

#endif
