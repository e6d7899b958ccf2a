/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs and reads the arrays of the table packed_array. schemas/columns.md is normative. Everything
 * is inline and allocates nothing. */
#pragma once

#include <stdint.h>

#include "schemas/column_codec.h"

enum packed_array {
    PACKED_DIRECTORY = 1,
    PACKED_STACK_FUNCTION = 2,
    PACKED_STACK_CALL_SITE = 3,
    PACKED_STACK_STATE = 4,
    PACKED_FRAMES = 5,
    PACKED_PROCESS_STACKS = 6,
    PACKED_STACK_ALLOCATIONS = 7,
    PACKED_STACK_BYTES = 8,
    PACKED_STACK_HELD = 9,
    PACKED_STACK_NODE = 10,
};

/* The states of stacks by their number. */
#define PACKED_STATES                                                                              \
    {                                                                                              \
        "none", "complete", "depth limit", "unwind end", "lost", "collector"                       \
    }

enum { PACKED_STATE_COLLECTOR = 5 };

/* Parts of array 5, in order, with their bytes. */
enum { PACKED_FRAME_SIZE = 8 + 4 * 4 + 1, PACKED_FRAME_INLINED = 1, PACKED_FRAME_BARE = 2 };

/* Array 9: bytes of a record, and the places of its numbers of 8 bytes. */
enum { PACKED_HELD_SIZE = 4 + 4 * 8 };
enum {
    PACKED_HELD_LIVE_COUNT = 4,
    PACKED_HELD_LIVE_BYTES = 12,
    PACKED_HELD_AT_PEAK_COUNT = 20,
    PACKED_HELD_AT_PEAK_BYTES = 28
};

/* Places in the directory. */
enum { PACKED_DIRECTORY_HEAD = 8, PACKED_DIRECTORY_COLUMN = 20 };
enum { PACKED_DIRECTORY_CHUNK = 16 + COLUMN_TOTAL * PACKED_DIRECTORY_COLUMN };

static inline void packed_put(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t packed_get64(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline uint32_t packed_get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t packed_directory_length(uint64_t chunks)
{
    return PACKED_DIRECTORY_HEAD + chunks * PACKED_DIRECTORY_CHUNK;
}

/* Returns the chunks of so many rows. */
static inline uint64_t packed_directory_chunks(uint64_t rows)
{
    return rows / COLUMN_CHUNK_ROWS + (rows % COLUMN_CHUNK_ROWS != 0);
}

/* Return the place of a chunk in the directory, and in that of one of its columns. */
static inline size_t packed_directory_chunk(uint64_t chunk)
{
    return PACKED_DIRECTORY_HEAD + (size_t)chunk * PACKED_DIRECTORY_CHUNK;
}

static inline size_t packed_directory_column(unsigned column)
{
    return 16 + (size_t)column * PACKED_DIRECTORY_COLUMN;
}
