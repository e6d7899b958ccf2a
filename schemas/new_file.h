/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives a file that was written beside its place the name that it should have. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Renames a complete file, and never replaces one: returns false with errno EEXIST if the name is
 * taken, or with the reason for which it cannot be given. */
static inline bool new_file_name(const char *part, const char *path)
{
    if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    /* A file system without that call: a link never replaces a file either. */
    return link(part, path) == 0 && unlink(part) == 0;
}
