/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs and unpacks the batches of which a column chunk consists. schemas/columns.md is normative.
 * Everything is inline and allocates nothing.
 *
 * Most values of a batch have the same number of bits, the others are exceptions (Zukowski, Héman,
 * Nes, Boncz: Super-Scalar RAM-CPU Cache Compression, ICDE 2006). The values lie in 32 lanes, so
 * that loops over the lanes use vectors without being written for any processor (Afroozeh, Boncz:
 * The FastLanes Compression Layout, VLDB 2023). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COLUMN_BATCH_ROWS 1024u
#define COLUMN_LANES 32u
#define COLUMN_BATCH_HEAD 12u
/* The most bytes of a batch, with its head: 64 bits for each value. */
#define COLUMN_BATCH_MOST (COLUMN_BATCH_HEAD + COLUMN_BATCH_ROWS * 8u)

/* One word of each lane. */
#define COLUMN_LANE_BYTES ((size_t)COLUMN_LANES * 4)

/* Loops must be compiled for the processor of the function that calls them. */
#define COLUMN_INLINE static inline __attribute__((always_inline))

/* The head of a batch. */
struct column_batch {
    uint64_t base;
    unsigned bits;            /* of each value in the lanes, 0 to 64 */
    unsigned shift;           /* low bits that are 0 in each value and not stored, 0 to 63 */
    unsigned exceptions;      /* values that need more bits */
    unsigned exception_bytes; /* of the upper part of each exception, 0 to 8 */
    bool delta;               /* values are differences from the value before */
};

static inline unsigned column_bits(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* Returns the bytes that `bits` (at most 32) of each value take in the lanes. */
static inline size_t column_plane_length(unsigned bits, size_t rows)
{
    const size_t positions = (rows + COLUMN_LANES - 1) / COLUMN_LANES;
    return (positions * bits + 31) / 32 * COLUMN_LANE_BYTES;
}

static inline size_t column_planes_length(unsigned bits, size_t rows)
{
    const unsigned low = bits < 32 ? bits : 32;
    return column_plane_length(low, rows) + column_plane_length(bits - low, rows);
}

/* Returns the bytes of a batch of `rows` rows after its head. */
static inline size_t column_batch_length(const struct column_batch *batch, size_t rows)
{
    return column_planes_length(batch->bits, rows) +
           (size_t)batch->exceptions * (2 + batch->exception_bytes);
}

static inline void column_batch_put_head(uint8_t *head, const struct column_batch *batch)
{
    const uint32_t facts = batch->bits | batch->shift << 7 | (uint32_t)batch->delta << 13 |
                           batch->exception_bytes << 14 | batch->exceptions << 18;
    memcpy(head, &batch->base, 8);
    memcpy(head + 8, &facts, 4);
}

/* Reads a head. Returns false if it is damaged. */
static inline bool column_batch_get_head(const uint8_t *head, size_t rows,
                                         struct column_batch *batch)
{
    uint32_t facts;
    memcpy(&batch->base, head, 8);
    memcpy(&facts, head + 8, 4);
    batch->bits = facts & 127;
    batch->shift = facts >> 7 & 63;
    batch->delta = (facts >> 13 & 1) != 0;
    batch->exception_bytes = facts >> 14 & 15;
    batch->exceptions = facts >> 18;
    return batch->bits <= 64 && batch->exception_bytes <= 8 && batch->exceptions <= rows &&
           (batch->exceptions == 0 || batch->bits < 64);
}

/* ---- packing ---- */

/* Packs the low `bits` (at most 32) of each value. `data` is 0. Returns its length. */
static inline size_t column_plane_put(uint8_t *data, const uint32_t *values, unsigned bits,
                                      size_t rows)
{
    const uint32_t mask = bits == 0 ? 0 : UINT32_MAX >> (32 - bits);
    for (size_t row = 0; bits > 0 && row < rows; row += COLUMN_LANES) {
        const size_t place = row / COLUMN_LANES * bits;
        const unsigned shift = place % 32;
        uint8_t *at = data + place / 32 * COLUMN_LANE_BYTES;
        uint32_t words[COLUMN_LANES];
        memcpy(words, at, sizeof(words));
        for (size_t lane = 0; lane < COLUMN_LANES; lane++)
            words[lane] |= (values[row + lane] & mask) << shift;
        memcpy(at, words, sizeof(words));
        if (shift + bits <= 32)
            continue;
        for (size_t lane = 0; lane < COLUMN_LANES; lane++)
            words[lane] = (values[row + lane] & mask) >> (32 - shift);
        memcpy(at + sizeof(words), words, sizeof(words));
    }
    return column_plane_length(bits, rows);
}

/* Chooses shift, bits and exceptions for the values above the base, so that the batch is short. */
static inline void column_batch_plan(struct column_batch *batch, const uint64_t *values,
                                     size_t rows)
{
    uint16_t count[2][65] = {{0}};
    uint64_t all = 0;
    for (size_t i = 0; i < rows; i++)
        all |= values[i];
    batch->shift = all == 0 ? 0 : (unsigned)__builtin_ctzll(all);
    for (size_t i = 0; i < rows; i++)
        count[i % 2][column_bits(values[i] >> batch->shift)]++;
    const unsigned top = column_bits(all >> batch->shift);
    size_t best = SIZE_MAX;
    unsigned exceptions = 0;
    for (unsigned bits = top + 1; bits-- > 0;) {
        const unsigned bytes = exceptions == 0 ? 0 : (top - bits + 7) / 8;
        const size_t length = column_planes_length(bits, rows) + (size_t)exceptions * (2 + bytes);
        if (length < best) {
            best = length;
            batch->bits = bits;
            batch->exceptions = exceptions;
            batch->exception_bytes = bytes;
        }
        exceptions += (unsigned)count[0][bits] + count[1][bits];
    }
}

/* Writes the lanes and the exceptions of a planned batch. Returns the length. */
static inline size_t column_batch_put_body(uint8_t *body, const struct column_batch *batch,
                                           const uint64_t *values, size_t rows)
{
    uint32_t parts[COLUMN_BATCH_ROWS] = {0};
    const unsigned low = batch->bits < 32 ? batch->bits : 32;
    memset(body, 0, column_planes_length(batch->bits, rows));
    for (size_t i = 0; i < rows; i++)
        parts[i] = (uint32_t)(values[i] >> batch->shift);
    uint8_t *at = body + column_plane_put(body, parts, low, rows);
    if (batch->bits > 32) {
        for (size_t i = 0; i < rows; i++)
            parts[i] = (uint32_t)(values[i] >> batch->shift >> 32);
        at += column_plane_put(at, parts, batch->bits - 32, rows);
    }
    uint8_t *upper = at + (size_t)batch->exceptions * 2;
    for (size_t i = 0; batch->exceptions > 0 && i < rows; i++) {
        const uint64_t rest = values[i] >> batch->shift >> batch->bits;
        if (rest == 0)
            continue;
        *at++ = (uint8_t)i;
        *at++ = (uint8_t)(i >> 8);
        for (unsigned byte = 0; byte < batch->exception_bytes; byte++)
            *upper++ = (uint8_t)(rest >> (8 * byte));
    }
    return (size_t)(upper - body);
}

/* Packs a batch of 1 to COLUMN_BATCH_ROWS values. `rising`: the values mostly ascend, so it may be
 * shorter to store their differences. Returns the length of the body. */
static inline size_t column_batch_put(uint8_t *head, uint8_t *body, const uint64_t *values,
                                      size_t rows, bool rising)
{
    uint64_t above[COLUMN_BATCH_ROWS], steps[COLUMN_BATCH_ROWS];
    struct column_batch plain = {.base = values[0]}, delta = {.base = values[0], .delta = true};
    for (size_t i = 1; i < rows; i++)
        plain.base = values[i] < plain.base ? values[i] : plain.base;
    for (size_t i = 0; i < rows; i++)
        above[i] = values[i] - plain.base;
    column_batch_plan(&plain, above, rows);
    if (rising) {
        steps[0] = 0;
        for (size_t i = 1; i < rows; i++)
            steps[i] = values[i] - values[i - 1];
        column_batch_plan(&delta, steps, rows);
        rising = column_batch_length(&delta, rows) < column_batch_length(&plain, rows);
    }
    column_batch_put_head(head, rising ? &delta : &plain);
    return column_batch_put_body(body, rising ? &delta : &plain, rising ? steps : above, rows);
}

/* ---- unpacking ---- */

/* Returns the upper part of exception `i`. `at`: the first one. */
COLUMN_INLINE uint64_t column_exception(const uint8_t *at, unsigned bytes, size_t i)
{
    uint64_t rest;
    memcpy(&rest, at + i * bytes, sizeof(rest));
    return bytes == 0 ? 0 : rest & UINT64_MAX >> (64 - 8 * bytes);
}

COLUMN_INLINE uint32_t column_lane(const uint8_t *words, size_t lane)
{
    uint32_t word;
    memcpy(&word, words + lane * sizeof(word), sizeof(word));
    return word;
}

/* column_get32_sums() and column_get64_sums() replace each value by `sum` plus all up to it. They
 * may change values up to the next multiple of four. Each four values wait for those before them
 * only once. */
COLUMN_INLINE void column_get64_sums(uint64_t *values, size_t rows, uint64_t sum)
{
    for (uint64_t *at = values; at < values + rows; at += 4) {
        const uint64_t two = at[0] + at[1], last = at[2] + at[3];
        at[0] += sum;
        at[1] = sum + two;
        at[2] += sum + two;
        at[3] = sum += two + last;
    }
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define COLUMN_SHUFFLES 1
#endif
#endif
COLUMN_INLINE void column_get32_sums(uint32_t *values, size_t rows, uint32_t sum)
{
#if COLUMN_SHUFFLES
    typedef uint32_t four __attribute__((vector_size(16)));
    const four zero = {0};
    four before = zero + sum, x;
    for (size_t i = 0; i < rows; i += 4) {
        memcpy(&x, values + i, sizeof(x));
        x += __builtin_shufflevector(zero, x, 0, 4, 5, 6);
        x += __builtin_shufflevector(zero, x, 0, 0, 4, 5);
        const four last = __builtin_shufflevector(x, x, 3, 3, 3, 3);
        x += before;
        before += last;
        memcpy(values + i, &x, sizeof(x));
    }
#else
    /* For gcc before version 12. */
    for (size_t i = 0; i < rows; i++)
        values[i] = sum += values[i];
#endif
}

/* COLUMN_UNPACK(type, get32) makes these functions for a type of 32 or 64 bits, modulo which they
 * calculate:
 *
 * NAME_plane() stores the values of a plane of `bits` (1 to 32), shifted to the left by `up`, plus
 * `add`, for the rows up to the next multiple of COLUMN_LANES.
 *
 * column_batch_NAME() unpacks a batch whose head is good. Its body has column_batch_length() bytes,
 * and eight more bytes after it can be read. It stores the values plus `add`. `values` has room
 * for COLUMN_BATCH_ROWS. Returns false if the batch is damaged. */
#define COLUMN_UNPACK(type, name)                                                                  \
    typedef type column_##name##_value;                                                            \
    COLUMN_INLINE void column_##name##_plane(const uint8_t *data, unsigned bits, unsigned up,      \
                                             size_t rows, type add, column_##name##_value *values) \
    {                                                                                              \
        const uint32_t mask = UINT32_MAX >> (32 - bits);                                           \
        for (size_t row = 0; row < rows; row += COLUMN_LANES, values += COLUMN_LANES) {            \
            const size_t place = row / COLUMN_LANES * bits;                                        \
            const unsigned down = place % 32, left = (32 - down) % 32;                             \
            const uint8_t *at = data + place / 32 * COLUMN_LANE_BYTES;                             \
            if (down + bits <= 32) {                                                               \
                for (size_t i = 0; i < COLUMN_LANES; i++)                                          \
                    values[i] = ((type)(column_lane(at, i) >> down & mask) << up) + add;           \
                continue;                                                                          \
            }                                                                                      \
            for (size_t i = 0; i < COLUMN_LANES; i++)                                              \
                values[i] = ((type)((column_lane(at, i) >> down |                                  \
                                     column_lane(at, COLUMN_LANES + i) << left) &                  \
                                    mask)                                                          \
                             << up) +                                                              \
                            add;                                                                   \
        }                                                                                          \
    }                                                                                              \
    COLUMN_INLINE bool column_batch_##name(const struct column_batch *batch, const uint8_t *body,  \
                                           size_t rows, type add, column_##name##_value *values)   \
    {                                                                                              \
        const unsigned type_bits = sizeof(type) * 8, low = batch->bits < 32 ? batch->bits : 32;    \
        const uint8_t *places = body + column_planes_length(batch->bits, rows);                    \
        const uint8_t *rest = places + (size_t)batch->exceptions * 2;                              \
        const type base = (type)(batch->base + add), first = batch->delta ? 0 : base;              \
        bool good = true;                                                                          \
        if (low > 0 && batch->shift < type_bits)                                                   \
            column_##name##_plane(body, low, batch->shift, rows, first, values);                   \
        else                                                                                       \
            for (size_t i = 0; i < rows; i++)                                                      \
                values[i] = first;                                                                 \
        if (type_bits > 32 && batch->bits > 32 && batch->shift < 32) {                             \
            type upper[COLUMN_BATCH_ROWS];                                                         \
            column_##name##_plane(body + column_plane_length(32, rows), batch->bits - 32,          \
                                  (batch->shift + 32) % type_bits, rows, 0, upper);                \
            for (size_t i = 0; i < rows; i++)                                                      \
                values[i] += upper[i];                                                             \
        }                                                                                          \
        for (size_t i = 0; i < batch->exceptions; i++) {                                           \
            const size_t row = (size_t)places[i * 2] | (size_t)places[i * 2 + 1] << 8;             \
            good = good && row < rows;                                                             \
            values[row % COLUMN_BATCH_ROWS] +=                                                     \
                (type)(column_exception(rest, batch->exception_bytes, i)                           \
                       << batch->bits << batch->shift);                                            \
        }                                                                                          \
        if (batch->delta) {                                                                        \
            memset(values + rows, 0, (COLUMN_BATCH_ROWS - rows) * sizeof(*values));                \
            column_##name##_sums(values, rows, base);                                              \
        }                                                                                          \
        return good;                                                                               \
    }
COLUMN_UNPACK(uint32_t, get32)
COLUMN_UNPACK(uint64_t, get64)
