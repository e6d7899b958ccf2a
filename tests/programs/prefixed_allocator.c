/* SPDX-License-Identifier: BSD-2-Clause */
/* An allocator with the names of jemalloc's prefix, which makes its blocks by malloc. */
#include <stdlib.h>

void *je_malloc(size_t size);
void *je_realloc(void *block, size_t size);
void *je_mallocx(size_t size, int flags);
void *je_xyz_alloc(size_t size);
void je_free(void *block);

void *je_malloc(size_t size)
{
    return malloc(size);
}

void *je_realloc(void *block, size_t size)
{
    void *other = je_malloc(size); /* by its own slot */
    je_free(block);
    return other;
}

void *je_mallocx(size_t size, int flags)
{
    return calloc(1, size + (flags != 0));
}

void *je_xyz_alloc(size_t size)
{
    return malloc(size);
}

void je_free(void *block)
{
    free(block);
}
