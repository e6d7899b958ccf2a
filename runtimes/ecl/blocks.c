/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/ecl/blocks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtimes/common.h"

#define ADDRESS_BITS 47
#define GRANULE_BITS 4 /* the collector's blocks begin at multiples of 16 */
#define REGION_BITS 26 /* 64 MiB of addresses are one region */
#define REGIONS ((size_t)1 << (ADDRESS_BITS - REGION_BITS))
#define WORDS ((size_t)1 << (REGION_BITS - GRANULE_BITS - 6))
#define PART_WORDS 512u /* the words of a part lie in one page */
#define PARTS (WORDS / PART_WORDS)

struct region {
    _Atomic uint64_t words[WORDS];
    _Atomic bool used[PARTS]; /* a bit of this part has been set */
    struct region *next;      /* in the list of all regions */
    uintptr_t start;
};

static struct {
    _Atomic(struct region *) *_Atomic table; /* by the first bits of the address */
    _Atomic(struct region *) first;
} blocks;

static _Atomic(struct region *) *open_table(void)
{
    _Atomic(struct region *) *table = atomic_load(&blocks.table), *none = NULL;
    const size_t size = REGIONS * sizeof(*table);
    if (table)
        return table;
    table = common_take_pages(size);
    if (table && !atomic_compare_exchange_strong(&blocks.table, &none, table)) {
        common_give_pages((void *)table, size);
        table = none;
    }
    return table;
}

/* Makes the region of an address. The region is empty in a forked child, but known. */
static struct region *open_region(uintptr_t address)
{
    _Atomic(struct region *) *table = open_table();
    struct region *region = table ? common_take_pages(sizeof(*region)) : NULL, *none = NULL;
    if (!region)
        return NULL;
    common_call(SYS_madvise, (long)region, (long)(offsetof(struct region, next) & ~(size_t)4095),
                MADV_WIPEONFORK, 0);
    region->start = address >> REGION_BITS << REGION_BITS;
    if (!atomic_compare_exchange_strong(&table[address >> REGION_BITS], &none, region)) {
        common_give_pages(region, sizeof(*region));
        return none;
    }
    region->next = atomic_load(&blocks.first);
    while (!atomic_compare_exchange_weak(&blocks.first, &region->next, region))
        ;
    return region;
}

static struct region *find_region(uintptr_t address)
{
    _Atomic(struct region *) *table = atomic_load_explicit(&blocks.table, memory_order_acquire);
    if (!table || address >> ADDRESS_BITS != 0)
        return NULL;
    return atomic_load_explicit(&table[address >> REGION_BITS], memory_order_acquire);
}

static size_t word_of(uintptr_t address)
{
    return address >> (GRANULE_BITS + 6) & (WORDS - 1);
}

static uint64_t bit_of(uintptr_t address)
{
    return (uint64_t)1 << (address >> GRANULE_BITS & 63);
}

bool blocks_add(uintptr_t address)
{
    struct region *region = find_region(address);
    const size_t word = word_of(address);
    if (!region && (address >> ADDRESS_BITS != 0 || !(region = open_region(address))))
        return false;
    if (!atomic_load_explicit(&region->used[word / PART_WORDS], memory_order_relaxed))
        atomic_store(&region->used[word / PART_WORDS], true);
    return !(atomic_fetch_or(&region->words[word], bit_of(address)) & bit_of(address));
}

bool blocks_remove(uintptr_t address)
{
    struct region *region = find_region(address);
    const uint64_t bit = bit_of(address);
    _Atomic uint64_t *word = region ? &region->words[word_of(address)] : NULL;
    return word && (atomic_load_explicit(word, memory_order_relaxed) & bit) &&
           (atomic_fetch_and(word, ~bit) & bit);
}

static void sweep_word(uintptr_t start, _Atomic uint64_t *word, bool (*is_dead)(uintptr_t),
                       void (*end)(uintptr_t))
{
    for (uint64_t left = atomic_load(word); left != 0; left &= left - 1) {
        const uintptr_t address = start + ((uintptr_t)__builtin_ctzll(left) << GRANULE_BITS);
        const uint64_t bit = left & -left;
        if (is_dead(address) && (atomic_fetch_and(word, ~bit) & bit))
            end(address);
    }
}

void blocks_sweep(bool (*is_dead)(uintptr_t address), void (*end)(uintptr_t address))
{
    for (struct region *region = atomic_load(&blocks.first); region; region = region->next)
        for (size_t part = 0; part < PARTS; part++) {
            if (!atomic_load(&region->used[part]))
                continue;
            for (size_t word = part * PART_WORDS; word < (part + 1) * PART_WORDS; word++)
                sweep_word(region->start + (word << (GRANULE_BITS + 6)), &region->words[word],
                           is_dead, end);
        }
}
