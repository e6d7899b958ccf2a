/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/process_maps.h"

#include <limits.h>
#include <string.h>

#include "capture/os/os.h"

struct process_maps {
    int descriptor;
    uint64_t signals; /* the mask before; a handler that left by longjmp would leak the file */
    size_t begin, end;
    char buffer[PATH_MAX + 4096]; /* larger than the longest line */
};

struct process_maps *process_maps_open(void)
{
    uint64_t signals = os_block_signals();
    struct process_maps *maps = os_map(sizeof(*maps));
    if (maps) {
        maps->signals = signals;
        /* "self" would be empty if the process's first thread has ended. */
        maps->descriptor = os_open_read("/proc/thread-self/maps");
        if (maps->descriptor >= 0)
            return maps;
        os_unmap(maps, sizeof(*maps));
    }
    os_restore_signals(signals);
    return NULL;
}

void process_maps_close(struct process_maps *maps)
{
    uint64_t signals = maps->signals;
    os_close(maps->descriptor);
    os_unmap(maps, sizeof(*maps));
    os_restore_signals(signals);
}

/* Returns the next line, NUL-terminated in place, or NULL at the end. */
static char *line_next(struct process_maps *maps)
{
    for (;;) {
        char *line = maps->buffer + maps->begin;
        char *newline = memchr(line, '\n', maps->end - maps->begin);
        if (newline) {
            *newline = 0;
            maps->begin = (size_t)(newline + 1 - maps->buffer);
            return line;
        }
        memmove(maps->buffer, line, maps->end - maps->begin);
        maps->end -= maps->begin;
        maps->begin = 0;
        long count =
            os_read(maps->descriptor, maps->buffer + maps->end, sizeof(maps->buffer) - maps->end);
        if (count <= 0)
            return NULL;
        maps->end += (size_t)count;
    }
}

static uint64_t parse_hex(char **at)
{
    uint64_t value = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* A line looks like this: 7f00-7f10 r-xp 00001000 08:01 1234    /path */
bool process_maps_next(struct process_maps *maps, struct process_map *map)
{
    char *at = line_next(maps);
    if (!at)
        return false;
    map->start = parse_hex(&at);
    at += *at == '-';
    map->end = parse_hex(&at);
    at += *at == ' ';
    map->readable = at[0] == 'r';
    map->writable = at[0] && at[1] == 'w';
    map->executable = at[0] && at[1] && at[2] == 'x';
    for (unsigned field = 0; field < 4; field++) {
        while (*at && *at != ' ')
            at++;
        while (*at == ' ')
            at++;
        if (field == 0)
            map->offset = parse_hex(&at);
    }
    map->path = at;
    return true;
}
