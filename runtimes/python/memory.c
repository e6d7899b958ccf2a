/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/python/memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "capture/os/arch_x86_64.h"

#define SIGNAL_SET_SIZE 8

_Atomic uintptr_t memory_known[MEMORY_PAGES];

/* Asks the system. The kernel reads the set before it finds that there is no such way to change the
 * mask. No filter of system calls forbids this call. */
static bool page_readable(uintptr_t page)
{
    return arch_syscall(SYS_rt_sigprocmask, ~0, (long)page, 0, SIGNAL_SET_SIZE, 0, 0) == -EINVAL;
}

bool memory_ask(uintptr_t start, uintptr_t end)
{
    if (start < MEMORY_PAGE || end < start)
        return false;
    for (uintptr_t page = start & ~(MEMORY_PAGE - 1);; page += MEMORY_PAGE) {
        _Atomic uintptr_t *known = &memory_known[memory_place(page)];
        if (atomic_load_explicit(known, memory_order_relaxed) != page) {
            if (!page_readable(page))
                return false;
            atomic_store_explicit(known, page, memory_order_relaxed);
        }
        if (page == (end & ~(MEMORY_PAGE - 1)))
            return true;
    }
}

bool memory_copy(const void *from, uint64_t *word)
{
    struct iovec to = {word, sizeof(*word)}, other = {(void *)(uintptr_t)from, sizeof(*word)};
    const long process = arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return arch_syscall(SYS_process_vm_readv, process, (long)&to, 1, (long)&other, 1, 0) ==
           sizeof(*word);
}
