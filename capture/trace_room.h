/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room in the trace file: its descriptor, and how slots come to be on the disk and in memory.
 *
 * Legal order: trace_room_begin(); trace_room_take() from any thread; trace_room_end().
 *
 * Room is reserved on the disk before it is mapped, so that a full disk is an error here and no
 * SIGBUS later. The descriptor lies high up, and those of the C library's functions that would
 * close it do not (entry_close.c). A program that closes by system calls of its own may still take
 * its number: so device and inode are compared before each use, and the file is opened anew by its
 * path where they differ. Between that look and the use such a program can put a file of its own
 * there, which then gets longer.
 *
 * All system calls are raw: errno keeps its value. No lock, no allocation.
 */
#ifndef MPROF_CAPTURE_TRACE_ROOM_H
#define MPROF_CAPTURE_TRACE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes over `descriptor`, which is of the file at `path` (to stay in place) and open for both. 0,
 * or a negative errno, and the descriptor is closed.
 */
int trace_room_begin(int descriptor, const char *path);

/*
 * Room in the file, mapped, `size` bytes from `offset`: 0 or a negative errno.
 */
int trace_room_take(uint64_t offset, uint64_t size, void **memory);

/* Closes the descriptor, unless it is the program's by now. */
void trace_room_end(void);

/* Whether this number is the trace's at this moment; in the process that the trace is of. */
bool trace_room_has(int descriptor);

/* The number, to be asked about with trace_room_has(); -1: none. */
int trace_room_descriptor(void);

/*
 * Gives up the number `descriptor`, which the trace had, for another, and returns when no thread
 * uses it any more. Where there is no other, the file is opened anew when that is needed.
 */
void trace_room_move(int descriptor);

#endif
