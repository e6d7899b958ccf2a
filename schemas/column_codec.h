/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs and reads the column chunks of a session. schemas/columns.md is normative. Everything is
 * inline and allocates nothing.
 */
#ifndef MPROF_SCHEMAS_COLUMN_CODEC_H
#define MPROF_SCHEMAS_COLUMN_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SESSION_APPLICATION_ID 0x4d50524f /* "MPRO" */
#define SESSION_SCHEMA_VERSION 1

#define COLUMN_CHUNK_ROWS 65536u
#define COLUMN_PADDING 8u
#define COLUMN_ID_STRIDE 32

enum column {
    COLUMN_ADDRESS = 0,
    COLUMN_SIZE = 1,
    COLUMN_ALLOC_NS = 2,
    COLUMN_LIFE_NS = 3,
    COLUMN_STACK = 4,
    COLUMN_THREAD = 5,
    COLUMN_FREE_THREAD = 6,
    COLUMN_KIND = 7,
    COLUMN_TYPE = 8,
    COLUMN_ARENA = 9,
    COLUMN_COUNT_OF_OBJECTS = 10,
    COLUMN_ALIGNMENT = 11,
    COLUMN_REALLOC_OF = 12,
    COLUMN_FREE_STACK = 13,
    COLUMN_TOTAL
};
/* In `sample_chunk` the rows that the row stands for, times 2^16, take the place of realloc_of. */
#define COLUMN_WEIGHT COLUMN_REALLOC_OF

/* Returns the bytes that `range` = max - min needs, 0 to 8. */
static inline unsigned column_width(uint64_t range)
{
    unsigned width = 0;
    for (; range != 0; range >>= 8)
        width++;
    return width;
}

/* Returns the length of a chunk's data, in bytes. */
static inline size_t column_data_length(size_t rows, unsigned width)
{
    return width == 0 ? 0 : rows * width + COLUMN_PADDING;
}

/*
 * Packs `rows` values, all in [min, max], into `data`, which holds
 * column_data_length(rows, column_width(max - min)) bytes. Returns the width.
 */
static inline unsigned column_pack(uint8_t *data, const uint64_t *values, size_t rows, uint64_t min,
                                   uint64_t max)
{
    unsigned width = column_width(max - min);
    if (width == 0)
        return 0;
    for (size_t i = 0; i < rows; i++) {
        uint64_t value = values[i] - min; /* low byte first; the next row overwrites the rest */
        memcpy(data + i * width, &value, 8);
    }
    memset(data + rows * width, 0, COLUMN_PADDING);
    return width;
}

/* Returns 2^(8 * width) - 1, the mask for column_get(). */
static inline uint64_t column_mask(unsigned width)
{
    return width >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
}

/* Returns the value of row `i`: min + the packed value. `data` may be NULL only if width is 0. */
static inline uint64_t column_get(const uint8_t *data, unsigned width, uint64_t mask, uint64_t min,
                                  size_t i)
{
    if (width == 0)
        return min;
    uint64_t value;
    memcpy(&value, data + i * width, 8);
    return min + (value & mask);
}

#endif
