/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of live blocks, keyed by address: an open-addressing hash table with linear probing
 * that holds the blocks themselves.
 *
 * Freed blocks stay in the table, marked, until it is rebuilt: malloc returns the same addresses
 * again and again, and a second free of one is recognized. The table never has more places than
 * four times the most blocks that were ever live at once (or 1024).
 */
#ifndef MPROF_INGEST_REPLAY_LIVE_TABLE_H
#define MPROF_INGEST_REPLAY_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum block_state { BLOCK_EMPTY = 0, BLOCK_LIVE, BLOCK_FREED };

struct live_block {
    uint64_t address;
    uint64_t size;
    uint64_t alloc_ns;   /* of a freed block: the time of the free */
    uint64_t realloc_of; /* row id; 0: none */
    uint64_t order;      /* number of the allocation, from 1 */
    uint32_t count;      /* objects; type_by_rules: of the rules' answer */
    uint32_t stack;      /* stack_id of the session */
    uint32_t thread;
    uint32_t arena;
    uint32_t type; /* 0: unknown */
    uint8_t kind;
    uint8_t alignment;       /* log2 + 1; 0: the allocator's own */
    uint8_t state;           /* enum block_state */
    bool named : 1;          /* the program named the type */
    bool type_by_rules : 1;  /* type and count are the rules' whole answer */
    bool unknown_listed : 1; /* type_table_unknown() has nothing to add for it */
};

struct live_table {
    struct live_block *blocks;   /* each in its own cache line */
    size_t capacity, used, live; /* used: live and freed */
    uint64_t seed;
};

/* Returns the block at `address`: live, freed, or an empty one to fill (then call
 * live_table_claim()). NULL if memory is exhausted. Valid until the next call. */
struct live_block *live_table_find(struct live_table *table, uint64_t address);

/* Prefetches the block at `address`, for a live_table_find() soon. */
void live_table_prefetch(const struct live_table *table, uint64_t address);

/* Returns the live block at `address` if the first probe finds it, otherwise NULL. */
const struct live_block *live_table_peek(const struct live_table *table, uint64_t address);

/* Returns the live block at `address`, otherwise NULL. */
const struct live_block *live_table_live(const struct live_table *table, uint64_t address);

/* Returns the next live block, NULL: there is none. *at is 0 at first. */
const struct live_block *live_table_next(const struct live_table *table, size_t *at);

/* Makes `block`, from live_table_find() of the same address just before, live. */
void live_table_claim(struct live_table *table, struct live_block *block);
void live_table_release(struct live_table *table, struct live_block *block);

/* Empties the table and frees its memory. */
void live_table_clear(struct live_table *table);

#endif
