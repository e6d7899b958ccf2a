/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every chunk is looked through once after it was read, so this is compiled with -O3, once for
 * every processor and once for AVX2. It takes 1 to 12 µs instead of 36 for 65,536 rows.
 */
#include "session/data/column_largest.h"

#include "schemas/column_codec.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

INLINE uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* `width` is a constant wherever this is called. */
INLINE uint64_t largest_of(const uint8_t *data, uint32_t rows, unsigned width)
{
    const uint64_t mask = column_mask(width);
    uint64_t lane[LANES] = {0}, largest = 0;
    uint32_t row = 0;
    for (; row + LANES <= rows; row += LANES)
        for (uint32_t i = 0; i < LANES; i++)
            lane[i] = larger(lane[i], column_get(data, width, mask, 0, row + i));
    for (; row < rows; row++)
        largest = larger(largest, column_get(data, width, mask, 0, row));
    for (uint32_t i = 0; i < LANES; i++)
        largest = larger(largest, lane[i]);
    return largest;
}

#define LARGEST_OF(name, type)                                                                     \
    INLINE uint64_t name(const uint8_t *data, uint32_t rows)                                       \
    {                                                                                              \
        type largest = 0, value;                                                                   \
        for (uint32_t row = 0; row < rows; row++) {                                                \
            memcpy(&value, data + (size_t)row * sizeof(value), sizeof(value));                     \
            largest = value > largest ? value : largest;                                           \
        }                                                                                          \
        return largest;                                                                            \
    }
LARGEST_OF(largest_8, uint8_t)
LARGEST_OF(largest_16, uint16_t)
LARGEST_OF(largest_32, uint32_t)

INLINE uint64_t largest_body(const uint8_t *data, uint32_t rows, unsigned width)
{
    switch (width) {
    case 1:
        return largest_8(data, rows);
    case 2:
        return largest_16(data, rows);
    case 3:
        return largest_of(data, rows, 3);
    case 4:
        return largest_32(data, rows);
    case 5:
        return largest_of(data, rows, 5);
    case 6:
        return largest_of(data, rows, 6);
    case 7:
        return largest_of(data, rows, 7);
    default:
        return largest_of(data, rows, 8);
    }
}

#if defined(__x86_64__)
static __attribute__((noinline, target("avx2"))) uint64_t
largest_avx2(const uint8_t *data, uint32_t rows, unsigned width)
{
    return largest_body(data, rows, width);
}
#endif

static __attribute__((noinline)) uint64_t largest_plain(const uint8_t *data, uint32_t rows,
                                                        unsigned width)
{
    return largest_body(data, rows, width);
}

uint64_t column_largest(const uint8_t *data, uint32_t rows, unsigned width)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return largest_avx2(data, rows, width);
#endif
    return largest_plain(data, rows, width);
}
