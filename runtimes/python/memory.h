/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks whether memory can be read.
 *
 * Nobody frees what the walk reads while it does (walk.h). All that can go wrong is that a
 * signal handler allocates while the interpreter is between two stores, and a pointer is not set
 * yet. So the system is asked once about each page before it is read. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_PAGE ((uintptr_t)4096)
#define MEMORY_PAGES 4096u

/* Pages that could be read once, each in the place that memory_place() gives. */
extern _Atomic uintptr_t memory_known[MEMORY_PAGES] __attribute__((visibility("hidden")));

static inline size_t memory_place(uintptr_t page)
{
    return (page / MEMORY_PAGE ^ page / MEMORY_PAGE / MEMORY_PAGES) % MEMORY_PAGES;
}

/* Does what memory_readable() does, and asks the system for pages that are not known yet. */
bool memory_ask(uintptr_t start, uintptr_t end);

/* Returns true if all bytes can be read. */
static inline bool memory_readable(const void *from, size_t size)
{
    const uintptr_t start = (uintptr_t)from, end = start + size - 1;
    const uintptr_t page = start & ~(MEMORY_PAGE - 1);
    return (page == (end & ~(MEMORY_PAGE - 1)) &&
            atomic_load_explicit(&memory_known[memory_place(page)], memory_order_relaxed) == page &&
            page != 0) ||
           memory_ask(start, end);
}

/* Returns `from`, or NULL if the bytes cannot be read. */
static inline const void *memory_at(const void *from, size_t size)
{
    return memory_readable(from, size) ? from : NULL;
}

/* Copies a word that another thread may unmap at any time. Returns false if it cannot be read. */
bool memory_copy(const void *from, uint64_t *word);
