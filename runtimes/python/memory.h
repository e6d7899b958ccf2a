/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads memory that may not be there.
 *
 * A thread that holds the interpreter's lock reads where the objects lie, because nobody else frees
 * them. All that can go wrong is that a signal handler allocates while the interpreter is between
 * two stores, and a pointer is not set yet. So each page is asked for once before it is read. A
 * thread without the lock reads copies: the interpreter may end in another thread and unmap the
 * frames at any time.
 */
#ifndef MPROF_RUNTIMES_PYTHON_MEMORY_H
#define MPROF_RUNTIMES_PYTHON_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_WINDOW 1024u

/* A view of the memory. The caller sets `copies` and `size` = 0 before the first use. */
struct memory {
    bool copies; /* reads copies: nothing keeps the memory from being freed */
    uint16_t size;
    uintptr_t start; /* of the bytes that `window` has */
    _Alignas(16) unsigned char window[MEMORY_WINDOW];
};

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

/* Tells whether all bytes can be read. */
static inline bool memory_readable(const void *from, size_t size)
{
    const uintptr_t start = (uintptr_t)from, end = start + size - 1;
    const uintptr_t page = start & ~(MEMORY_PAGE - 1);
    return (page == (end & ~(MEMORY_PAGE - 1)) &&
            atomic_load_explicit(&memory_known[memory_place(page)], memory_order_relaxed) == page &&
            page != 0) ||
           memory_ask(start, end);
}

/* Returns a copy of the bytes, at most MEMORY_WINDOW, which is valid until the next call. NULL:
 * they cannot be read. */
const void *memory_copy(struct memory *memory, uintptr_t from, size_t size);

/* Returns the bytes, or a copy of them that is valid until the next call for this view. At most
 * MEMORY_WINDOW bytes. NULL: they cannot be read. */
static inline const void *memory_at(struct memory *memory, const void *from, size_t size)
{
    if (memory->copies)
        return memory_copy(memory, (uintptr_t)from, size);
    return memory_readable(from, size) ? from : NULL;
}

#endif
