/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk that a process outside writes into a trace while it is recorded (trace-format.md,
 * "Observers outside").
 *
 * Legal order: outside_chunk_begin(); outside_chunk_put() as long as outside_chunk_reserve() says
 * so before each; outside_chunk_leave(), after which another may be begun. For programs of our own.
 *
 * A slot's first and last page are reserved when it is taken, the pages between when they are
 * needed: to give them back afterwards can take a file system milliseconds, in which the program's
 * end is not passed on.
 */
#ifndef MPROF_CAPTURE_OUTSIDE_CHUNK_H
#define MPROF_CAPTURE_OUTSIDE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/outside.h"

struct outside_chunk {
    uint8_t *base; /* mapped; NULL: no chunk */
    uint32_t slot, used;
    uint32_t reserved; /* bytes from its beginning; its last page is so from the start */
    uint64_t ticks;    /* of its beginning: what a *when* is relative to */
};

/* Takes the next slot of the trace. False where there is no room. */
bool outside_chunk_begin(struct outside_chunk *chunk, const struct outside *outside,
                         uint32_t thread, uint32_t sequence);

/* Whether a record with a payload of `length` bytes may be put: false where there is no chunk, or
 * no room in it or on the disk. */
bool outside_chunk_reserve(struct outside_chunk *chunk, const struct outside *outside,
                           size_t length);

/* Writes and commits one extended record. */
void outside_chunk_put(struct outside_chunk *chunk, enum trace_extended type,
                       const uint8_t *payload, size_t length);

/* Seals and unmaps it. */
void outside_chunk_leave(struct outside_chunk *chunk);

/* Gives back the space of these bytes, which read as zeros then, and tells the recorder how much
 * has become free. False where the file system cannot. */
bool outside_free_space(const struct outside *outside, uint64_t offset, uint64_t size);

/* Where slot `number` begins in the file. */
uint64_t outside_slot_offset(const struct outside *outside, uint32_t number);

#endif
