/* SPDX-License-Identifier: BSD-2-Clause */
/* PACKED records: whole chunks, compressed column by column (schemas/trace-format.md, "Packed
 * chunks"). The programs that pack and those that read both use this. It is the only header of this
 * folder that other folders include.
 *
 * To pack: trace_packer_new(); then trace_packer_add() for some chunks and trace_packer_end(), any
 * number of times; trace_packer_free(). To read: trace_packed_open() on a payload gives the chunk
 * headers, trace_packed_records() the records of all chunks.
 *
 * Three steps pack the records of a payload:
 *
 * 1. trace_columns.h splits the records into columns: all first bytes, all sizes, and so on. It
 *    looks only at the bytes, so it takes any records that decode.
 * 2. With TRACE_PACK_SMALL, the following instead. For each event it asks the model
 *    (trace_model.h) for the block that is freed next, or for the address, stack and size of the
 *    next block. A prediction that is right costs some bits of the first byte; only a wrong one
 *    costs bytes of a column. Then the event goes into the model. The reader keeps the same model
 *    and gets the same predictions, so it writes the same record again.
 * 3. zstd compresses each column.
 *
 * trace_walk.h moves the fields that steps 1 and 2 treat in the same way.
 *
 * Prediction pays for programs that allocate in regular patterns: a trace of cc1plus gets 35 %
 * smaller than by columns alone, one of sqlite3 1 %. It takes two or three times as long.
 * It can be deleted when the users of --compress no longer need these bytes and no trace with
 * method 2 needs to be read any more. Then remove trace_predicted.[ch], trace_model.[ch], enum
 * trace_packing, PACKED_PREDICTED in trace_packed.c, "Predicted records" in
 * schemas/trace-format.md and tests/golden/trace/packed/predicted.bin. Nothing outside this folder
 * names the model. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_layout.h"

struct trace_packer;

/* Quick compresses only the bytes of the records. It serves chunks that are packed while a program
 * runs and packed again when it has ended. Small also predicts the records and takes two or three
 * times as long. */
enum trace_packing { TRACE_PACK_QUICK, TRACE_PACK_SMALL };

/* `raw_max` is the most bytes of records in one payload, at most TRACE_PACKED_MAX. Returns NULL if
 * memory is exhausted. */
struct trace_packer *trace_packer_new(size_t raw_max, enum trace_packing packing);
void trace_packer_free(struct trace_packer *packer);

/* Adds one chunk, from its header on, of which `available` bytes exist. Seals its copy if it was
 * not sealed. False if it does not fit beside those before: end the payload first. */
bool trace_packer_add(struct trace_packer *packer, const uint8_t *chunk, size_t available);

/* Returns the number of chunks added since the last end. */
size_t trace_packer_count(const struct trace_packer *packer);

/* Returns the payload of the added chunks, its length in *length, and begins the next payload. It
 * is valid until the next call. Returns NULL if nothing was added or memory is exhausted. */
const uint8_t *trace_packer_end(struct trace_packer *packer, size_t *length);

/* The part of a payload before its columns. */
struct trace_packed {
    uint64_t method, chunks;
    const uint8_t *headers; /* chunks × TRACE_CHUNK_HEADER_SIZE bytes */
    const uint8_t *columns, *end;
};

/* Reads a payload's beginning; columns may be missing. False if it is not a payload. */
bool trace_packed_open(struct trace_packed *packed, const uint8_t *payload, size_t length);

/* Copies the header of chunk `index`. */
void trace_packed_header(const struct trace_packed *packed, uint64_t index,
                         struct trace_chunk_header *header);

/* Returns the bytes of records of all chunks together, SIZE_MAX if they exceed TRACE_PACKED_MAX
 * or a header is damaged. */
size_t trace_packed_size(const struct trace_packed *packed);

/* Unpacks all records into `records`, trace_packed_size() bytes. Returns false if they are damaged
 * or memory is exhausted. */
bool trace_packed_records(const struct trace_packed *packed, uint8_t *records);
