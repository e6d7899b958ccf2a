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

/*
 * Rebuilds the table without the freed blocks, twice as large if it is small or over three eighths
 * are live. It begins small: there may be an arena for each block. Both tables are passed in one
 * direction, and the old one gives back its pages on the way: only one of them needs memory.
 */
static bool rebuild(struct live_table *table)
{
    size_t old_capacity = table->capacity, capacity = old_capacity ? old_capacity : 2;
    struct live_block *old = table->blocks, *blocks;
    if (old_capacity < 1024 || table->live * 8 > old_capacity * 3)
        capacity *= 2;
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
            at = (at + 1) & (capacity - 1);
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

struct live_block *live_table_find(struct live_table *table, uint64_t address)
{
    if ((table->used + 1) * 4 > table->capacity * 3 && !rebuild(table))
        return NULL;
    size_t at = home(table, address);
    while (table->blocks[at].state != BLOCK_EMPTY && table->blocks[at].address != address)
        at = (at + 1) & (table->capacity - 1);
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
