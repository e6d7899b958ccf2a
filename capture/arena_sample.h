/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which blocks of the program's own allocators a sample takes: as those of the heap, by the bytes
 * that the thread allocates in either.
 *
 * A block of an arena stands in the table of sampled_blocks.h by its address and the arena's place
 * in the table of arenas. Besides, each arena has a short list of its own blocks there, so that a
 * reset finds them; only where it has more than that is the whole table searched.
 *
 * All functions need the guard held, and sampling to be on.
 */
#ifndef MPROF_CAPTURE_ARENA_SAMPLE_H
#define MPROF_CAPTURE_ARENA_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/thread.h"

#define ARENA_SAMPLE_LISTED 8u

/* Of one arena. All zero at first. `place` below is the arena's, under 65536. */
struct arena_sample {
    _Atomic uint64_t listed[ARENA_SAMPLE_LISTED]; /* 0: none */
    _Atomic bool more;                            /* there may be some that are not listed */
};

/* Whether the new block of `size` bytes is recorded. */
bool arena_sample_takes(struct thread *thread, struct arena_sample *sample, uint32_t place,
                        const void *address, uint64_t size);
/* Whether the block that ends was recorded; it is no more. */
bool arena_sample_ends(struct arena_sample *sample, uint32_t place, const void *address);
bool arena_sample_has(uint32_t place, const void *address);
/* All its blocks end. */
void arena_sample_reset(struct arena_sample *sample, uint32_t place);

#endif
