/* SPDX-License-Identifier: BSD-2-Clause */
/* The running sums of a session: the program's live bytes and peak, shares of stacks and functions,
 * slots of the timeline, sizes. Only the process heap counts here: blocks of an arena were already
 * counted as the arena's memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/replay/slot_sums.h"

/* The live blocks of each stack over time, and at the moment when the program's live bytes were at
 * their peak.
 *
 * The share at the peak is updated lazily. Each new peak of the program begins a generation. A
 * stack that has not changed since then still holds its share at the peak. So the share is only
 * copied before a change, if the stack's generation is old. After the last event
 * stack_usages_finish() copies it for all stacks. This costs one comparison for each event instead
 * of a sweep for each peak.
 *
 * Events come from many stacks in no order, so each of them waits for memory. The sums that every
 * event of a stack changes are one cache line. The shares, which only the first event after a peak
 * changes, are apart. */

/* The sums of a stack, after stack_usages_finish(). */
struct stack_usage {
    uint64_t allocations, bytes; /* in total */
    uint64_t live_count, live_bytes;
    uint64_t at_peak_count, at_peak_bytes;
    uint64_t peak_bytes, peak_ns; /* of this stack alone */
    uint64_t lifetime_ns;         /* sum over freed allocations */
};

/* All bytes 0: no stack has allocated. */
struct stack_usages {
    struct stack_sums *sums; /* by stack id */
    struct stack_share *shares;
    size_t capacity; /* of both */
};

/* The sums so far: one line of a processor's cache. */
struct stack_sums {
    _Alignas(64) uint64_t allocations;
    uint64_t bytes, live_count, live_bytes, peak_bytes, peak_ns, lifetime_ns;
    uint64_t generation; /* of the program's peak, when the share was copied */
};

/* The share of a stack at the peak of its generation. */
struct stack_share {
    uint64_t count, bytes;
};

/* Makes room for stacks below `count`. False if memory is exhausted; then nothing has changed. */
bool stack_usages_grow(struct stack_usages *usages, size_t count);

/* Prefetches the sums of a stack, for an event soon. */
static inline void stack_usages_prefetch(const struct stack_usages *usages, uint32_t stack)
{
    if (stack < usages->capacity)
        __builtin_prefetch(&usages->sums[stack], 1);
}

/* Copies the share of a stack that has not changed since the peak. */
static inline void stack_usages_settle(struct stack_usages *usages, size_t stack,
                                       uint64_t generation)
{
    struct stack_sums *sums = &usages->sums[stack];
    if (sums->generation == generation)
        return;
    sums->generation = generation;
    usages->shares[stack] = (struct stack_share){sums->live_count, sums->live_bytes};
}

/* Counts an allocation. False if memory is exhausted. */
static inline bool stack_usages_allocate(struct stack_usages *usages, uint32_t stack,
                                         uint64_t generation, uint64_t size, uint64_t ns)
{
    if (stack >= usages->capacity && !stack_usages_grow(usages, (size_t)stack + 1))
        return false;
    struct stack_sums *sums = &usages->sums[stack];
    stack_usages_settle(usages, stack, generation);
    sums->allocations++;
    sums->bytes += size;
    sums->live_count++;
    sums->live_bytes += size;
    if (sums->live_bytes > sums->peak_bytes) {
        sums->peak_bytes = sums->live_bytes;
        sums->peak_ns = ns;
    }
    return true;
}

/* Counts the end of a block that was counted with this stack. */
static inline void stack_usages_free(struct stack_usages *usages, uint32_t stack,
                                     uint64_t generation, uint64_t size, uint64_t lifetime_ns)
{
    struct stack_sums *sums = &usages->sums[stack];
    stack_usages_settle(usages, stack, generation);
    sums->live_count--;
    sums->live_bytes -= size;
    sums->lifetime_ns += lifetime_ns;
}

/* Returns the sums of a stack, zeros if it has not allocated. */
struct stack_usage stack_usages_of(const struct stack_usages *usages, size_t stack);

void stack_usages_free_memory(struct stack_usages *usages);

/* The live blocks of each type over time: the share of a type at the program's peak, and its own
 * largest live bytes.
 *
 * Allocations of the process heap are numbered 1, 2, 3, … in the order of time. A program may name
 * the type of a block some time after its allocation (type_usages_rename()). The block then counts
 * for the new type from its beginning. The share at the peak stays exact. So does the largest live
 * bytes if the two types did not change in between, as when a program names each block at once.
 * Otherwise peak_unknown is set. */

struct type_usage {
    uint64_t allocations, bytes; /* in total */
    uint64_t live_count, live_bytes;
    uint64_t at_peak_count, at_peak_bytes; /* when the generation's peak was reached (totals.h) */
    uint64_t generation;
    uint64_t peak_bytes;
    uint64_t peak_order;      /* allocation that reached peak_bytes, or one before */
    uint64_t previous_peak;   /* before that allocation */
    uint64_t last_allocation; /* number of the last one of the type */
    uint64_t last_free;       /* number of the last allocation, of any type, before its last free */
    bool peak_unknown;
};

struct type_usages {
    struct type_usage *rows; /* by type id */
    size_t capacity;
};

/* The number of an allocation, and the program's peak so far. */
struct type_moment {
    uint64_t order;      /* of the last allocation */
    uint64_t generation; /* number of peaks so far (totals.h), before that allocation */
    uint64_t peak_order; /* allocation that reached the last peak */
};

/* Returns the usage of a type, zeros if it has none. */
static inline struct type_usage type_usages_of(const struct type_usages *usages, size_t type)
{
    return type < usages->capacity ? usages->rows[type] : (struct type_usage){0};
}

/* Counts the allocation `now->order`. False if memory is exhausted. */
bool type_usages_allocate(struct type_usages *usages, uint32_t type, uint64_t size,
                          const struct type_moment *now);
/* Counts the end of a block that was counted with this type. */
void type_usages_free(struct type_usages *usages, uint32_t type, uint64_t size,
                      const struct type_moment *now);
/* Gives the live block that was allocation `order` another type. False if memory is exhausted. */
bool type_usages_rename(struct type_usages *usages, uint32_t type, uint32_t new_type, uint64_t size,
                        uint64_t order, const struct type_moment *now);
/* Copies the shares of types that have not changed since the peak, after the last event. */
void type_usages_finish(struct type_usages *usages, uint64_t generation);
/* Adds the usages of another machine (totals_join()). `largest`: its peak is the program's. False
 * if memory is exhausted. */
bool type_usages_join(struct type_usages *sum, const struct type_usages *part, bool largest);
void type_usages_free_memory(struct type_usages *usages);

/* ---- totals -------------------------------------------------------------------------------- */

#define TIMELINE_SLOTS 4096

struct timeline_slot {
    uint64_t live_bytes, live_count; /* at the slot's end */
    uint64_t peak_bytes;
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

struct size_row {
    uint64_t size, allocations, frees;
    uint64_t at_peak_count, generation; /* as in totals.h */
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
    bool of_realloc;
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

    /* Far from what the stage changes. */
    struct stage *stage;        /* counts the events beside their replay, or NULL */
    struct totals_batch *batch; /* the events that it does not have yet */
};

/* Begins the sums. `duration_ns` is that of the whole trace, which is divided into equal slots. */
void totals_init(struct totals *totals, uint64_t duration_ns);
/* Sums up by time and key, too (slot_sums.h), before the first event. `events` is not less than the
 * number of allocations; if it is small, there are no such sums. False if memory is exhausted. */
bool totals_sum_slots(struct totals *totals, uint64_t duration_ns, uint64_t events);
/* Lets another thread count the events from now on, until totals_finish(). Until then nobody else
 * reads sums, and `totals` does not move. The order is the same, so the sums are. False if memory
 * is exhausted: by these functions, or by one of the calls before. */
bool totals_begin_stage(struct totals *totals);
/* Extends the timeline of a trace that is still being recorded to `duration_ns`, which is not
 * before the last event counted. If there are too many slots then, every two of them become one. */
void totals_extend(struct totals *totals, uint64_t duration_ns);
void totals_free_memory(struct totals *totals);
/* Adds a size without counting a block. False if memory is exhausted. */
bool totals_know_size(struct totals *totals, uint64_t size);

/* Counts an allocation at block->alloc_ns. Times never decrease. False if memory is exhausted. */
bool totals_allocate(struct totals *totals, const struct totals_block *block);

/* Counts the end of an allocation. `counted` is false if the program did not free it (an overlap);
 * then it does not count as a free. False if memory is exhausted. */
bool totals_free(struct totals *totals, const struct totals_block *block, uint64_t ns,
                 uint64_t lifetime_ns, bool counted);

/* Gives a live block another type. False if memory is exhausted. */
bool totals_rename(struct totals *totals, const struct totals_block *block, uint32_t new_type);

/* Adds the totals of another machine, after its last event. Sums are added, peaks are not. The
 * program's peak, and the shares at it, are those of the machine where the peak is largest. From
 * the timeline it takes only the length of the slots. `sum` begins with zeros. False if memory is
 * exhausted. */
bool totals_join(struct totals *sum, const struct totals *part);

/* Fills the remaining slots and the shares at the peak, after the last event so far. False if
 * memory was exhausted before. */
bool totals_finish(struct totals *totals);
/* Closes the sums by time, after the last event. False if memory is exhausted. */
bool totals_finish_slots(struct totals *totals);
