/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points of the heap that programs call most, and those of mprof.h, for each block of an
 * arena. Nearly all events of a sample are skipped
 * (event_filter.h), and these functions find that out before anything else. They are compiled
 * without a frame and leave by a jump: to the real function if it can do without us, otherwise to
 * the function that records (allocate.h, arena.h). */
#include <stdatomic.h>
#include <stdlib.h>

#include "capture/entry/allocate.h"
#include "capture/entry/arena.h"
#include "capture/entry/names.h"
#include "capture/record/event_filter.h"
#include "capture/record/real.h"
#include "capture/record/state.h"

/* Returns the real function NAME for an event that is skipped. NULL: no event is. */
#define SKIPPED(NAME) atomic_load_explicit(&recorder_page.skipped.NAME, memory_order_relaxed)

static inline void *malloc_skipped(void *(*real_malloc)(size_t), size_t size)
{
    void *address = real_malloc(size);
    return __builtin_expect(address != NULL, 1) ? address
                                                : allocate_failed(size, TRACE_KIND_MALLOC);
}

ENTRY_POINT void *ENTRY(malloc)(size_t size)
{
    void *(*real_malloc)(size_t) = SKIPPED(malloc);
    return __builtin_expect(real_malloc != NULL, 1) &&
                   __builtin_expect(event_filter_skips_allocation(size), 1)
               ? malloc_skipped(real_malloc, size)
               : allocate_malloc(size);
}

static inline void *calloc_skipped(void *(*real_calloc)(size_t, size_t), size_t count, size_t size)
{
    void *address = real_calloc(count, size);
    return __builtin_expect(address != NULL, 1)
               ? address
               : allocate_failed(allocate_product(count, size), TRACE_KIND_CALLOC);
}

ENTRY_POINT void *ENTRY(calloc)(size_t count, size_t size)
{
    void *(*real_calloc)(size_t, size_t) = SKIPPED(calloc);
    return real_calloc && event_filter_skips_allocation(allocate_product(count, size))
               ? calloc_skipped(real_calloc, count, size)
               : allocate_calloc(count, size);
}

/* A NULL that is skipped goes to the real function, which does nothing either. */
ENTRY_POINT void ENTRY(free)(void *address)
{
    void (*real_free)(void *) = SKIPPED(free);
    if (real_free && event_filter_skips_free(address))
        real_free(address);
    else if (!address)
        return;
    else if (__builtin_expect(real_detours() & REAL_BOOTSTRAP, 0))
        allocate_free_early(address);
    else
        allocate_free(address);
}

ENTRY_POINT void *ENTRY(realloc)(void *old, size_t size)
{
    void *(*real_realloc)(void *, size_t) = SKIPPED(realloc);
    return real_realloc && old && event_filter_skips_resize(old, size)
               ? real_realloc(old, size)
               : allocate_realloc(old, size);
}

#ifndef MPROF_STATIC

/* These two are of C23. C libraries that have them forward to free in the same way. */
ENTRY_POINT void free_sized(void *address, size_t size)
{
    free(address);
}

ENTRY_POINT void free_aligned_sized(void *address, size_t alignment, size_t size)
{
    free(address);
}

#endif

/* Returns true if a sample leaves out most events now. Then event_filter.h may be asked. */
static inline bool samples(void)
{
    return __builtin_expect(
        atomic_load_explicit(&recorder_page.skipped.free, memory_order_relaxed) != NULL, 0);
}

/* Skips a new block. A recorded one may have lain there, if the recorder was not told of its end.
 */
static inline bool skips(mprof_arena arena, const void *address, size_t size)
{
    return samples() && arena != 0 && address && event_filter_skips_resize(address, size);
}

ENTRY_POINT int mprof_arena_skips(mprof_arena arena, void *address, size_t size)
{
    return skips(arena, address, size);
}

ENTRY_POINT void mprof_arena_alloc(mprof_arena arena, void *address, size_t size, size_t count)
{
    if (!skips(arena, address, size))
        arena_block_allocated(arena, address, size, count, 0);
}

ENTRY_POINT void mprof_arena_alloc_kind(mprof_arena arena, void *address, size_t size, size_t count,
                                        mprof_kind kind)
{
    if (!skips(arena, address, size))
        arena_block_allocated(arena, address, size, count, kind);
}

ENTRY_POINT void mprof_arena_free(mprof_arena arena, void *address)
{
    if (!samples() || !event_filter_skips_free(address))
        arena_block_freed(arena, address);
}

ENTRY_POINT void mprof_collected(mprof_arena arena, void *address)
{
    if (samples() && event_filter_skips_free(address))
        arena_note_collector(arena);
    else
        arena_block_collected(arena, address);
}
