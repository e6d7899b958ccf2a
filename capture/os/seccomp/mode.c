/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether the process is under a filter. */
#include "capture/os/seccomp/seccomp.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "capture/os/os.h"

bool seccomp_is_on_by(int descriptor)
{
    static const char line[] = "\nSeccomp:\t";
    char part[256]; /* small, because the stack may be small */
    size_t matched = 0;
    long length;
    while ((length = os_read(descriptor, part, sizeof(part))) > 0)
        for (long i = 0; i < length; i++) {
            if (!line[matched])
                return part[i] != '0';
            /* The line's first character occurs nowhere else in it. */
            matched = part[i] == line[matched] ? matched + 1 : part[i] == line[0];
        }
    return length < 0 || !line[matched];
}

bool seccomp_is_on(void)
{
    /* Opens directly, because os_open_read() moves the descriptor to another number. A filter
     * may punish that call. */
    const int descriptor = (int)os_call(SYS_openat, AT_FDCWD, (long)"/proc/self/status",
                                        O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (descriptor < 0)
        return true;
    const bool set = seccomp_is_on_by(descriptor);
    os_close(descriptor);
    return set;
}
