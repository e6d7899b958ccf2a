/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/first_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders of a path below its first `length` bytes, which are a folder's name. */
static void make_folders(char *path, size_t length)
{
    for (char *slash = strchr(path + length, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

bool first_run(void)
{
    char path[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    size_t base = 0; /* $XDG_STATE_HOME is made, but not what it lies in; $HOME is not made */
    if (state && *state == '/') {
        base = strlen(state);
        length = snprintf(path, sizeof(path), "%s/mprof/browsed", state);
    } else if (home && *home == '/') {
        base = strlen(home) + 1;
        length = snprintf(path, sizeof(path), "%s/.local/state/mprof/browsed", home);
    }
    if (length < 0 || length >= (int)sizeof(path) || access(path, F_OK) == 0)
        return false;
    make_folders(path, base);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    close(file);
    return true;
}
