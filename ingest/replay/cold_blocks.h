/* SPDX-License-Identifier: BSD-2-Clause */
/* Live blocks in packed form: some ten bytes each. They are for a table with many blocks, which
 * keeps here those that it has not looked up for long (live_table.h).
 *
 * Blocks lie in segments, and there in pages, by address. A segment only gets smaller: a block that
 * is taken out is marked. Segments are merged as they come, so that each has at least twice the
 * blocks of the next one. */
#pragma once

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

/* Returns the next block to pack, in the order of addresses, NULL: there is none. */
typedef const struct live_block *cold_blocks_source(void *context);

/* Returns an empty store, NULL if memory is exhausted. */
struct cold_blocks *cold_blocks_new(void);
void cold_blocks_free(struct cold_blocks *cold);

/* Packs blocks, whose addresses it does not have yet. False if memory is exhausted. */
bool cold_blocks_add(struct cold_blocks *cold, cold_blocks_source *source, void *context);

/* Returns the block at the address, NULL if it has none. Valid until the next call. */
const struct live_block *cold_blocks_find(struct cold_blocks *cold, uint64_t address);
/* Takes out the block that was found last. */
void cold_blocks_take(struct cold_blocks *cold);

/* Returns the block at the first place from *place on that has one, and sets *place to the one
 * behind it. NULL: there is none. Valid until the next call. */
const struct live_block *cold_blocks_next(struct cold_blocks *cold, size_t *place);

size_t cold_blocks_count(const struct cold_blocks *cold);
size_t cold_blocks_bytes(const struct cold_blocks *cold);
