/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/program_search.h"

#include <stdlib.h>
#include <string.h>

void program_search_begin(struct program_search *search, const char *name)
{
    const char *folders = getenv("PATH");
    search->name = name;
    search->folders = !*name              ? NULL
                      : strchr(name, '/') ? "" /* one folder without a name: the path as it is */
                      : folders           ? folders
                                          : "/bin:/usr/bin";
}

bool program_search_next(struct program_search *search, char *path, size_t size)
{
    const size_t name = strlen(search->name) + 1;
    while (search->folders) {
        const char *folder = search->folders;
        const size_t length = strcspn(folder, ":"), before = length ? length + 1 : 0;
        search->folders = folder[length] ? folder + length + 1 : NULL;
        if (before + name > size)
            continue;
        memcpy(path, folder, length);
        path[length] = '/';
        memcpy(path + before, search->name, name);
        return true;
    }
    return false;
}
