/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the files that may be the trace of a process, from /proc/PID/maps: as long as the recorder
 * records, it keeps the header of its trace mapped, shared and writable.
 *
 * Legal order: client_maps_open(); client_maps_next() until false; client_maps_close().
 */
#ifndef MPROF_CAPTURE_RUN_CLIENT_MAPS_H
#define MPROF_CAPTURE_RUN_CLIENT_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct client_maps {
    FILE *file;
    unsigned long inode;
    char path[PATH_MAX]; /* as the process sees it; " (deleted)" follows if the file was removed */
};

/* Begins the list. False with errno if there is no such process or its mappings may not be read. */
bool client_maps_open(struct client_maps *maps, pid_t process);
/* Goes to the next file whose beginning is mapped shared and writable. False: no more. */
bool client_maps_next(struct client_maps *maps);
void client_maps_close(struct client_maps *maps);

#endif
