/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/live_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ingest/base/array.h"

_Static_assert(sizeof(struct live_block) == 64, "a block is one cache line");

#define LARGE_PAGE ((size_t)2 << 20)

/* Blocks lie in the order of their hashes, so a larger table has the same order. */
static size_t home(const struct live_table *table, uint64_t address)
{
    return (size_t)((unsigned __int128)hash_number(address ^ table->seed) * table->capacity >> 64);
}

static bool is_large(size_t capacity)
{
    return capacity * sizeof(struct live_block) >= 2 * LARGE_PAGE;
}

/*
 * Allocates empty blocks. Blocks are looked up in a random order, so in a large table each is on
 * another page of memory. With large pages most of them are in the processor's TLB.
 */
static struct live_block *new_blocks(size_t capacity)
{
    const size_t size = capacity * sizeof(struct live_block);
    struct live_block *blocks;
    if (!is_large(capacity)) {
        blocks = aligned_alloc(sizeof(*blocks), size);
        return blocks ? memset(blocks, 0, size) : NULL;
    }
    uint8_t *mapped = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)mapped % LARGE_PAGE;
    blocks = (struct live_block *)(mapped + before);
    if (before != 0)
        munmap(mapped, before);
    munmap(mapped + before + size, LARGE_PAGE - before);
    madvise(blocks, size, MADV_HUGEPAGE); /* only speed depends on it */
    return blocks;
}

static void free_blocks(struct live_block *blocks, size_t capacity)
{
    if (is_large(capacity))
        munmap(blocks, capacity * sizeof(*blocks));
    else
        free(blocks);
}

/* Returns the place after `at`. */
static size_t after(size_t capacity, size_t at)
{
    return at + 1 < capacity ? at + 1 : 0;
}

/* So many bytes may become twice as many at once. */
#define DOUBLED_MOST ((size_t)128 << 20)

/* Returns how many places a table of so many is rebuilt with: more if it is small or over three
 * eighths are live, by a quarter if that is much memory. */
static size_t next_capacity(size_t capacity, size_t live)
{
    if (capacity >= 1024 && live * 8 <= capacity * 3)
        return capacity;
    if (capacity * sizeof(struct live_block) < DOUBLED_MOST)
        return capacity ? capacity * 2 : 4;
    const size_t more = capacity / 4 * 5, page_blocks = LARGE_PAGE / sizeof(struct live_block);
    return live * 2 <= capacity ? capacity : (more + page_blocks - 1) / page_blocks * page_blocks;
}

/*
 * Rebuilds the table without the freed blocks. It begins small: there may be an arena for each
 * block. Both tables are passed in one direction, and the old one gives back its pages on the way:
 * only one of them needs memory.
 */
static bool rebuild(struct live_table *table)
{
    const size_t old_capacity = table->capacity;
    const size_t capacity = next_capacity(old_capacity, table->live);
    struct live_block *old = table->blocks, *blocks;
    blocks = new_blocks(capacity);
    if (!blocks)
        return false;
    if (table->seed == 0)
        table->seed = hash_seed();
    table->blocks = blocks;
    table->capacity = capacity;
    table->used = table->live;
    const size_t page_blocks = LARGE_PAGE / sizeof(*old);
    for (size_t i = 0; i < old_capacity; i++) {
        if (i % page_blocks == 0 && i > 0 && is_large(old_capacity))
            madvise(&old[i - page_blocks], LARGE_PAGE, MADV_DONTNEED);
        if (old[i].state != BLOCK_LIVE)
            continue;
        size_t at = home(table, old[i].address);
        while (blocks[at].state != BLOCK_EMPTY)
            at = after(capacity, at);
        blocks[at] = old[i];
    }
    free_blocks(old, old_capacity);
    return true;
}

void live_table_prefetch(const struct live_table *table, uint64_t address)
{
    if (table->capacity != 0)
        __builtin_prefetch(&table->blocks[home(table, address)], 1);
}

const struct live_block *live_table_peek(const struct live_table *table, uint64_t address)
{
    if (table->capacity == 0)
        return NULL;
    const struct live_block *block = &table->blocks[home(table, address)];
    return block->address == address && block->state == BLOCK_LIVE ? block : NULL;
}

const struct live_block *live_table_live(const struct live_table *table, uint64_t address)
{
    size_t at = table->capacity ? home(table, address) : 0;
    if (table->capacity == 0)
        return NULL;
    while (table->blocks[at].state != BLOCK_EMPTY && table->blocks[at].address != address)
        at = after(table->capacity, at);
    return table->blocks[at].state == BLOCK_LIVE ? &table->blocks[at] : NULL;
}

const struct live_block *live_table_next(const struct live_table *table, size_t *at)
{
    while (*at < table->capacity)
        if (table->blocks[(*at)++].state == BLOCK_LIVE)
            return &table->blocks[*at - 1];
    return NULL;
}

struct live_block *live_table_find(struct live_table *table, uint64_t address)
{
    if ((table->used + 1) * 4 > table->capacity * 3 && !rebuild(table))
        return NULL;
    size_t at = home(table, address);
    while (table->blocks[at].state != BLOCK_EMPTY && table->blocks[at].address != address)
        at = after(table->capacity, at);
    return &table->blocks[at];
}

void live_table_claim(struct live_table *table, struct live_block *block)
{
    table->used += block->state == BLOCK_EMPTY;
    table->live += block->state != BLOCK_LIVE;
    block->state = BLOCK_LIVE;
}

void live_table_release(struct live_table *table, struct live_block *block)
{
    table->live--;
    block->state = BLOCK_FREED;
}

void live_table_clear(struct live_table *table)
{
    free_blocks(table->blocks, table->capacity);
    *table = (struct live_table){.seed = table->seed};
}
