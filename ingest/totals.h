/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The running sums of a session: the program's live bytes and peak, shares of stacks and
 * functions, slots of the timeline, sizes. Only the process heap counts here: what lies in an
 * arena was already counted as the arena's backing.
 */
#ifndef MPROF_INGEST_TOTALS_H
#define MPROF_INGEST_TOTALS_H

#include "ingest/stacks.h"

#define TIMELINE_SLOTS 4096

struct timeline_slot {
    uint64_t live_bytes, live_count; /* at the slot's end */
    uint64_t peak_bytes;
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

struct size_row {
    uint64_t size, allocations, frees;
};

/* Of the allocations whose call site is in a function; all else is a sum over its stacks. */
struct function_usage {
    uint64_t live_bytes, peak_bytes;
};

struct totals {
    uint64_t allocations, frees, reallocs, bytes;
    uint64_t live_bytes, live_count, peak_bytes, peak_count, peak_ns;
    uint64_t generation; /* peaks so far */

    struct function_usage *functions; /* by function index */
    size_t function_capacity;

    struct size_row *sizes;
    size_t size_count, size_capacity;
    struct index_map by_size;
    uint32_t small_sizes[1024]; /* index + 1 of a size below: no hashing for the common ones */

    uint64_t slot_ns, slot_end;
    size_t slot_count, slot; /* how many there are, the present one */
    struct timeline_slot slots[TIMELINE_SLOTS];
};

/* `duration_ns` of the whole trace is known beforehand and makes the slots equal. */
void totals_init(struct totals *totals, uint64_t duration_ns);
/*
 * For a trace that is still being recorded: it lasts `duration_ns` by now, no less than what was
 * counted. Where the slots are too many then, two become one.
 */
void totals_extend(struct totals *totals, uint64_t duration_ns);
void totals_free_memory(struct totals *totals);
/* Puts the size among the sizes without a block. False where memory is exhausted. */
bool totals_know_size(struct totals *totals, uint64_t size);

/*
 * One allocation of `size` bytes by `stack` at `ns`, which never runs backwards from call to
 * call. False where memory is exhausted.
 */
bool totals_allocate(struct totals *totals, struct stacks *stacks, uint32_t stack, uint64_t size,
                     uint64_t ns);

/*
 * The end of an allocation that was counted; `counted` is false where it was not the program that
 * freed it (an overlap): it is then no free.
 */
void totals_free(struct totals *totals, struct stacks *stacks, uint32_t stack, uint64_t size,
                 uint64_t ns, uint64_t lifetime_ns, bool counted);

/*
 * Adds what was counted on another machine, after its last event: sums are added, peaks are not.
 * The program's peak, and the shares at it, are those of the machine where it is largest; of the
 * timeline nothing but the length of its slots is taken over. `sum` and `stacks` begin with zeros.
 * False where memory is exhausted.
 */
bool totals_join(struct totals *sum, struct stacks *stacks, const struct totals *part,
                 const struct stacks *part_stacks);

/* After the last event: fills the remaining slots and the shares at the peak. */
void totals_finish(struct totals *totals, struct stacks *stacks);

#endif
