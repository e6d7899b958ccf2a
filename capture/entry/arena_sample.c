/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/entry/arena_sample.h"

#include "capture/record/event_filter.h"
#include "capture/record/sampled_blocks.h"
#include "capture/record/sampling.h"
#include "capture/trace/file.h"

/* A key has the block's address in the low bits and the arena's place above them. It also has the
 * highest bit, which no key of a heap block has. */
#define ADDRESS_BITS 47u
#define OF_ARENA (UINT64_C(1) << 63)
#define ARENA_MASK ~((UINT64_C(1) << ADDRESS_BITS) - 1)

_Static_assert(SAMPLED_BLOCKS_FILTER *UINT64_C(64) <= UINT64_C(1) << ADDRESS_BITS,
               "a key has the place of its address in the filter");

static uint64_t sample_key(uint32_t place, const void *address)
{
    return OF_ARENA | (uint64_t)place << ADDRESS_BITS | ((uintptr_t)address & ~ARENA_MASK);
}

static void sample_list(struct arena_sample *sample, uint64_t key)
{
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&sample->listed[i], &none, key) || none == key)
            return;
    }
    atomic_store(&sample->more, true);
}

bool arena_sample_takes(struct arena_sample *sample, uint32_t place, const void *address,
                        uint64_t size)
{
    if (!sample_takes(&thread_self.sample, size)) {
        event_filter_look_for_requests();
        return false;
    }
    if (!sample || !sampled_blocks_add(sample_key(place, address))) {
        trace_file_count_dropped(1);
        return false;
    }
    sample_list(sample, sample_key(place, address));
    return true;
}

bool arena_sample_ends(struct arena_sample *sample, uint32_t place, const void *address)
{
    const uint64_t key = sample_key(place, address);
    if (!sample || !sampled_blocks_remove(key)) {
        event_filter_look_for_requests();
        return false;
    }
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t listed = key;
        if (atomic_compare_exchange_strong(&sample->listed[i], &listed, 0))
            break;
    }
    return true;
}

void arena_sample_describe(uint32_t place, const struct live_block *block)
{
    sampled_blocks_describe(sample_key(place, (const void *)(uintptr_t)block->address), block);
}

bool arena_sample_has(uint32_t place, const void *address)
{
    return sampled_blocks_has(sample_key(place, address));
}

void arena_sample_tell(uint32_t place, const void *address, const struct told_type *type)
{
    sampled_blocks_tell(sample_key(place, address), type);
}

void arena_sample_reset(struct arena_sample *sample, uint32_t place)
{
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t key = atomic_exchange(&sample->listed[i], 0);
        if (key)
            sampled_blocks_remove(key);
    }
    if (atomic_exchange(&sample->more, false))
        sampled_blocks_remove_all(ARENA_MASK, sample_key(place, NULL));
}
