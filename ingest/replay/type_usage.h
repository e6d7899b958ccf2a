/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live blocks of each type over time: the share of a type at the program's peak, and its own
 * largest live bytes.
 *
 * Allocations of the process heap are numbered 1, 2, 3, … in the order of time. A program may name
 * the type of a block some time after its allocation (type_usages_rename()). The block then counts
 * for the new type from its beginning. The share at the peak stays exact. So does the largest live
 * bytes if the two types did not change in between, as when a program names each block at once.
 * Otherwise peak_unknown is set.
 */
#ifndef MPROF_INGEST_REPLAY_TYPE_USAGE_H
#define MPROF_INGEST_REPLAY_TYPE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type_usage {
    uint64_t allocations, bytes; /* in total */
    uint64_t live_count, live_bytes;
    uint64_t at_peak_count,
        at_peak_bytes; /* when the generation's peak was reached (stack_usage.h) */
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
    uint64_t generation; /* number of peaks so far (stack_usage.h), before that allocation */
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

#endif
