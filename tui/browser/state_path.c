/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/state_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool state_path(char *out, size_t size, const char *name)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (state && *state == '/')
        length = snprintf(out, size, "%s/mprof/%s", state, name);
    else if (home && *home == '/')
        length = snprintf(out, size, "%s/.local/state/mprof/%s", home, name);
    return length >= 0 && (size_t)length < size;
}

void state_path_make(const char *path)
{
    char part[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    /* $XDG_STATE_HOME is made, but not what it lies in; $HOME is not made. */
    const size_t base = state && *state == '/' ? strlen(state) : home ? strlen(home) + 1 : 0;
    if (base > strlen(path))
        return;
    for (const char *slash = strchr(path + base, '/'); slash; slash = strchr(slash + 1, '/'))
        if (snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path) < (int)sizeof(part))
            mkdir(part, 0700);
}
