/* SPDX-License-Identifier: BSD-2-Clause */
/* Room in the trace file: its descriptor, and how slots get to the disk and into memory.
 *
 * Legal order: trace_storage_begin(); trace_storage_take() from any thread; trace_storage_end().
 *
 * Room is reserved on the disk before it is mapped. A full disk is then an error here and not a
 * later SIGBUS. The descriptor lies high up, and the C library's functions that would close it
 * spare it (entry/close.c). A program that closes by its own system calls may still take its
 * number. So device and inode are compared before each use, and if they differ, the file is opened
 * again by its path. Between this check and the use such a program can put a file of its own there,
 * which then grows.
 *
 * All system calls are raw: errno keeps its value. No lock, no allocation. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Takes over `descriptor`, which is open for reading and writing. `path` is the file's path and
 * must stay valid. Returns 0, or a negative errno after closing the descriptor. */
int trace_storage_begin(int descriptor, const char *path);

/* Maps `size` bytes of the file from `offset`, of which it reserves `first` bytes and the last
 * page. trace_storage_grow() reserves the bytes between before they are touched. Both return 0 or a
 * negative errno. */
int trace_storage_take(uint64_t offset, uint64_t size, uint64_t first, void **memory);
int trace_storage_grow(uint64_t offset, uint64_t size);

/* Reserves and maps the first `size` bytes of another, empty file. Returns 0 or a negative errno.
 */
int trace_storage_map_other(int descriptor, uint64_t size, void **memory);
/* Returns true if the file has the path that trace_storage_begin() got. */
bool trace_storage_is_in_place(void);

/* Closes the descriptor, unless it belongs to the program by now. */
void trace_storage_end(void);

/* Returns true if this number is the trace's at this moment. Only for the process of the trace. */
bool trace_storage_has(int descriptor);

/* Returns the number, to be checked by trace_storage_has(); -1: none. */
int trace_storage_descriptor(void);

/* Moves the trace from the number `descriptor` to another, and returns when no thread uses the old
 * one any more. If there is no other number, the file is opened again when needed. */
void trace_storage_move(int descriptor);
