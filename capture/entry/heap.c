/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points of the heap that programs call most. Nearly all events of a sample are skipped
 * (event_filter.h), and these functions find that out before anything else. They are compiled
 * without a frame and leave by a jump: to the real function if it can do without us, otherwise to
 * the function that records (allocate.h).
 */
#include <stdlib.h>

#include "capture/entry/allocate.h"
#include "capture/entry/names.h"
#include "capture/record/event_filter.h"
#include "capture/record/real.h"

static inline bool is_sampled(void)
{
    return __builtin_expect(real_detours() == REAL_SAMPLED, 0);
}

static inline void *malloc_skipped(size_t size)
{
    void *address = real.malloc(size);
    return __builtin_expect(address != NULL, 1) ? address
                                                : allocate_failed(size, TRACE_KIND_MALLOC);
}

ENTRY_POINT void *ENTRY(malloc)(size_t size)
{
    return is_sampled() && event_filter_skips_allocation(size) ? malloc_skipped(size)
                                                               : allocate_malloc(size);
}

static inline void *calloc_skipped(size_t count, size_t size)
{
    void *address = real.calloc(count, size);
    return __builtin_expect(address != NULL, 1)
               ? address
               : allocate_failed(allocate_product(count, size), TRACE_KIND_CALLOC);
}

ENTRY_POINT void *ENTRY(calloc)(size_t count, size_t size)
{
    return is_sampled() && event_filter_skips_allocation(allocate_product(count, size))
               ? calloc_skipped(count, size)
               : allocate_calloc(count, size);
}

ENTRY_POINT void ENTRY(free)(void *address)
{
    if (!address)
        return;
    const uint8_t detours = real_detours();
    if (__builtin_expect(detours != 0, 0)) {
        if (detours == REAL_SAMPLED && event_filter_skips_free(address)) {
            real.free(address);
            return;
        }
        if (detours & REAL_BOOTSTRAP) {
            allocate_free_early(address);
            return;
        }
    }
    allocate_free(address);
}

ENTRY_POINT void *ENTRY(realloc)(void *old, size_t size)
{
    return is_sampled() && old && event_filter_skips_resize(old, size)
               ? real.realloc(old, size)
               : allocate_realloc(old, size);
}

#ifndef MPROF_STATIC

/* These two are of C23. C libraries that have them forward to free in the same way. */
ENTRY_POINT void free_sized(void *address, size_t size)
{
    (void)size;
    free(address);
}

ENTRY_POINT void free_aligned_sized(void *address, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    free(address);
}

#endif
