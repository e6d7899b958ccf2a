/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/python/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)
#define PAGES 4096u
#define SIGNAL_SET_SIZE 8

/* Pages that could be read once, by a hash of their number. */
static _Atomic uintptr_t known[PAGES];

/* The kernel reads the set before it finds that there is no such way to change the mask. No filter
 * of system calls forbids this call. */
bool memory_page_readable(uintptr_t at)
{
    return syscall(SYS_rt_sigprocmask, ~0, at & ~(PAGE - 1), NULL, SIGNAL_SET_SIZE) != 0 &&
           errno == EINVAL;
}

static bool page_known(uintptr_t page)
{
    _Atomic uintptr_t *slot = &known[(page / PAGE ^ page / PAGE / PAGES) % PAGES];
    if (atomic_load_explicit(slot, memory_order_relaxed) == page)
        return true;
    if (!memory_page_readable(page))
        return false;
    atomic_store_explicit(slot, page, memory_order_relaxed);
    return true;
}

bool memory_readable(const void *from, size_t size)
{
    const uintptr_t start = (uintptr_t)from, end = start + size - 1;
    if (start < PAGE || end < start)
        return false;
    for (uintptr_t page = start & ~(PAGE - 1);; page += PAGE) {
        if (!page_known(page))
            return false;
        if (page == (end & ~(PAGE - 1)))
            return true;
    }
}

const void *memory_copy(struct memory *memory, uintptr_t from, size_t size)
{
    if (memory->size >= size && from >= memory->start &&
        from - memory->start <= memory->size - size)
        return memory->window + (from - memory->start);
    if (size > MEMORY_WINDOW)
        return NULL;
    /* A whole window, which lies in one page, saves later calls. */
    const uintptr_t aligned = from & ~(uintptr_t)(MEMORY_WINDOW - 1);
    const bool fits = from + size <= aligned + MEMORY_WINDOW;
    memory->start = fits ? aligned : from;
    struct iovec to = {memory->window, fits ? MEMORY_WINDOW : size};
    struct iovec other = {(void *)memory->start, to.iov_len};
    const ssize_t got = syscall(SYS_process_vm_readv, getpid(), &to, 1L, &other, 1L, 0L);
    memory->size = got == (ssize_t)to.iov_len ? (uint16_t)got : 0;
    return memory->size ? memory->window + (from - memory->start) : NULL;
}
