/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that all plug-ins for runtimes use. They are linked with the C library alone. */
#ifndef MPROF_RUNTIMES_COMMON_H
#define MPROF_RUNTIMES_COMMON_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/mprof.h"

/* Tells whether the process is the one that mprof-run has started. The processes that it starts
 * itself must not get a line into their output. */
static inline bool common_is_first_process(void)
{
    static const char name[] = "root=";
    const char *options = getenv("MPROF_OPTIONS"), *found = NULL;
    for (const char *at = options; at && (at = strstr(at, name)); at++)
        if (at == options || at[-1] == ',')
            found = at + sizeof(name) - 1;
    return found && strtol(found, NULL, 10) == (long)getpid();
}

/* Says that `missing` is not recorded, and why: a line for the user, and a mark in the recording.
 */
static inline void common_say_none(const char *missing, const char *why)
{
    char line[256];
    snprintf(line, sizeof(line), "no %s: %s", missing, why);
    mprof_mark(line);
    if (common_is_first_process())
        dprintf(STDERR_FILENO, "mprof: %s\n", line);
}

/* Returns zeroed pages, which take memory as they are used. NULL: there is no memory. The recorder
 * would record a call of mmap(). Leaves errno as it is. */
static inline void *common_take_pages(size_t size)
{
    const int before = errno;
    const long pages = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    errno = before;
    return pages == -1 ? NULL : (void *)(uintptr_t)pages;
}

/* Gives them back. `pages` may be NULL. */
static inline void common_give_pages(void *pages, size_t size)
{
    if (pages)
        syscall(SYS_munmap, pages, size);
}

/* Writes a character as UTF-8. Returns the bytes, at most 4. */
static inline unsigned common_put_utf8(uint32_t character, char *to)
{
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    const unsigned more = character < 0x80      ? 0
                          : character < 0x800   ? 1
                          : character < 0x10000 ? 2
                                                : 3;
    to[0] = (char)(first[more] | character >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
    return more + 1;
}

#endif
