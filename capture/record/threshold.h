/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells when the program has made so many allocations or holds so many bytes.
 *
 * Every allocation and free is counted, recorded or not, while a limit is ahead. Each thread counts
 * for itself and adds to the common sums in grains. A grain is a sixty-fourth of the nearest limit,
 * and at most 256 allocations or 64 KiB. For each thread the sums lag behind by less than a grain.
 * Bytes are those that the allocator set aside, because a free does not say how many were asked
 * for.
 */
#ifndef MPROF_CAPTURE_RECORD_THRESHOLD_H
#define MPROF_CAPTURE_RECORD_THRESHOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/options/options.h"
#include "capture/record/thread.h"

/* True while a limit is ahead. */
extern _Atomic bool threshold_counts;

/* Sets the limits, once, at the start. */
void threshold_init(struct options_limit start, struct options_limit stop);

/* Counts an allocation. Returns true if a limit has been passed: then call threshold_take_due().
 * Needs a live block. */
bool threshold_count_allocation(struct threshold_part *part, const void *address);
/* Counts an allocation of an arena. Its bytes lie in memory that is counted already, or that no
 * allocator tells about. */
bool threshold_count_arena(struct threshold_part *part);
/* Counts a free of the process heap. Call it before the real free. */
bool threshold_count_free(struct threshold_part *part, const void *address);

enum threshold_due { THRESHOLD_NOTHING, THRESHOLD_BEGIN, THRESHOLD_END };

/* Returns true if recording has to begin or end, because a limit has been passed. Only one caller
 * gets the answer for each limit. */
enum threshold_due threshold_take_due(void);

#endif
