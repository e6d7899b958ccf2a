/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/sampled_blocks.h"

#include <stddef.h>

#include "capture/os/os.h"
#include "capture/record/live_blocks.h"

#define BUCKET 16u
#define BUCKETS (SAMPLED_BLOCKS_SLOTS / BUCKET)
#define FILTER_FULL 255u

_Atomic uint8_t sampled_blocks_filter[SAMPLED_BLOCKS_FILTER];
static _Atomic uint64_t *table;
static _Atomic uint32_t *notes; /* for each slot the number of its live block, 0: none yet */

bool sampled_blocks_init(void)
{
    table = os_map(SAMPLED_BLOCKS_SLOTS * sizeof(*table));
    notes = os_map(SAMPLED_BLOCKS_SLOTS * sizeof(*notes));
    return table && notes && live_blocks_init(SAMPLED_BLOCKS_SLOTS);
}

/* Returns the bucket that is the address's place 0 or 1. */
static _Atomic uint64_t *blocks_bucket(uint64_t address, unsigned place)
{
    uint64_t hash = sampled_blocks_hash(place ? address ^ UINT64_C(0xd6e8feb86659fd93) : address);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xc2b2ae3d27d4eb4f);
    return &table[(hash >> 40) % BUCKETS * BUCKET];
}

/* Returns the slot that holds `content`, or NULL. */
static _Atomic uint64_t *blocks_slot(uint64_t address, uint64_t content)
{
    for (unsigned place = 0; place < 2; place++) {
        _Atomic uint64_t *bucket = blocks_bucket(address, place);
        for (unsigned i = 0; i < BUCKET; i++)
            if (atomic_load_explicit(&bucket[i], memory_order_relaxed) == content)
                return &bucket[i];
    }
    return NULL;
}

static void blocks_count(uint64_t address, bool more)
{
    _Atomic uint8_t *count = &sampled_blocks_filter[sampled_blocks_hash(address) >> 48];
    uint8_t seen = atomic_load(count), next;
    do {
        if (seen == FILTER_FULL || (!more && seen == 0))
            return;
        next = (uint8_t)(more ? seen + 1 : seen - 1);
    } while (!atomic_compare_exchange_weak(count, &seen, next));
}

bool sampled_blocks_add(uint64_t address)
{
    /* The address is already there if its free was not seen. */
    if (blocks_slot(address, address))
        return true;
    _Atomic uint64_t *slot;
    while ((slot = blocks_slot(address, 0))) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(slot, &none, address)) {
            blocks_count(address, true);
            return true;
        }
    }
    return false;
}

bool sampled_blocks_has(uint64_t address)
{
    return blocks_slot(address, address) != NULL;
}

/* Forgets what is known of the block in a slot. */
static void drop_note(const _Atomic uint64_t *slot)
{
    const uint32_t number = atomic_exchange(&notes[slot - table], 0);
    if (number)
        live_blocks_remove(number);
}

void sampled_blocks_describe(uint64_t key, const struct live_block *block)
{
    const _Atomic uint64_t *slot = blocks_slot(key, key);
    if (!slot)
        return;
    drop_note(slot);
    atomic_store(&notes[slot - table], live_blocks_add(block));
}

/* Returns what is known of a block. NULL: nothing is. */
static struct live_block *find_note(uint64_t key)
{
    /* Most blocks were not taken. */
    const _Atomic uint64_t *slot = sampled_blocks_may_have(key) ? blocks_slot(key, key) : NULL;
    const uint32_t number = slot ? atomic_load(&notes[slot - table]) : 0;
    return number ? live_blocks_get(number) : NULL;
}

bool sampled_blocks_known(uint64_t key, struct live_block *block)
{
    const struct live_block *known = find_note(key);
    if (known)
        *block = *known;
    return known != NULL;
}

void sampled_blocks_tell(uint64_t key, const struct told_type *type)
{
    struct live_block *known = find_note(key);
    if (known)
        known->told = *type;
}

bool sampled_blocks_remove_slow(uint64_t address)
{
    _Atomic uint64_t *slot = blocks_slot(address, address);
    if (!slot)
        return false;
    drop_note(slot);
    atomic_store(slot, 0);
    blocks_count(address, false);
    return true;
}

void sampled_blocks_remove_all(uint64_t mask, uint64_t same)
{
    for (uint64_t i = 0; i < SAMPLED_BLOCKS_SLOTS; i++) {
        uint64_t address = atomic_load_explicit(&table[i], memory_order_relaxed);
        if (address == 0 || (address & mask) != same)
            continue;
        drop_note(&table[i]);
        if (atomic_compare_exchange_strong(&table[i], &address, 0))
            blocks_count(address, false);
    }
}

void sampled_blocks_reset(void)
{
    os_discard(table, SAMPLED_BLOCKS_SLOTS * sizeof(*table));
    os_discard(notes, SAMPLED_BLOCKS_SLOTS * sizeof(*notes));
    live_blocks_reset();
    for (unsigned i = 0; i < SAMPLED_BLOCKS_FILTER; i++)
        atomic_store_explicit(&sampled_blocks_filter[i], 0, memory_order_relaxed);
}
