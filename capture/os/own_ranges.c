/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/own_ranges.h"

#include <stdatomic.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"

#define RANGES_MAX 4096u
#define TAKEN 1u /* a start that is not known yet */

static struct range {
    _Atomic uintptr_t start; /* 0: free */
    _Atomic size_t size;
} ranges[RANGES_MAX];
static _Atomic uint32_t ranges_end; /* those from here on have never been used */
static _Atomic bool locks_new;

void own_ranges_add(void *memory, size_t size)
{
    size = (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
    for (uint32_t i = 0; i < RANGES_MAX; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&ranges[i].start, &none, TAKEN))
            continue;
        uint32_t end = atomic_load(&ranges_end);
        while (end <= i && !atomic_compare_exchange_weak(&ranges_end, &end, i + 1))
            ;
        atomic_store(&ranges[i].size, size);
        atomic_store(&ranges[i].start, (uintptr_t)memory);
        break;
    }
}

void own_ranges_remove(const void *memory)
{
    const uint32_t end = atomic_load(&ranges_end);
    for (uint32_t i = 0; i < end; i++) {
        uintptr_t start = (uintptr_t)memory;
        if (atomic_compare_exchange_strong(&ranges[i].start, &start, 0))
            return;
    }
}

bool own_ranges_are_locked(void)
{
    return atomic_load_explicit(&locks_new, memory_order_relaxed);
}

void own_ranges_set_locked(bool locked)
{
    atomic_store(&locks_new, locked);
}

bool own_ranges_next(uint32_t *at, uintptr_t *start, size_t *size)
{
    while (*at < atomic_load(&ranges_end)) {
        const struct range *range = &ranges[(*at)++];
        *start = atomic_load(&range->start);
        *size = atomic_load(&range->size);
        if (*start > TAKEN)
            return true;
    }
    return false;
}
