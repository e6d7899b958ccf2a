/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk that another process writes into a trace while the program is recorded (trace-format.md,
 * "Observers outside").
 *
 * Legal order: client_chunk_begin(); client_chunk_put(), each after client_chunk_reserve() has
 * returned true; client_chunk_leave(). Then another chunk may begin. For the project's own
 * programs.
 *
 * The first and the last page of a slot are reserved when it is taken, the pages between when they
 * are needed. A file system can take milliseconds to get unused pages back, and during that time
 * the end of the program would not be passed on.
 */
#ifndef MPROF_CAPTURE_RUN_CLIENT_CHUNK_H
#define MPROF_CAPTURE_RUN_CLIENT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/run/client.h"

struct client_chunk {
    uint8_t *base; /* mapped; NULL: no chunk */
    uint32_t slot, used;
    uint32_t reserved; /* bytes from its beginning; the last page is always reserved */
    uint64_t ticks;    /* stamp of its beginning, to which each *when* is relative */
};

/* Takes the next slot of the trace. False if there is no room. */
bool client_chunk_begin(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                        uint32_t sequence);

/* Returns true if a record with a payload of `length` bytes may be put. False if there is no chunk,
 * or no room in it or on the disk. */
bool client_chunk_reserve(struct client_chunk *chunk, const struct client *client, size_t length);

/* Writes and commits one extended record. */
void client_chunk_put(struct client_chunk *chunk, enum trace_extended type, const uint8_t *payload,
                      size_t length);

/* Seals and unmaps the chunk. */
void client_chunk_leave(struct client_chunk *chunk);

/* Frees the disk space of these bytes, which then read as zeros, and tells the recorder how much is
 * free now. False if the file system cannot do so. */
bool client_free_space(const struct client *client, uint64_t offset, uint64_t size);

/* Returns the offset of slot `number` in the file. */
uint64_t client_slot_offset(const struct client *client, uint32_t number);

#endif
