/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/allocator_rules.h"

#include <string.h>

static const char *const names[] = {"", "glibc", "jemalloc", "tcmalloc", "mimalloc"};

const char *heap_allocator_name(enum heap_allocator allocator)
{
    return names[allocator];
}

enum heap_allocator heap_allocator_named(const char *name)
{
    int found = HEAP_MIMALLOC;
    while (found > HEAP_UNKNOWN && strcmp(names[found], name) != 0)
        found--;
    return (enum heap_allocator)found;
}

enum heap_allocator heap_allocator_of_file(const char *path, bool glibc)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, "libjemalloc", 11) == 0)
        return HEAP_JEMALLOC;
    if (strncmp(name, "libtcmalloc", 11) == 0)
        return HEAP_TCMALLOC;
    if (strncmp(name, "libmimalloc", 11) == 0)
        return HEAP_MIMALLOC;
    if (glibc && (strcmp(name, "libc.so.6") == 0 || strncmp(name, "libc-2.", 7) == 0))
        return HEAP_GLIBC;
    return HEAP_UNKNOWN;
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Returns the number of the highest bit that is set. */
static unsigned highest_bit(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value | 1);
}

/* Returns a size of four classes in each doubling. */
static uint64_t quarter_class(uint64_t size)
{
    if (size <= 8)
        return 8;
    if (size <= 128)
        return round_up(size, 16);
    return round_up(size, UINT64_C(1) << (highest_bit(size - 1) - 2));
}

static uint64_t eighth_class(uint64_t size)
{
    if (size <= 8)
        return 8;
    if (size < 128)
        return round_up(size, 16);
    if (size > (uint64_t)256 << 10)
        return round_up(size, 8192);
    const uint64_t step = UINT64_C(1) << (highest_bit(size) - 3);
    return round_up(size, step < 8192 ? step : 8192);
}

static struct chunk_span glibc_span(uint64_t address, uint64_t size, bool in_break)
{
    const struct chunk_span span = glibc_chunk(address, size);
    const uint64_t chunk = span.high - span.low;
    const uint64_t inside = address % RESIDENT_PAGE;
    if (chunk >= GLIBC_MAPPED_LEAST && !in_break && inside == 16)
        return (struct chunk_span){address - 16, address - 16 + round_up(chunk + 8, RESIDENT_PAGE),
                                   true};
    if (size >= GLIBC_MAPPED_LEAST && !in_break && inside == 0)
        return (struct chunk_span){address - 16, address + round_up(size, RESIDENT_PAGE), true};
    return span;
}

struct chunk_span heap_allocator_span(enum heap_allocator allocator, uint64_t address,
                                      uint64_t size, bool in_break)
{
    enum { WHOLE_PAGES_FROM = 14336 };
    struct chunk_span span = {address, address + size, false};
    switch (allocator) {
    case HEAP_GLIBC:
        return glibc_span(address, size, in_break);
    case HEAP_JEMALLOC:
    case HEAP_MIMALLOC:
        span.high = address + quarter_class(size);
        if (size <= WHOLE_PAGES_FROM)
            return span;
        span.low -= span.low % RESIDENT_PAGE;
        span.high = round_up(span.high, RESIDENT_PAGE);
        return span;
    case HEAP_TCMALLOC:
        span.high = address + eighth_class(size);
        return span;
    default:
        return span;
    }
}
