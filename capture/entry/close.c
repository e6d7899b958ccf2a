/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points that close descriptors: close, close_range, closefrom, and dup2 and dup3, which take
 * a number away from the file that has it.
 *
 * The trace's descriptor is not one of the program's: to the program it is a number that is not
 * open. If the program closes all descriptors, this one stays open. If the program wants this
 * number for a file, it gets it as soon as no thread of the recorder is using it. Otherwise the
 * recorder might grow a file that the program has opened under that number. A vfork child behaves
 * as if it ran without the recorder: it has descriptors of its own, and the parent's memory. */
#include "capture/entry/startup.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/entry/names.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/real.h"
#include "capture/record/storage.h"

static _Atomic(int (*)(int)) entry_next_close;
static _Atomic(int (*)(unsigned, unsigned, int)) entry_next_close_range;
static _Atomic(void (*)(int)) entry_next_closefrom;
static _Atomic(int (*)(int, int)) entry_next_dup2;
static _Atomic(int (*)(int, int, int)) entry_next_dup3;

void entry_close_resolve(void)
{
    atomic_store(&entry_next_close, (int (*)(int))real_find("close"));
    atomic_store(&entry_next_close_range,
                 (int (*)(unsigned, unsigned, int))real_find("close_range"));
    atomic_store(&entry_next_closefrom, (void (*)(int))real_find("closefrom"));
    atomic_store(&entry_next_dup2, (int (*)(int, int))real_find("dup2"));
    atomic_store(&entry_next_dup3, (int (*)(int, int, int))real_find("dup3"));
}

/* Turns the kernel's answer into the C library's. */
static int libc_result(long result)
{
    if (result >= 0)
        return (int)result;
    errno = (int)-result;
    return -1;
}

static int real_close(int descriptor)
{
    int (*next)(int) = atomic_load_explicit(&entry_next_close, memory_order_acquire);
    return next ? next(descriptor)
                : libc_result(arch_syscall(SYS_close, descriptor, 0, 0, 0, 0, 0));
}

static int real_close_range(unsigned first, unsigned last, int flags)
{
    int (*next)(unsigned, unsigned, int) =
        atomic_load_explicit(&entry_next_close_range, memory_order_acquire);
    return next ? next(first, last, flags)
                : libc_result(arch_syscall(SYS_close_range, first, last, flags, 0, 0, 0));
}

/* Returns the trace's number if it lies between the two and this process has it, otherwise -1. */
static int own_between(unsigned first, unsigned last)
{
    const int own = trace_storage_descriptor();
    return own >= 0 && (unsigned)own >= first && (unsigned)own <= last && trace_file_is_own() &&
                   trace_storage_has(own)
               ? own
               : -1;
}

ENTRY_POINT int close(int descriptor)
{
    if (descriptor < 0 || own_between((unsigned)descriptor, (unsigned)descriptor) < 0)
        return real_close(descriptor);
    errno = EBADF;
    return -1;
}

ENTRY_POINT int close_range(unsigned first, unsigned last, int flags)
{
    const int own = (unsigned)flags & CLOSE_RANGE_CLOEXEC ? -1 : own_between(first, last);
    if (own < 0)
        return real_close_range(first, last, flags);
    /* At the end of the numbers nothing is open: there the kernel only checks the flags. */
    const bool below = (unsigned)own > first, above = (unsigned)own < last;
    const int result =
        real_close_range(below ? first : UINT_MAX, below ? (unsigned)own - 1 : UINT_MAX, flags);
    return result || !above ? result : real_close_range((unsigned)own + 1, last, flags);
}

ENTRY_POINT void closefrom(int first)
{
    void (*next)(int) = atomic_load_explicit(&entry_next_closefrom, memory_order_acquire);
    const int least = first < 0 ? 0 : first, own = own_between((unsigned)least, UINT_MAX);
    const int error = errno, above = own < 0 ? least : own + 1;
    struct rlimit limit = {0, 0};
    if (next)
        next(above);
    else if (real_close_range((unsigned)above, UINT_MAX, 0) != 0 &&
             os_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0) == 0)
        for (int i = above; i < (int)limit.rlim_cur; i++)
            real_close(i);
    /* Kernels before 5.9 have no close_range. */
    if (own > least && real_close_range((unsigned)least, (unsigned)own - 1, 0) != 0)
        for (int i = least; i < own; i++)
            real_close(i);
    errno = error;
}

static void give_number(int from, int descriptor)
{
    if (descriptor >= 0 && from != descriptor &&
        own_between((unsigned)descriptor, (unsigned)descriptor) >= 0)
        trace_storage_move(descriptor);
}

ENTRY_POINT int dup2(int from, int descriptor)
{
    int (*next)(int, int) = atomic_load_explicit(&entry_next_dup2, memory_order_acquire);
    give_number(from, descriptor);
    return next ? next(from, descriptor)
                : libc_result(arch_syscall(SYS_dup2, from, descriptor, 0, 0, 0, 0));
}

ENTRY_POINT int dup3(int from, int descriptor, int flags)
{
    int (*next)(int, int, int) = atomic_load_explicit(&entry_next_dup3, memory_order_acquire);
    give_number(from, descriptor);
    return next ? next(from, descriptor, flags)
                : libc_result(arch_syscall(SYS_dup3, from, descriptor, flags, 0, 0, 0));
}
