/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/first_run.h"

#include <fcntl.h>
#include <unistd.h>

#include "tui/browser/state_path.h"

bool first_run(void)
{
    char path[4096];
    if (!state_path(path, sizeof(path), "browsed") || access(path, F_OK) == 0)
        return false;
    state_path_make(path);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    close(file);
    return true;
}
