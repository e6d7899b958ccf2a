/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/client_maps.h"

#include <string.h>

bool client_maps_open(struct client_maps *maps, pid_t process)
{
    char name[64];
    *maps = (struct client_maps){0};
    snprintf(name, sizeof(name), "/proc/%d/maps", (int)process);
    maps->file = fopen(name, "re");
    return maps->file != NULL;
}

bool client_maps_next(struct client_maps *maps)
{
    char line[PATH_MAX + 128], permissions[8];
    while (fgets(line, sizeof(line), maps->file)) {
        unsigned long offset;
        int path = 0;
        if (sscanf(line, "%*x-%*x %7s %lx %*s %lu %n", permissions, &offset, &maps->inode, &path) <
                3 ||
            strcmp(permissions, "rw-s") != 0 || offset != 0 || line[path] != '/')
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(maps->path, sizeof(maps->path), "%s", line + path);
        return true;
    }
    return false;
}

void client_maps_close(struct client_maps *maps)
{
    fclose(maps->file);
}
