/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points behind those of heap.c: each makes the real call and records it. Those jump
 * here, so that the frame lies where that of the function lay which the program called. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/record/events.h"
#include "capture/record/real.h"

void *allocate_malloc(size_t size);
void *allocate_calloc(size_t count, size_t size);
void *allocate_realloc(void *old, size_t size);
/* For realloc and its like. `frame` is that of the entry point. */
void *allocate_resize(const void *frame, void *old, const struct resize *resize);
/* `address` is not NULL. The first one does not expect blocks of the bootstrap arena. */
void allocate_free(void *address);
void allocate_free_early(void *address);

/* Records an allocation of `size` bytes that a sample skipped, and that failed. Returns NULL. */
void *allocate_failed(uint64_t size, enum trace_alloc_kind kind);

/* Returns the binary logarithm of an alignment, which C libraries round up to a power of two. */
static inline unsigned allocate_log2(size_t alignment)
{
    return alignment <= 1 ? 0 : 64 - (unsigned)__builtin_clzl(alignment - 1);
}

/* Returns the size that calloc or reallocarray asks for. If it is too large, the call is recorded
 * as one of UINT64_MAX bytes that failed. */
static inline uint64_t allocate_product(size_t count, size_t size)
{
    size_t product;
    return __builtin_mul_overflow(count, size, &product) ? UINT64_MAX : product;
}
