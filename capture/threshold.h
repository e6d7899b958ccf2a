/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording that begins or ends when the program has allocated so often, or holds so much.
 *
 * Counts every allocation and free, recorded or not, while a limit is ahead. Each thread counts for
 * itself and adds to the common sums in grains, a sixty-fourth of the nearest limit and at most
 * 256 allocations or 64 KiB, so the sums lag behind by less than that for each thread. Bytes are
 * those that the allocator set aside, since a free does not say how many were asked for.
 */
#ifndef MPROF_CAPTURE_THRESHOLD_H
#define MPROF_CAPTURE_THRESHOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: none. Holds when there are more. */
struct threshold_limit {
    uint64_t live; /* bytes */
    uint64_t allocations;
};

/* What a thread has counted and not added yet. */
struct threshold_part {
    int64_t live;
    uint64_t allocations;
};

/* A limit is ahead. */
extern _Atomic bool threshold_counts;

/* Once, at the start. */
void threshold_process_init(struct threshold_limit start, struct threshold_limit stop);

/* True where the sums are to be looked at: a limit has been passed. Needs a live block. */
bool threshold_count_allocation(struct threshold_part *part, const void *address);
/* Before the real free. */
bool threshold_count_free(struct threshold_part *part, const void *address);

/* Begins or ends recording if it is time. Needs the guard not held. */
void threshold_act(void);

#endif
