/* SPDX-License-Identifier: BSD-2-Clause */
/* How allocators use memory, as far as a ledger of pages needs to know it: the bytes around a block
 * that are the allocator's, and which memory is its own. One rule each, by name.
 *
 * - glibc (malloc/malloc.c, "chunk"): a block at `a` is the chunk [a - 8, a - 8 + max(32, size + 8
 *   rounded up to 16)). Blocks of 128 KiB and more outside the program break's mapping, whose
 *   address is a page plus 16 (or a page: memalign), are mapped by themselves, in whole pages from
 *   a - 16. All others outside it lie in an arena, whose heaps begin at multiples of 64 MiB.
 * - jemalloc and mimalloc: four size classes in each doubling, and steps of 16 up to 128 bytes.
 *   Blocks above 14 KiB have whole pages.
 * - tcmalloc (gperftools, AlignmentForSize): steps of an eighth of the power of two below the size.
 *   Classes that it merges are rounded up further: that part counts as a hole. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum heap_allocator {
    HEAP_UNKNOWN, /* only the blocks are known */
    HEAP_GLIBC,
    HEAP_JEMALLOC,
    HEAP_TCMALLOC,
    HEAP_MIMALLOC,
};

enum { RESIDENT_PAGE = 4096 };
#define GLIBC_HEAP_SIZE (UINT64_C(64) << 20)
#define GLIBC_MAPPED_LEAST ((uint64_t)128 << 10)

/* Returns the name as in the table `residency`; "" for HEAP_UNKNOWN. */
const char *heap_allocator_name(enum heap_allocator allocator);

/* Returns the allocator of that name, HEAP_UNKNOWN: there is none. */
enum heap_allocator heap_allocator_named(const char *name);

/* Returns the allocator that a file is the library of, HEAP_UNKNOWN: of none. `glibc`: the C
 * library counts. */
enum heap_allocator heap_allocator_of_file(const char *path, bool glibc);

/* A block with what is around it. */
struct chunk_span {
    uint64_t low, high;
    bool mapped; /* by itself, so that it is in whole pages */
};

/* Returns the bytes of glibc's chunk of a block that is not mapped by itself. */
static inline struct chunk_span glibc_chunk(uint64_t address, uint64_t size)
{
    const uint64_t whole = (size + 8 + 15) & ~UINT64_C(15);
    return (struct chunk_span){address - 8, address - 8 + (whole < 32 ? 32 : whole), false};
}

/* Returns the bytes of a block. `in_break`: it lies in the mapping of the program break. */
struct chunk_span heap_allocator_span(enum heap_allocator allocator, uint64_t address,
                                      uint64_t size, bool in_break);
