/*
 * A chunk that a process outside writes into a trace while it is recorded (trace-format.md,
 * "Observers outside").
 *
 * Legal order: outside_chunk_begin(); while outside_chunk_space() is enough, outside_chunk_put();
 * outside_chunk_leave(), after which another may be begun. For programs of our own.
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
    uint64_t ticks; /* of its beginning: what a *when* is relative to */
};

/* Takes the next slot of the trace and reserves it. False where there is no room. */
bool outside_chunk_begin(struct outside_chunk *chunk, const struct outside *outside,
                         uint32_t thread, uint32_t sequence);

/* The longest payload that still fits. */
size_t outside_chunk_space(const struct outside_chunk *chunk);

/* Writes and commits one extended record. */
void outside_chunk_put(struct outside_chunk *chunk, enum trace_extended type,
                       const uint8_t *payload, size_t length);

/* Seals it, gives back the pages that were not used, and unmaps it. */
void outside_chunk_leave(struct outside_chunk *chunk, const struct outside *outside);

/* Gives back the space of these bytes, which read as zeros then, and tells the recorder how much
 * has become free. False where the file system cannot. */
bool outside_free_space(const struct outside *outside, uint64_t offset, uint64_t size);

/* Where slot `number` begins in the file. */
uint64_t outside_slot_offset(const struct outside *outside, uint32_t number);

#endif
