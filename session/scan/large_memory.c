/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/scan/large_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *large_memory(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, size < HUGE_PAGE ? 64 : HUGE_PAGE, size) != 0)
        return NULL;
    if (size >= HUGE_PAGE)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}
