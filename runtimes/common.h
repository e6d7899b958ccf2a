/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that all plug-ins for runtimes use. Like the recorder they call no function that the
 * program can replace: capture/os/c_library.h. */
#pragma once

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/mprof.h"
#include "capture/os/arch_x86_64.h"

/* Makes a system call with up to four arguments. Returns the kernel's result, a negative errno on
 * failure. The recorder would see a call of the C library's function. */
static inline long common_call(long number, long a, long b, long c, long d)
{
    return arch_syscall(number, a, b, c, d, 0, 0);
}

/* Writes the strings up to a NULL behind one another, cut at `room` - 1 bytes. */
__attribute__((sentinel)) static inline void common_join(char *to, size_t room, ...)
{
    va_list parts;
    va_start(parts, room);
    for (const char *part; (part = va_arg(parts, const char *)) != NULL;)
        for (; *part && room > 1; room--)
            *to++ = *part++;
    va_end(parts);
    *to = 0;
}

/* Reads a number and moves the text behind it. */
static inline unsigned long common_number(const char **text)
{
    unsigned long number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (unsigned long)(**text - '0');
    return number;
}

/* Returns zeroed pages, which take memory as they are used. NULL: there is no memory. */
static inline void *common_take_pages(size_t size)
{
    const long pages = arch_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages < 0 && pages > -4096 ? NULL : (void *)(uintptr_t)pages;
}

/* Gives them back. `pages` may be NULL. */
static inline void common_give_pages(void *pages, size_t size)
{
    if (pages)
        common_call(SYS_munmap, (long)pages, (long)size, 0, 0);
}

#define COMMON_ENVIRONMENT_MAX ((size_t)1 << 20)

/* Returns true if the process is the one that mprof-run has started. The processes that it starts
 * itself must not get a line into their output. The recorder hides its variables from the program,
 * but not from this file. */
static inline bool common_is_first_process(void)
{
    static const char name[] = "MPROF_OPTIONS=", root[] = "root=";
    char *text = (char *)common_take_pages(COMMON_ENVIRONMENT_MAX);
    const long file =
        common_call(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
    size_t size = 0;
    bool is = false;
    for (long more = 1; text && file >= 0 && more > 0; size += more > 0 ? (size_t)more : 0)
        more = common_call(SYS_read, file, (long)(text + size),
                           (long)(COMMON_ENVIRONMENT_MAX - 1 - size), 0);
    if (file >= 0)
        common_call(SYS_close, file, 0, 0, 0);
    for (const char *entry = text; entry && entry < text + size; entry += strlen(entry) + 1)
        for (const char *at = strstr(entry, root);
             at && strncmp(entry, name, sizeof(name) - 1) == 0; at = strstr(at + 1, root)) {
            const char *number = at + sizeof(root) - 1;
            if (at[-1] == ',' || at[-1] == '=') /* the last one counts */
                is = (long)common_number(&number) == common_call(SYS_getpid, 0, 0, 0, 0);
        }
    common_give_pages(text, COMMON_ENVIRONMENT_MAX);
    return is;
}

/* Says that `missing` is not recorded, and why: a line for the user, and a mark in the recording.
 */
static inline void common_say_none(const char *missing, const char *why)
{
    char line[256], message[sizeof(line) + 16];
    common_join(line, sizeof(line), "no ", missing, ": ", why, NULL);
    mprof_mark(line);
    common_join(message, sizeof(message), "mprof: ", line, "\n", NULL);
    if (common_is_first_process())
        common_call(SYS_write, 2, (long)message, (long)strlen(message), 0);
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
