/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a process may have as its trace, from /proc/PID/maps: the recorder keeps the
 * header of its trace mapped, shared and writable, as long as it records.
 *
 * Legal order: outside_maps_open(); outside_maps_next() until false; outside_maps_close().
 */
#ifndef MPROF_CAPTURE_OUTSIDE_MAPS_H
#define MPROF_CAPTURE_OUTSIDE_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct outside_maps {
    FILE *file;
    unsigned long inode;
    char path[PATH_MAX]; /* as the process sees it; a file that was removed has " (deleted)" */
};

/* False with errno where there is no such process or its mappings may not be read. */
bool outside_maps_open(struct outside_maps *maps, pid_t process);
/* The next file of which the beginning is mapped shared and writable. */
bool outside_maps_next(struct outside_maps *maps);
void outside_maps_close(struct outside_maps *maps);

#endif
