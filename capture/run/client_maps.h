/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the files that may be the trace of a process, from /proc/PID/maps: as long as the recorder
 * records, it keeps the header of its trace mapped, shared and writable.
 *
 * Legal order: outside_maps_open(); outside_maps_next() until false; outside_maps_close().
 */
#ifndef MPROF_CAPTURE_RUN_CLIENT_MAPS_H
#define MPROF_CAPTURE_RUN_CLIENT_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct outside_maps {
    FILE *file;
    unsigned long inode;
    char path[PATH_MAX]; /* as the process sees it; " (deleted)" follows if the file was removed */
};

/* Begins the list. False with errno if there is no such process or its mappings may not be read. */
bool outside_maps_open(struct outside_maps *maps, pid_t process);
/* Goes to the next file whose beginning is mapped shared and writable. False: no more. */
bool outside_maps_next(struct outside_maps *maps);
void outside_maps_close(struct outside_maps *maps);

#endif
