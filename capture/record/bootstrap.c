/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/bootstrap.h"

#include <stdatomic.h>
#include <stdint.h>

#define POOL_SIZE 65536u
#define HEAD sizeof(size_t) /* before each block: its size */

static union {
    max_align_t alignment;
    uint8_t bytes[POOL_SIZE];
} pool;
static _Atomic size_t used;

void *bootstrap_allocate(size_t size, size_t alignment)
{
    uintptr_t base = (uintptr_t)pool.bytes;
    if (alignment < sizeof(max_align_t))
        alignment = sizeof(max_align_t);
    if (size > POOL_SIZE || alignment > POOL_SIZE)
        return NULL;
    size_t from = atomic_load(&used), to;
    uintptr_t block;
    do {
        block = (base + from + HEAD + alignment - 1) & ~(uintptr_t)(alignment - 1);
        to = block - base + size;
        if (to > POOL_SIZE)
            return NULL;
    } while (!atomic_compare_exchange_weak(&used, &from, to));
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

bool bootstrap_owns(const void *block)
{
    return (uintptr_t)block - (uintptr_t)pool.bytes < POOL_SIZE;
}

size_t bootstrap_size(const void *block)
{
    return ((const size_t *)block)[-1];
}
