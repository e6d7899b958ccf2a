/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads /proc/self/maps line by line, without libc's streams or allocator. From a successful open
 * to the close the thread's signals are blocked. */
#ifndef MPROF_CAPTURE_PROCESS_MAPS_H
#define MPROF_CAPTURE_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_map {
    uint64_t start, end, offset;
    bool readable, writable, executable;
    const char *path; /* "" where the mapping has no name; valid until the next line is read */
};

struct process_maps;

/* NULL where the file cannot be read. Costs the kernel about a microsecond a mapping. */
struct process_maps *process_maps_open(void);
/* The next mapping, by ascending address; false at the end. */
bool process_maps_next(struct process_maps *maps, struct process_map *map);
void process_maps_close(struct process_maps *maps);

#endif
