/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every chunk that is read goes through these loops, so they are compiled with -O3, once for every
 * processor and once for AVX2.
 */
#include "session/data/column_values.h"

#define INLINE COLUMN_INLINE

unsigned column_view_width(unsigned width)
{
    static const uint8_t widths[] = {0, 1, 2, 4, 4, 8, 8, 8, 8};
    return widths[width];
}

size_t column_view_length(uint32_t rows, unsigned width)
{
    return column_batches(rows) * COLUMN_BATCH_ROWS * width + COLUMN_PADDING;
}

/*
 * subtract32() and subtract64() turn ends into beginnings: they subtract the lifetimes of a batch's
 * rows. A lifetime of 0 is that of a block which was never freed, and nothing is subtracted.
 */
#define SUBTRACT_OF(name, type, life_type)                                                         \
    typedef type name##_value;                                                                     \
    INLINE void name(name##_value *values, const uint8_t *data, size_t rows, type above,           \
                     type none)                                                                    \
    {                                                                                              \
        for (size_t i = 0; i < rows; i++) {                                                        \
            life_type life;                                                                        \
            memcpy(&life, data + i * sizeof(life), sizeof(life));                                  \
            values[i] -= (type)life + above + (life == 0 ? none : 0);                              \
        }                                                                                          \
    }
#define SUBTRACT(name, type)                                                                       \
    SUBTRACT_OF(name##_8, type, uint8_t)                                                           \
    SUBTRACT_OF(name##_16, type, uint16_t)                                                         \
    SUBTRACT_OF(name##_32, type, uint32_t)                                                         \
    SUBTRACT_OF(name##_64, type, uint64_t)                                                         \
    typedef type name##_value;                                                                     \
    INLINE void name(name##_value *values, const struct column_view *life, size_t first,           \
                     size_t rows)                                                                  \
    {                                                                                              \
        const type above = (type)(life->min - 1), none = life->min == 0;                           \
        const uint8_t *data = life->width == 0 ? NULL : life->data + first * life->width;          \
        for (size_t i = 0; life->width == 0 && i < rows; i++)                                      \
            values[i] -= above + none;                                                             \
        if (life->width == 1)                                                                      \
            name##_8(values, data, rows, above, none);                                             \
        else if (life->width == 2)                                                                 \
            name##_16(values, data, rows, above, none);                                            \
        else if (life->width == 4)                                                                 \
            name##_32(values, data, rows, above, none);                                            \
        else if (life->width == 8)                                                                 \
            name##_64(values, data, rows, above, none);                                            \
    }
SUBTRACT(subtract32, uint32_t)
SUBTRACT(subtract64, uint64_t)

/* Stores the low `width` (1 or 2) bytes of the values of a batch. */
INLINE void store_narrow(const uint32_t *from, unsigned width, size_t rows, uint8_t *to)
{
    for (size_t i = 0; width == 1 && i < rows; i++)
        to[i] = (uint8_t)from[i];
    for (size_t i = 0; width == 2 && i < rows; i++) {
        const uint16_t value = (uint16_t)from[i];
        memcpy(to + i * 2, &value, 2);
    }
}

/* `values` has room for whole batches, and begins where a malloc() did, so it is aligned. */
INLINE bool unpack_body(const uint8_t *data, size_t length, const struct column_view *life,
                        const struct column_view *view, uint8_t *values)
{
    struct column_places places;
    uint32_t narrow[COLUMN_BATCH_ROWS];
    const size_t batches = column_batches(view->rows);
    bool good = column_find_batches(data, length, view->rows, &places);
    for (size_t i = 0; good && i < batches; i++) {
        const size_t first = i * COLUMN_BATCH_ROWS, rows = column_batch_rows(view->rows, i);
        uint8_t *to = values + first * view->width;
        if (view->width == 8) {
            uint64_t *wide = (void *)to;
            good = column_batch_get64(&places.batch[i], places.body[i], rows, -view->min, wide);
            if (life)
                subtract64(wide, life, first, rows);
            continue;
        }
        uint32_t *small = view->width == 4 ? (void *)to : narrow;
        good =
            column_batch_get32(&places.batch[i], places.body[i], rows, -(uint32_t)view->min, small);
        if (life)
            subtract32(small, life, first, rows);
        store_narrow(small, view->width, rows, to);
    }
    return good;
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
LARGEST_OF(largest_64, uint64_t)

INLINE uint64_t largest_body(const struct column_view *view)
{
    switch (view->width) {
    case 1:
        return largest_8(view->data, view->rows);
    case 2:
        return largest_16(view->data, view->rows);
    case 4:
        return largest_32(view->data, view->rows);
    default:
        return largest_64(view->data, view->rows);
    }
}

#if defined(__x86_64__)
static __attribute__((noinline, target("avx2,bmi2"))) bool
unpack_avx2(const uint8_t *data, size_t length, const struct column_view *life,
            const struct column_view *view, uint8_t *values)
{
    return unpack_body(data, length, life, view, values);
}

static __attribute__((noinline, target("avx2"))) uint64_t
largest_avx2(const struct column_view *view)
{
    return largest_body(view);
}
#endif

static __attribute__((noinline)) bool unpack_plain(const uint8_t *data, size_t length,
                                                   const struct column_view *life,
                                                   const struct column_view *view, uint8_t *values)
{
    return unpack_body(data, length, life, view, values);
}

static __attribute__((noinline)) uint64_t largest_plain(const struct column_view *view)
{
    return largest_body(view);
}

bool column_values_unpack(const uint8_t *data, size_t length, const struct column_view *life,
                          const struct column_view *view, uint8_t *values)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return unpack_avx2(data, length, life, view, values);
#endif
    return unpack_plain(data, length, life, view, values);
}

uint64_t column_values_largest(const struct column_view *view)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return largest_avx2(view);
#endif
    return largest_plain(view);
}
