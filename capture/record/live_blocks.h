/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps each live block that a sample took, so that another trace can begin with them.
 *
 * All threads use the pool at once without a lock. An entry belongs to the thread that works on its
 * block. live_blocks_next() needs that no other thread does.
 */
#ifndef MPROF_CAPTURE_RECORD_LIVE_BLOCKS_H
#define MPROF_CAPTURE_RECORD_LIVE_BLOCKS_H

#include <stdbool.h>
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

/* Makes the pool for at most `most` blocks. False if there is no memory. */
bool live_blocks_init(uint32_t most);

/* Adds a block. Returns its number, 0 if there is no room. */
uint32_t live_blocks_add(const struct live_block *block);
void live_blocks_remove(uint32_t number);
/* Returns the block of a number that was added and not removed. */
struct live_block *live_blocks_get(uint32_t number);

/* Goes through all blocks, which may be changed but not removed. `at` begins as 0. Returns NULL
 * after the last one. */
struct live_block *live_blocks_next(uint32_t *at);

/* Forgets all. No other thread may be inside an event. */
void live_blocks_reset(void);

#endif
