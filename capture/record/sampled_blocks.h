/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live blocks that a sample took. A free asks here whether its block was recorded.
 *
 * The table is exact: it never has a block that was not taken, and never forgets one. All threads
 * use it at once without a lock. A block is added before the program gets it and removed before it
 * is freed, so no two threads work on the same address.
 *
 * An address has two places, which are buckets of 16 slots in a table of fixed size, found by
 * hashing. No search ends early, so a slot that becomes free needs no mark. Buckets lie in the
 * order of their first use, so that few blocks touch few pages: the first touch of each page costs
 * more than all else that a sampled block does here. Almost every free is of a block that was not
 * taken. A filter of counters, small enough for the processor's cache, finds that out first. Blocks
 * that lie near each other have near counters: a program uses a few pages at a time, and their
 * counters are all that its frees bring into the cache.
 */
#ifndef MPROF_CAPTURE_RECORD_SAMPLED_BLOCKS_H
#define MPROF_CAPTURE_RECORD_SAMPLED_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/record/live_blocks.h"

/* The slots of the table. They take 16 MiB if all are used. Nine
 * tenths can be filled before a block finds no place. */
#define SAMPLED_BLOCKS_SLOTS (UINT64_C(1) << 21)
#define SAMPLED_BLOCKS_FILTER 65536u

/* The number of taken blocks for each place of the filter. A count of 255 stays. */
extern _Atomic uint8_t sampled_blocks_filter[SAMPLED_BLOCKS_FILTER]
    __attribute__((visibility("hidden")));

/* Returns the block's place in the filter. Each place stands for 64 bytes of every 4 MiB. The key
 * of a block of an arena (arena.c) has the place of its address: event_filter.h asks with
 * the address alone. */
static inline size_t sampled_blocks_place(uint64_t address)
{
    return (size_t)(address >> 6) % SAMPLED_BLOCKS_FILTER;
}

/* Returns false if there is no memory. */
bool sampled_blocks_init(void);

/* Keeps what is known of a block that was added, until it is removed. If there is no room, that is
 * not kept. */
void sampled_blocks_describe(uint64_t key, const struct live_block *block);
/* Gets what is known of a block. Returns false if nothing is. */
bool sampled_blocks_known(uint64_t key, struct live_block *block);
/* Keeps the type of a block that was described, in place of an earlier one. Does nothing if nothing
 * is known of the block. */
void sampled_blocks_tell(uint64_t key, const struct told_type *type);

/* Adds a block. Returns false if neither place has a free slot. */
bool sampled_blocks_add(uint64_t address);
bool sampled_blocks_remove_slow(uint64_t address);
bool sampled_blocks_has(uint64_t address);

/* Tells by the filter alone whether the block may be there. */
static inline bool sampled_blocks_may_have(uint64_t address)
{
    return __builtin_expect(
        atomic_load_explicit(&sampled_blocks_filter[sampled_blocks_place(address)],
                             memory_order_relaxed) != 0,
        0);
}

/* Removes the block. Returns false if it was not there. */
static inline bool sampled_blocks_remove(uint64_t address)
{
    return sampled_blocks_may_have(address) && sampled_blocks_remove_slow(address);
}

/* Removes the blocks whose address is `same` in the bits of `mask`. Reads all buckets that were
 * ever used, which may take milliseconds. */
void sampled_blocks_remove_all(uint64_t mask, uint64_t same);

/* Forgets all blocks. No other thread may be inside an event. */
void sampled_blocks_reset(void);

#endif
