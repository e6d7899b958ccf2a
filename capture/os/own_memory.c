/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/own_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/process_maps.h"

/* The linker defines them: the beginning and the end of this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static void add_library(void)
{
    static _Atomic bool added;
    if (!atomic_exchange(&added, true))
        own_ranges_add((void *)(uintptr_t)__ehdr_start, (size_t)(_end - __ehdr_start));
}

static void unlock_own(void)
{
    uintptr_t start;
    size_t size;
    for (uint32_t at = 0; own_ranges_next(&at, &start, &size);)
        os_call(SYS_munlock, (long)start, (long)size, 0, 0, 0, 0);
}

/* Finds the own range that begins first of those that lie in [from, to). Returns its bounds, cut to
 * these; [to, to) if there is none. */
static struct process_map first_own(uint64_t from, uint64_t to)
{
    struct process_map found = {.start = to, .end = to};
    uintptr_t start;
    size_t size;
    for (uint32_t at = 0; own_ranges_next(&at, &start, &size);) {
        if (start + size <= from || start >= found.start)
            continue;
        found.start = start < from ? from : start;
        found.end = start + size < to ? start + size : to;
    }
    return found;
}

/* Locks the program's mappings one by one, which reads all their pages in. An error for one, such
 * as a mapping without any access, is none of mlockall(). */
static void lock_others(void)
{
    struct process_maps *maps = process_maps_open();
    struct process_map map;
    while (maps && process_maps_next(maps, &map))
        for (uint64_t at = map.start; at < map.end;) {
            const struct process_map own = first_own(at, map.end);
            if (own.start > at)
                os_call(SYS_mlock, (long)at, (long)(own.start - at), 0, 0, 0, 0);
            at = own.end;
        }
    if (maps)
        process_maps_close(maps);
}

long own_memory_lock_all(int flags)
{
    add_library();
    const bool by_parts = (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT) && !os_is_confined();
    long result = arch_syscall(SYS_mlockall, by_parts ? flags | MCL_ONFAULT : flags, 0, 0, 0, 0, 0);
    if (by_parts && result == -EINVAL) /* a kernel before 4.4, or other flags are wrong */
        result = arch_syscall(SYS_mlockall, flags, 0, 0, 0, 0, 0);
    else if (by_parts && result == 0) {
        /* So far nothing has been read in. */
        if (flags & MCL_FUTURE)
            arch_syscall(SYS_mlockall, MCL_FUTURE, 0, 0, 0, 0, 0);
        lock_others();
    }
    if (result == 0) {
        own_ranges_set_locked((flags & MCL_FUTURE) != 0);
        unlock_own();
    }
    return result;
}

long own_memory_unlock_all(void)
{
    own_ranges_set_locked(false);
    return arch_syscall(SYS_munlockall, 0, 0, 0, 0, 0, 0);
}
