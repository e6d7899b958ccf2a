/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads /proc/self/maps line by line, without libc's streams or allocator. The thread's signals
 * are blocked from a successful open to the close. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_map {
    uint64_t start, end, offset;
    bool readable, writable, executable;
    const char *path; /* "" if the mapping has no name; valid until the next line is read */
};

struct process_maps;

/* Returns NULL if the file cannot be read. Costs the kernel about a microsecond per mapping. */
struct process_maps *process_maps_open(void);
/* Reads the next mapping, by ascending address. Returns false at the end. */
bool process_maps_next(struct process_maps *maps, struct process_map *map);
void process_maps_close(struct process_maps *maps);
