/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/executable_name.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "capture/os/os.h"

/* A script's name is executed too, and another folder may have become the current one: so the file
 * is compared with what the kernel loaded. */
static bool is_loaded(const char *path)
{
    ElfW(Ehdr) header;
    const int file = os_open_read(path);
    if (file < 0)
        return false;
    const bool whole = os_read(file, &header, sizeof(header)) == (long)sizeof(header);
    os_close(file);
    return whole && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_phnum == getauxval(AT_PHNUM) &&
           (getauxval(AT_ENTRY) - header.e_entry) % getauxval(AT_PAGESZ) == 0;
}

static size_t executed_name(char *path, size_t size)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    size_t used = 0;
    if (!name)
        return 0;
    if (name[0] != '/') {
        const long length = os_call(SYS_getcwd, (long)path, (long)size - 1, 0, 0, 0, 0);
        if (length <= 1 || path[0] != '/') /* its length counts the NUL */
            return 0;
        used = (size_t)length - 1;
        if (used > 1)
            path[used++] = '/';
    }
    const size_t length = strnlen(name, size);
    if (used + length >= size)
        return 0;
    memcpy(path + used, name, length + 1);
    return is_loaded(path) ? used + length : 0;
}

size_t executable_name(char *path, size_t size)
{
    const long length = os_read_link("/proc/self/exe", path, size);
    if (length > 0)
        return (size_t)length;
    const size_t executed = executed_name(path, size);
    path[executed] = 0;
    return executed;
}
