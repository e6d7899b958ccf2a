/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of live blocks, keyed by address: an open-addressing hash table with linear probing
 * that holds the blocks themselves.
 *
 * Freed blocks stay in the table, marked, until it is rebuilt: malloc returns the same addresses
 * again and again, and a second free of one is recognized. The table never has more places than
 * four times the most blocks that were ever live at once (or 1024), nor more than 4 million: when
 * three quarters of these are live, the older half goes into packed form (cold_blocks.h). A block
 * that is looked up comes back. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ingest/replay/cold_blocks.h"

struct live_table {
    struct live_block *blocks; /* each in its own cache line */
    size_t capacity, used;     /* used: live and freed */
    size_t live;               /* with the cold ones */
    struct cold_blocks *cold;  /* NULL: there are none */
    uint64_t seed;
    size_t hot_most; /* places from which on it does not grow; 0: some 4 million */
};

/* Returns the block at `address`: live, freed, or an empty one to fill (then call
 * live_table_claim()). NULL if memory is exhausted. Valid until the next call. */
struct live_block *live_table_find(struct live_table *table, uint64_t address);

/* Prefetches the block at `address`, for a live_table_find() soon. */
void live_table_prefetch(const struct live_table *table, uint64_t address);

/* Returns the live block at `address` if the first probe finds it, otherwise NULL. */
const struct live_block *live_table_peek(const struct live_table *table, uint64_t address);

/* Returns the live block at `address`, otherwise NULL. Valid until the next call. */
const struct live_block *live_table_live(const struct live_table *table, uint64_t address);

/* Returns the first live block from the place *at on, and sets *at to the place behind it: 0 at
 * first. NULL: there is none. Valid until the next call. */
const struct live_block *live_table_next(const struct live_table *table, size_t *at);

/* Returns the bytes that the table takes. */
size_t live_table_bytes(const struct live_table *table);

/* Makes `block`, from live_table_find() of the same address just before, live. */
void live_table_claim(struct live_table *table, struct live_block *block);
void live_table_release(struct live_table *table, struct live_block *block);

/* Empties the table and frees its memory. */
void live_table_clear(struct live_table *table);
