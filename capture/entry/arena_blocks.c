/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of mprof.h that programs make most: those for each block of an arena. Nearly all events
 * of a sample are skipped, and these functions find that out before anything else, as heap.c does.
 */
#include <stdatomic.h>

#include "capture/entry/arena.h"
#include "capture/entry/names.h"
#include "capture/record/event_filter.h"
#include "capture/record/state.h"

/* Returns true if a sample leaves out most events now. If so, the functions of event_filter.h may
 * be asked. */
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
