/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampling by bytes, which decides what allocations are recorded.
 *
 * Sample points lie on the bytes that a thread asks for, one after the other, as a Poisson process
 * of one point in `mean` bytes. An allocation is recorded if a point falls into it. That happens
 * with the probability 1 - exp(-size / mean), whatever was allocated before. The distances between
 * points are exponential, and each thread draws its own. Since the exponential distribution has no
 * memory, the next distance starts again after an allocation that was recorded. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type that the program has told. All zero: none. */
struct told_type {
    const void *symbol;   /* NULL: it is a kind */
    uint64_t count, size; /* objects, and bytes of one; 0: not told */
    uint32_t module;      /* of the symbol, or of the kind's runtime */
    uint32_t kind;
};

struct live_block {
    uint64_t address; /* 0: the entry is free */
    uint64_t size, ticks;
    uint64_t count; /* objects; 1 for a block of the heap */
    uint32_t stack, thread, arena;
    uint8_t kind; /* enum trace_alloc_kind */
    uint8_t log2_alignment;
    uint16_t type; /* of mprof_kind_create(); 0: not known */
    struct told_type told;
};

/* The slots of the table. They take 16 MiB if all are used. Nine tenths can be filled before a
 * block finds no place. */
#define SAMPLED_BLOCKS_SLOTS (UINT64_C(1) << 21)
#define SAMPLED_BLOCKS_FILTER 65536u

/* The sampling state of one thread. All zero: not begun. */
struct sample {
    _Atomic uint64_t left; /* whole bytes before the next point; only its thread uses it */
    uint64_t random;       /* state of the generator; 0: not seeded */
};

/* Bytes between points on average; 0: everything is recorded. Set once at the start. */
extern uint64_t sample_mean __attribute__((visibility("hidden")));

/* Sets the mean. MPROF_TEST_SEED=N in the environment makes the draws the same in each run. */
void sample_init(uint64_t mean);

/* Returns the whole bytes before the next point, for a uniform `random` that is not 0. That is the
 * floor of the exponential distance -mean * ln(random / 2^64), by integer arithmetic. */
uint64_t sample_distance(uint64_t random, uint64_t mean);

bool sample_takes_slow(struct sample *sample, uint64_t size);

/* Returns true if an allocation of `size` bytes reaches the next point, and moves the point past
 * it. Otherwise, and for 0 bytes, which count as 1, it changes nothing. A signal handler that
 * allocates between the load and the store leaves a distance that is as random as the one it
 * found. */
static inline bool sample_skips(struct sample *sample, uint64_t size)
{
    const uint64_t left = atomic_load_explicit(&sample->left, memory_order_relaxed);
    if (__builtin_expect(size - 1 >= left, 0))
        return false;
    atomic_store_explicit(&sample->left, left - size, memory_order_relaxed);
    return true;
}

/* Returns true if an allocation of `size` bytes is recorded. */
static inline bool sample_takes(struct sample *sample, uint64_t size)
{
    size += size == 0;
    return !sample_skips(sample, size) && sample_takes_slow(sample, size);
}

/* The live blocks that a sample took. A free asks here whether its block was recorded.
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
 * counters are all that its frees bring into the cache. */

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

/* Keeps what is known of an added block until it is removed, if there is room. */
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

/* Goes through all blocks, which may be changed but not removed. `at` begins as 0. Returns NULL
 * after the last one. */
struct live_block *live_blocks_next(uint32_t *at);
