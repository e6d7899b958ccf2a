/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs and reads the column chunks of a session. schemas/columns.md is normative. Everything is
 * inline and allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schemas/column_batches.h"

#define SESSION_APPLICATION_ID 0x4d50524f /* "MPRO" */
#define SESSION_SCHEMA_VERSION 3

#define COLUMN_CHUNK_ROWS 65536u
#define COLUMN_CHUNK_BATCHES (COLUMN_CHUNK_ROWS / COLUMN_BATCH_ROWS)
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

/* Returns 2^(8 * width) - 1, the mask for column_get(). */
static inline uint64_t column_mask(unsigned width)
{
    return width >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
}

/* Returns the value of row `i` of unpacked values: `min` plus the number in the `width` bytes at
 * data + i * width. Eight bytes must be readable there. `data` may be NULL only if width is 0. */
COLUMN_INLINE uint64_t column_get(const uint8_t *data, unsigned width, uint64_t mask, uint64_t min,
                                  size_t i)
{
    if (width == 0)
        return min;
    uint64_t value;
    memcpy(&value, data + i * width, 8);
    return min + (value & mask);
}

static inline size_t column_batches(size_t rows)
{
    return (rows + COLUMN_BATCH_ROWS - 1) / COLUMN_BATCH_ROWS;
}

/* Returns the rows of a batch of a chunk with `rows` rows. */
static inline size_t column_batch_rows(size_t rows, size_t batch)
{
    const size_t left = rows - batch * COLUMN_BATCH_ROWS;
    return left < COLUMN_BATCH_ROWS ? left : COLUMN_BATCH_ROWS;
}

/* Returns the most bytes that the data of a chunk can have. */
static inline size_t column_data_most(size_t rows)
{
    return column_batches(rows) * COLUMN_BATCH_MOST + COLUMN_PADDING;
}

/* Returns true if the data of a chunk can have this length. */
static inline bool column_length_possible(uint64_t length, size_t rows, unsigned width)
{
    return width == 0 ? length == 0 : length > COLUMN_PADDING && length <= column_data_most(rows);
}

/* The column alloc_ns stores when blocks ended: when they were freed, or if they never were, when
 * they were allocated. Ends nearly ascend with the rows. The lifetime gives the other time. */
static inline uint64_t column_end_ns(uint64_t alloc_ns, uint64_t life_ns)
{
    return life_ns == 0 ? alloc_ns : alloc_ns + life_ns - 1;
}

static inline uint64_t column_alloc_ns(uint64_t end_ns, uint64_t life_ns)
{
    return life_ns == 0 ? end_ns : end_ns - (life_ns - 1);
}

/* Packs `rows` values, which are not all equal, into `data`, which has room for column_data_most().
 * `life`: the lifetimes if `values` is the column alloc_ns, otherwise NULL. Returns the length. */
static inline size_t column_pack(uint8_t *data, const uint64_t *values, const uint64_t *life,
                                 size_t rows)
{
    const size_t batches = column_batches(rows);
    uint8_t *at = data + batches * COLUMN_BATCH_HEAD;
    uint64_t ends[COLUMN_BATCH_ROWS];
    for (size_t batch = 0; batch < batches; batch++) {
        const size_t first = batch * COLUMN_BATCH_ROWS, count = column_batch_rows(rows, batch);
        for (size_t i = 0; life && i < count; i++)
            ends[i] = column_end_ns(values[first + i], life[first + i]);
        at += column_batch_put(data + batch * COLUMN_BATCH_HEAD, at, life ? ends : values + first,
                               count, life != NULL);
    }
    memset(at, 0, COLUMN_PADDING);
    return (size_t)(at - data) + COLUMN_PADDING;
}

/* The places of the batches in the data of a chunk. */
struct column_places {
    struct column_batch batch[COLUMN_CHUNK_BATCHES];
    const uint8_t *body[COLUMN_CHUNK_BATCHES];
};

/* Finds the batches of a chunk. Returns false if a head or the length of the data is damaged. */
static inline bool column_find_batches(const uint8_t *data, size_t length, size_t rows,
                                       struct column_places *places)
{
    const size_t batches = column_batches(rows);
    size_t at = batches * COLUMN_BATCH_HEAD;
    if (rows > COLUMN_CHUNK_ROWS || length < at)
        return false;
    for (size_t i = 0; i < batches; i++) {
        struct column_batch *batch = &places->batch[i];
        const size_t count = column_batch_rows(rows, i);
        places->body[i] = data + at;
        if (!column_batch_get_head(data + i * COLUMN_BATCH_HEAD, count, batch))
            return false;
        at += column_batch_length(batch, count);
        if (at > length)
            return false;
    }
    return length - at == COLUMN_PADDING;
}

/* Unpacks what column_pack() has packed. `values` has room for the rows up to the next multiple of
 * COLUMN_BATCH_ROWS. `life`: the lifetimes if it is the column alloc_ns, otherwise NULL. Returns
 * false if the data is damaged. */
static inline bool column_unpack(const uint8_t *data, size_t length, const uint64_t *life,
                                 size_t rows, uint64_t *values)
{
    struct column_places places;
    if (!column_find_batches(data, length, rows, &places))
        return false;
    for (size_t i = 0; i < column_batches(rows); i++)
        if (!column_batch_get64(&places.batch[i], places.body[i], column_batch_rows(rows, i), 0,
                                values + i * COLUMN_BATCH_ROWS))
            return false;
    for (size_t row = 0; life && row < rows; row++)
        values[row] = column_alloc_ns(values[row], life[row]);
    return true;
}
