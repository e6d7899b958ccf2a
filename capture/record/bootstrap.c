/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/bootstrap.h"

#include <stdatomic.h>
#include <stdint.h>

#include "capture/os/os.h"

#define FIRST_SIZE ((size_t)65536)
#define POOLS 8u            /* each is four times as large as the one before */
#define HEAD sizeof(size_t) /* before each block: its size */

/* The first pool needs no system call. The others are mapped when they are first needed. */
static union {
    max_align_t alignment;
    uint8_t bytes[FIRST_SIZE];
} first;
static struct {
    _Atomic(void *) bytes; /* not used of the first pool */
    _Atomic size_t used;
} pools[POOLS];

static _Atomic unsigned pools_used; /* besides the first */

static size_t pool_size(unsigned number)
{
    return FIRST_SIZE << 2 * number;
}

static uintptr_t pool_start(unsigned number)
{
    return (uintptr_t)(number == 0 ? first.bytes : atomic_load(&pools[number].bytes));
}

static void *pool_allocate(unsigned number, size_t size, size_t alignment)
{
    const uintptr_t base = pool_start(number);
    size_t from = atomic_load(&pools[number].used), to;
    uintptr_t block;
    do {
        block = (base + from + HEAD + alignment - 1) & ~(uintptr_t)(alignment - 1);
        to = block - base + size;
        if (to > pool_size(number))
            return NULL;
    } while (!atomic_compare_exchange_weak(&pools[number].used, &from, to));
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

void *bootstrap_allocate(size_t size, size_t alignment)
{
    void *block = NULL;
    if (alignment < sizeof(max_align_t))
        alignment = sizeof(max_align_t);
    for (unsigned i = 0; i < POOLS && !block; i++) {
        if (size > pool_size(i) || alignment > pool_size(i) ||
            (i > 0 && !os_map_once(&pools[i].bytes, pool_size(i))))
            continue;
        block = pool_allocate(i, size, alignment);
        if (i > atomic_load(&pools_used)) /* at the start there is one thread */
            atomic_store(&pools_used, i);
    }
    return block;
}

bool bootstrap_owns(const void *block)
{
    for (unsigned i = 0; i <= atomic_load_explicit(&pools_used, memory_order_relaxed); i++)
        if (pool_start(i) && (uintptr_t)block - pool_start(i) < pool_size(i))
            return true;
    return false;
}

size_t bootstrap_size(const void *block)
{
    return ((const size_t *)block)[-1];
}
