/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses which blocks of the program's own allocators a sample takes. The choice is made as for
 * heap blocks, by the bytes that the thread allocates in both.
 *
 * The table of sampled_blocks.h holds a block of an arena by its address and by the arena's place
 * in the table of arenas. Each arena also has a short list of its own blocks in that table, so that
 * a reset finds them. If it has more blocks than the list can hold, the reset searches the whole
 * table.
 *
 * All functions need the guard held and sampling on.
 */
#ifndef MPROF_CAPTURE_ENTRY_ARENA_SAMPLE_H
#define MPROF_CAPTURE_ENTRY_ARENA_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/record/live_blocks.h"
#include "capture/record/thread.h"

#define ARENA_SAMPLE_LISTED 8u

/* The sampled blocks of one arena. All zero at first. `place` below is that of the arena, under
 * 65536. */
struct arena_sample {
    _Atomic uint64_t listed[ARENA_SAMPLE_LISTED]; /* 0: none */
    _Atomic bool more;                            /* some blocks may not be listed */
};

/* Returns true if the new block of `size` bytes is to be recorded, and notes the block then. */
bool arena_sample_takes(struct arena_sample *sample, uint32_t place, const void *address,
                        uint64_t size);
/* Returns true if the block that ends was recorded. If so, it forgets the block. */
bool arena_sample_ends(struct arena_sample *sample, uint32_t place, const void *address);
/* Keeps what is known of a block that was taken, for the next trace of the recording. */
void arena_sample_describe(uint32_t place, const struct live_block *block);
bool arena_sample_has(uint32_t place, const void *address);
/* Keeps the type that the program tells of such a block. */
void arena_sample_tell(uint32_t place, const void *address, const struct told_type *type);
/* Forgets all blocks of the arena. */
void arena_sample_reset(struct arena_sample *sample, uint32_t place);

#endif
