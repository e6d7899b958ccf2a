/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PACKED records: whole chunks, compressed column by column (schemas/trace-format.md, "Packed
 * chunks"). Both ends of the trace use this, whoever packs and whoever reads.
 *
 * To pack: trace_packer_new(); then trace_packer_add() some chunks and trace_packer_end(), as often
 * as wanted; trace_packer_free(). To read: trace_packed_open() on a payload gives the chunk
 * headers, trace_packed_records() the records of all of them.
 */
#ifndef MPROF_SCHEMAS_TRACE_PACKED_H
#define MPROF_SCHEMAS_TRACE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_layout.h"

struct trace_packer;

/*
 * Quick goes by the bytes of the records alone, for what is packed while a program runs and packed
 * anew when it has ended; small also by what can be expected of them, in about four times the time.
 */
enum trace_packing { TRACE_PACK_QUICK, TRACE_PACK_SMALL };

/* `raw_max`: the most bytes of records that go into one payload, at most TRACE_PACKED_MAX. NULL
 * where memory is exhausted. */
struct trace_packer *trace_packer_new(size_t raw_max, enum trace_packing packing);
void trace_packer_free(struct trace_packer *packer);

/*
 * Adds one chunk, from its header on, of which `available` bytes are there; it is sealed in passing
 * if it was not. False where it does not fit with what was added before: end the payload first.
 */
bool trace_packer_add(struct trace_packer *packer, const uint8_t *chunk, size_t available);

/* How many chunks were added since the last end. */
size_t trace_packer_count(const struct trace_packer *packer);

/*
 * The payload of what was added, and begins the next one. It stays until the next call; its length
 * in *length. NULL where nothing was added, or zstd has failed for lack of memory.
 */
const uint8_t *trace_packer_end(struct trace_packer *packer, size_t *length);

/* A payload: what stands before the columns. */
struct trace_packed {
    uint64_t method, chunks;
    const uint8_t *headers; /* chunks × TRACE_CHUNK_HEADER_SIZE bytes */
    const uint8_t *columns, *end;
};

/* Reads the beginning of a payload; the columns need not be there yet. False where it is none. */
bool trace_packed_open(struct trace_packed *packed, const uint8_t *payload, size_t length);

/* The header of chunk `index`. */
void trace_packed_header(const struct trace_packed *packed, uint64_t index,
                         struct trace_chunk_header *header);

/* Bytes of records of all chunks together; SIZE_MAX where it is more than may be. */
size_t trace_packed_size(const struct trace_packed *packed);

/* Unpacks all records into `records`, trace_packed_size() bytes. False where they are damaged. */
bool trace_packed_records(const struct trace_packed *packed, uint8_t *records);

#endif
