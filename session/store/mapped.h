/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which gaps between live blocks are free memory of the allocator.
 *
 * glibc's malloc gives a large block a mapping of its own (sysmalloc_mmap() in malloc/malloc.c,
 * mmap_threshold in mallopt(3)). Nothing records where that mapping ends, and what lies beside it:
 * free memory of the heap, another mapping, or nothing. No call of the program maps it either, so
 * --mmap does not have it. The address tells: a block that malloc() gave begins behind the 16 bytes
 * of the chunk's header at the start of a page, one that posix_memalign() gave at the first
 * multiple of its alignment after them. The same addresses occur in the heap, too: one of 28 large
 * blocks has one. Such a block is in the heap for sure if another block shares a page with it.
 *
 * A program may set a lower limit for mappings (M_MMAP_THRESHOLD, MALLOC_MMAP_THRESHOLD_). Nothing
 * records it, either. But then most blocks above it have such an address, of which one of hundreds
 * has in a heap. Blocks that the program aligns to pages show nothing: they are in the heap if most
 * others of their size and above are, and otherwise nobody knows.
 *
 * Arenas of threads grow in heaps of 64 MiB, at multiples of it (heap_info in malloc/arena.c). A
 * gap over the border of two may hold anything. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAPPED_PAGE UINT64_C(4096) /* a larger page begins at a multiple of it, too */
#define MAPPED_HEADER UINT64_C(16)
/* The least size that glibc rounds up to its limit for mappings, 128 KiB, if nobody has changed
 * that. The limit grows when mapped blocks are freed, but never shrinks by itself. */
#define MAPPED_LEAST UINT64_C(131049)
#define MAPPED_HEAP_BITS 26

/* Blocks by size, as far as they show the limit. Begins as zeros. */
#define MAPPED_SIZE_STEP UINT64_C(1024)
#define MAPPED_SHOWN_LEAST 4u
struct mapped_sizes {
    uint64_t blocks[MAPPED_LEAST / MAPPED_SIZE_STEP];
    uint64_t shown[MAPPED_LEAST / MAPPED_SIZE_STEP]; /* with the address of a mapping */
};

static inline void mapped_sizes_add(struct mapped_sizes *sizes, uint64_t start, uint64_t size)
{
    const uint64_t step = size / MAPPED_SIZE_STEP, offset = start % MAPPED_PAGE;
    if (step >= MAPPED_LEAST / MAPPED_SIZE_STEP || offset == 0)
        return;
    sizes->blocks[step]++;
    sizes->shown[step] += offset >= MAPPED_HEADER && (offset & (offset - 1)) == 0;
}

/* The least sizes of blocks that may have mappings of their own. */
struct mapped_limits {
    uint64_t least;
    uint64_t pages; /* of those that begin with a page */
};

static inline struct mapped_limits mapped_sizes_limits(const struct mapped_sizes *sizes)
{
    struct mapped_limits limits = {.least = MAPPED_LEAST};
    uint64_t blocks = 0, shown = 0;
    for (uint64_t step = MAPPED_LEAST / MAPPED_SIZE_STEP; step-- > 0;) {
        blocks += sizes->blocks[step];
        shown += sizes->shown[step];
        if (sizes->shown[step] > 0 && shown >= MAPPED_SHOWN_LEAST && 2 * shown > blocks)
            limits.least = step * MAPPED_SIZE_STEP;
        if (limits.pages == 0 && blocks - shown >= MAPPED_SHOWN_LEAST && 2 * shown <= blocks)
            limits.pages = (step + 1) * MAPPED_SIZE_STEP;
    }
    return limits;
}

/* Returns true if glibc would put a mapping of one block's own at such an address. */
static inline bool mapped_address(uint64_t start, uint64_t size, struct mapped_limits limits)
{
    const uint64_t offset = start % MAPPED_PAGE, least = offset == 0 ? limits.pages : limits.least;
    uint64_t alignment = offset;
    if (offset == 0)
        alignment = start & -start;
    else if (offset < MAPPED_HEADER || (offset & (offset - 1)) != 0)
        return false;
    /* To align a block, glibc asks itself for that much more. */
    return size >= least || (offset != MAPPED_HEADER && alignment >= least - size);
}

/* Returns true if a block may have a mapping of its own. `below` is the largest end of the blocks
 * that begin before it, 0 if there is none; `above` the start of the next one that begins at its
 * end or later, UINT64_MAX if there is none. */
static inline bool mapped_alone(uint64_t start, uint64_t size, uint64_t below, uint64_t above,
                                struct mapped_limits limits)
{
    const uint64_t first = (start - MAPPED_HEADER) / MAPPED_PAGE * MAPPED_PAGE;
    const uint64_t last = (start + size - 1) / MAPPED_PAGE;
    return mapped_address(start, size, limits) && below <= first &&
           (above == UINT64_MAX || (above - MAPPED_HEADER) / MAPPED_PAGE != last);
}

/* Returns true if the gap from `end` to `start` may lie between two heaps of a thread's arena. */
static inline bool mapped_heaps_meet(uint64_t end, uint64_t start)
{
    return (end - 1) >> MAPPED_HEAP_BITS != start >> MAPPED_HEAP_BITS;
}
