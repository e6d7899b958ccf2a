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

/* Allocates empty blocks. Blocks are looked up in a random order, so in a large table each is on
 * another page of memory. With large pages most of them are in the processor's TLB. */
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

/* A table of so many places or more does not grow: 250 MiB. */
#define HOT_MOST ((size_t)4000000)

/* The hot blocks that become cold, by address. */
struct cooling {
    struct live_block *blocks;
    struct number_pair *pairs; /* address, place */
    size_t count, next;
};

static const struct live_block *next_cooling(void *context)
{
    enum { AHEAD = 8 };
    struct cooling *cooling = context;
    if (cooling->next == cooling->count)
        return NULL;
    const size_t at = cooling->next++;
    const size_t later = at + AHEAD < cooling->count ? at + AHEAD : at;
    __builtin_prefetch(&cooling->blocks[cooling->pairs[later].value]);
    return &cooling->blocks[cooling->pairs[at].value];
}

/* Packs the hot blocks that are older than the average, and takes them out. */
static bool cool(struct live_table *table)
{
    struct cooling cooling = {.blocks = table->blocks};
    struct live_block *blocks = table->blocks;
    double sum = 0;
    size_t hot = 0;
    for (size_t i = 0; i < table->capacity; i++)
        if (blocks[i].state == BLOCK_LIVE) {
            sum += (double)blocks[i].order;
            hot++;
        }
    const double average = sum / (double)hot;
    cooling.pairs = malloc((hot + 1) * sizeof(*cooling.pairs));
    if (!table->cold)
        table->cold = cold_blocks_new();
    bool good = table->cold && cooling.pairs;
    for (size_t i = 0; good && i < table->capacity; i++)
        if (blocks[i].state == BLOCK_LIVE && (double)blocks[i].order <= average)
            cooling.pairs[cooling.count++] = (struct number_pair){blocks[i].address, i};
    if (good)
        sort_pairs(cooling.pairs, cooling.count);
    good = good && cold_blocks_add(table->cold, next_cooling, &cooling);
    for (size_t i = 0; good && i < cooling.count; i++)
        blocks[cooling.pairs[i].value].state = BLOCK_FREED;
    free(cooling.pairs);
    return good;
}

static size_t hot_count(const struct live_table *table)
{
    return table->live - (table->cold ? cold_blocks_count(table->cold) : 0);
}

/* Rebuilds the table without the freed blocks. It begins small: there may be an arena for each
 * block. Both tables are passed in one direction, and the old one gives back its pages on the way:
 * only one of them needs memory. */
static bool rebuild(struct live_table *table)
{
    const size_t old_capacity = table->capacity;
    size_t capacity = next_capacity(old_capacity, hot_count(table));
    struct live_block *old = table->blocks, *blocks;
    if (capacity > old_capacity && old_capacity >= (table->hot_most ? table->hot_most : HOT_MOST)) {
        capacity = old_capacity;
        if (!cool(table))
            return false;
    }
    blocks = new_blocks(capacity);
    if (!blocks)
        return false;
    if (table->seed == 0)
        table->seed = hash_seed();
    table->blocks = blocks;
    table->capacity = capacity;
    table->used = hot_count(table);
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
    if (table->capacity == 0)
        return;
    /* A block lies one or two places behind its home on average. */
    const struct live_block *first = &table->blocks[home(table, address)];
    __builtin_prefetch(first, 1);
    __builtin_prefetch(first + 1, 1);
}

const struct live_block *live_table_peek(const struct live_table *table, uint64_t address)
{
    if (table->capacity == 0)
        return NULL;
    const struct live_block *block = &table->blocks[home(table, address)];
    return block->address == address && block->state == BLOCK_LIVE ? block : NULL;
}

/* Returns the block at `address`, or the empty place for it. The table must have places. */
static struct live_block *probe(const struct live_table *table, uint64_t address)
{
    size_t at = home(table, address);
    while (table->blocks[at].state != BLOCK_EMPTY && table->blocks[at].address != address)
        at = after(table->capacity, at);
    return &table->blocks[at];
}

const struct live_block *live_table_live(const struct live_table *table, uint64_t address)
{
    const struct live_block *block = table->capacity == 0 ? NULL : probe(table, address);
    if (block && block->state == BLOCK_LIVE)
        return block;
    return table->cold ? cold_blocks_find(table->cold, address) : NULL;
}

const struct live_block *live_table_next(const struct live_table *table, size_t *at)
{
    while (*at < table->capacity)
        if (table->blocks[(*at)++].state == BLOCK_LIVE)
            return &table->blocks[*at - 1];
    size_t place = *at - table->capacity;
    const struct live_block *block = table->cold ? cold_blocks_next(table->cold, &place) : NULL;
    *at = table->capacity + place;
    return block;
}

struct live_block *live_table_find(struct live_table *table, uint64_t address)
{
    if ((table->used + 1) * 4 > table->capacity * 3 && !rebuild(table))
        return NULL;
    struct live_block *block = probe(table, address);
    const struct live_block *cold =
        block->state == BLOCK_LIVE || !table->cold ? NULL : cold_blocks_find(table->cold, address);
    if (cold) {
        table->used += block->state == BLOCK_EMPTY;
        *block = *cold;
        cold_blocks_take(table->cold);
    }
    return block;
}

size_t live_table_bytes(const struct live_table *table)
{
    return table->capacity * sizeof(*table->blocks) +
           (table->cold ? cold_blocks_bytes(table->cold) : 0);
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
    cold_blocks_free(table->cold);
    *table = (struct live_table){.seed = table->seed, .hot_most = table->hot_most};
}
