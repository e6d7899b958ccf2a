/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/kernels.h"

#include <string.h>

/* VARIANTS(result, name, parameters, arguments) makes the function `name` from the inline function
 * name_body: compiled once for every processor and once for AVX2. (target_clones would do the same.
 * Its resolvers run before a sanitizer has started, and clang 14 does not link them across
 * files.) */
#if defined(__x86_64__)
#define VARIANTS(result, name, parameters, arguments)                                              \
    static __attribute__((noinline)) result name##_plain parameters                                \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }                                                                                              \
    static __attribute__((noinline, target("avx2,bmi,bmi2,popcnt"))) result name##_avx2 parameters \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }                                                                                              \
    result name parameters                                                                         \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))                      \
            return name##_avx2 arguments;                                                          \
        return name##_plain arguments;                                                             \
    }
#else
#define VARIANTS(result, name, parameters, arguments)                                              \
    result name parameters                                                                         \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }
#endif

#define INLINE static inline __attribute__((always_inline))

/* ---- unpacking ---- */

INLINE uint64_t load(const uint8_t *data)
{
    uint64_t value;
    memcpy(&value, data, sizeof(value));
    return value;
}

/* Stores `count` packed values plus `base`. Loops of a fixed width can use vectors. For 3, 5, 6 and
 * 7 bytes vectors are slower than single loads: compilers do not use them for a variable width. */
INLINE void unpack(const struct column_view *view, size_t first, size_t count, uint64_t base,
                   uint64_t *values)
{
    const uint8_t *data = view->width == 0 ? NULL : view->data + first * view->width;
    const uint64_t mask = view->mask;
    uint16_t half;
    uint32_t word;
    switch (view->width) {
    case 0:
        for (size_t i = 0; i < count; i++)
            values[i] = base;
        break;
    case 1:
        for (size_t i = 0; i < count; i++)
            values[i] = base + data[i];
        break;
    case 2:
        for (size_t i = 0; i < count; i++) {
            memcpy(&half, data + i * 2, sizeof(half));
            values[i] = base + half;
        }
        break;
    case 4:
        for (size_t i = 0; i < count; i++) {
            memcpy(&word, data + i * 4, sizeof(word));
            values[i] = base + word;
        }
        break;
    case 8:
        for (size_t i = 0; i < count; i++)
            values[i] = base + load(data + i * 8);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = base + (load(data + i * view->width) & mask);
        break;
    }
}

/* Does the same for values that fit 32 bits: twice as many fit a vector. */
INLINE void unpack_small(const struct column_view *view, size_t first, size_t count,
                         uint32_t *values)
{
    const uint8_t *data = view->width == 0 ? NULL : view->data + first * view->width;
    uint16_t half;
    switch (view->width) {
    case 0:
        for (size_t i = 0; i < count; i++)
            values[i] = 0;
        break;
    case 1:
        for (size_t i = 0; i < count; i++)
            values[i] = data[i];
        break;
    case 2:
        for (size_t i = 0; i < count; i++) {
            memcpy(&half, data + i * 2, sizeof(half));
            values[i] = half;
        }
        break;
    case 3:
        for (size_t i = 0; i < count; i++)
            values[i] = (uint32_t)load(data + i * view->width) & 0xffffff;
        break;
    default:
        memcpy(values, data, count * sizeof(*values));
        break;
    }
}

/* Packs KERNEL_ROWS bytes of 0 and 1 into bits: a product gathers the bits of eight bytes. */
INLINE void pack_bits(const uint8_t *truth, uint64_t *words)
{
    for (size_t word = 0; word < KERNEL_WORDS; word++) {
        uint64_t bits = 0;
        for (size_t i = 0; i < 8; i++)
            bits |= (load(truth + word * 64 + i * 8) * UINT64_C(0x0102040810204080) >> 56)
                    << (8 * i);
        words[word] = bits;
    }
}

/* Clears the words after the last batch of a chunk with `rows` rows. The bits after the last row
 * come from `truth`, which is 0 there. */
INLINE void clear_rest(uint64_t *words, uint32_t rows)
{
    const size_t batches = (rows + KERNEL_ROWS - 1) / KERNEL_ROWS;
    memset(words + batches * KERNEL_WORDS, 0,
           (KERNEL_BATCHES - batches) * KERNEL_WORDS * sizeof(*words));
}

/* Returns the rows of the batch that begins at `first`. For the last, short one makes `truth` 0. */
INLINE size_t batch_rows(uint32_t rows, size_t first, uint8_t *truth)
{
    if (rows - first >= KERNEL_ROWS)
        return KERNEL_ROWS;
    memset(truth, 0, KERNEL_ROWS);
    return rows - first;
}

/* ---- tests ---- */

static void fill(bool truth, uint32_t rows, uint64_t *words)
{
    memset(words, 0, COLUMN_CHUNK_ROWS / 8);
    if (!truth)
        return;
    memset(words, 0xff, rows / 64 * sizeof(*words));
    if (rows % 64 != 0)
        words[rows / 64] = (UINT64_C(1) << (rows % 64)) - 1;
}

INLINE void small_in_range(const struct column_view *view, uint32_t low, uint32_t span,
                           uint8_t outside, uint64_t *words)
{
    uint32_t values[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    for (size_t first = 0; first < view->rows; first += KERNEL_ROWS) {
        const size_t count = batch_rows(view->rows, first, truth);
        unpack_small(view, first, count, values);
        for (size_t i = 0; i < count; i++)
            truth[i] = (uint8_t)(values[i] - low <= span) ^ outside;
        pack_bits(truth, words + first / 64);
    }
}

INLINE void large_in_range(const struct column_view *view, uint64_t low, uint64_t span,
                           uint8_t outside, uint64_t *words)
{
    uint64_t values[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    for (size_t first = 0; first < view->rows; first += KERNEL_ROWS) {
        const size_t count = batch_rows(view->rows, first, truth);
        unpack(view, first, count, 0, values);
        for (size_t i = 0; i < count; i++)
            truth[i] = (uint8_t)(values[i] - low <= span) ^ outside;
        pack_bits(truth, words + first / 64);
    }
}

/* The packed values are compared, so the bounds move by the smallest value. */
INLINE void kernel_in_range_body(const struct column_view *view, const struct kernel_range *range,
                                 uint64_t *words)
{
    if (range->low > range->high || range->high < view->min || range->low > view->max) {
        fill(range->outside, view->rows, words);
        return;
    }
    const uint64_t low = range->low > view->min ? range->low - view->min : 0;
    const uint64_t most = view->max - view->min;
    const uint64_t high = range->high - view->min < most ? range->high - view->min : most;
    if (view->width <= 4)
        small_in_range(view, (uint32_t)low, (uint32_t)(high - low), range->outside, words);
    else
        large_in_range(view, low, high - low, range->outside, words);
    clear_rest(words, view->rows);
}
VARIANTS(void, kernel_in_range,
         (const struct column_view *view, const struct kernel_range *range, uint64_t *words),
         (view, range, words))

INLINE void kernel_freed_in_range_body(const struct column_view *begin,
                                       const struct column_view *life,
                                       const struct kernel_range *range, uint64_t *words)
{
    uint64_t began[KERNEL_ROWS], lived[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    const uint64_t span = range->high - range->low, low = range->low;
    const uint8_t outside = range->outside;
    for (size_t first = 0; first < life->rows; first += KERNEL_ROWS) {
        const size_t count = batch_rows(life->rows, first, truth);
        unpack(begin, first, count, begin->min - 1 - low, began);
        unpack(life, first, count, life->min, lived);
        for (size_t i = 0; i < count; i++)
            truth[i] =
                (uint8_t)(lived[i] != 0) & ((uint8_t)(began[i] + lived[i] <= span) ^ outside);
        pack_bits(truth, words + first / 64);
    }
    clear_rest(words, life->rows);
}
VARIANTS(void, kernel_freed_in_range,
         (const struct column_view *begin, const struct column_view *life,
          const struct kernel_range *range, uint64_t *words),
         (begin, life, range, words))

INLINE void kernel_lifetime_in_range_body(const struct column_view *begin,
                                          const struct column_view *life, uint64_t end,
                                          const struct kernel_range *range, uint64_t *words)
{
    uint64_t began[KERNEL_ROWS], lived[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    const uint64_t span = range->high - range->low, low = range->low;
    const uint8_t outside = range->outside;
    for (size_t first = 0; first < life->rows; first += KERNEL_ROWS) {
        const size_t count = batch_rows(life->rows, first, truth);
        unpack(life, first, count, life->min - 1, lived);
        if (life->min == 0) {
            unpack(begin, first, count, begin->min, began);
            for (size_t i = 0; i < count; i++) {
                const uint64_t to_end = end > began[i] ? end - began[i] : 0;
                lived[i] = lived[i] == UINT64_MAX ? to_end : lived[i];
            }
        }
        for (size_t i = 0; i < count; i++)
            truth[i] = (uint8_t)(lived[i] - low <= span) ^ outside;
        pack_bits(truth, words + first / 64);
    }
    clear_rest(words, life->rows);
}
VARIANTS(void, kernel_lifetime_in_range,
         (const struct column_view *begin, const struct column_view *life, uint64_t end,
          const struct kernel_range *range, uint64_t *words),
         (begin, life, end, range, words))

INLINE void kernel_live_at_body(const struct column_view *begin, const struct column_view *life,
                                uint64_t ns, uint64_t *words)
{
    uint64_t began[KERNEL_ROWS], lived[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    for (size_t first = 0; first < life->rows; first += KERNEL_ROWS) {
        const size_t count = batch_rows(life->rows, first, truth);
        unpack(begin, first, count, begin->min, began);
        /* For life 0, life - 1 is the largest number. */
        unpack(life, first, count, life->min - 1, lived);
        for (size_t i = 0; i < count; i++)
            truth[i] = (uint8_t)(began[i] <= ns) & (uint8_t)(lived[i] > ns - began[i]);
        pack_bits(truth, words + first / 64);
    }
    clear_rest(words, life->rows);
}
VARIANTS(void, kernel_live_at,
         (const struct column_view *begin, const struct column_view *life, uint64_t ns,
          uint64_t *words),
         (begin, life, ns, words))

INLINE void kernel_in_table_body(const struct column_view *view, const uint8_t *table,
                                 uint64_t *words)
{
    uint32_t values[KERNEL_ROWS];
    uint8_t truth[KERNEL_ROWS];
    if (view->width > 4) {
        for (size_t first = 0; first < view->rows; first += KERNEL_ROWS) {
            const size_t count = batch_rows(view->rows, first, truth);
            for (size_t i = 0; i < count; i++)
                truth[i] = table[column_view_at(view, first + i)];
            pack_bits(truth, words + first / 64);
        }
    } else {
        table += view->min;
        for (size_t first = 0; first < view->rows; first += KERNEL_ROWS) {
            const size_t count = batch_rows(view->rows, first, truth);
            unpack_small(view, first, count, values);
            for (size_t i = 0; i < count; i++)
                truth[i] = table[values[i]];
            pack_bits(truth, words + first / 64);
        }
    }
    clear_rest(words, view->rows);
}
VARIANTS(void, kernel_in_table,
         (const struct column_view *view, const uint8_t *table, uint64_t *words),
         (view, table, words))

/* ---- values ---- */

/* From so many rows of a batch on, unpacking all is faster than loading single ones. */
enum { DENSE = 512 };

INLINE size_t kernel_list_body(const uint64_t *words, size_t batch, struct kernel_rows *rows)
{
    uint64_t any = 0, all = UINT64_MAX;
    words += batch * KERNEL_WORDS;
    for (size_t i = 0; i < KERNEL_WORDS; i++) {
        any |= words[i];
        all &= words[i];
    }
    rows->first = batch * KERNEL_ROWS;
    rows->count = 0;
    if (any == 0)
        return 0;
    if (all == UINT64_MAX) {
        for (size_t i = 0; i < KERNEL_ROWS; i++)
            rows->row[i] = (uint16_t)i;
        rows->count = KERNEL_ROWS;
        return KERNEL_ROWS;
    }
    size_t count = 0;
    for (size_t word = 0; word < KERNEL_WORDS; word++)
        for (uint64_t bits = words[word]; bits != 0; bits &= bits - 1)
            rows->row[count++] = (uint16_t)(word * 64 + (size_t)__builtin_ctzll(bits));
    rows->count = count;
    return count;
}
VARIANTS(size_t, kernel_list, (const uint64_t *words, size_t batch, struct kernel_rows *rows),
         (words, batch, rows))

INLINE void kernel_take_body(const struct column_view *view, const struct kernel_rows *rows,
                             uint64_t *values)
{
    const uint64_t min = view->min, mask = view->mask;
    const size_t width = view->width, count = rows->count;
    if (count == KERNEL_ROWS || width == 0) {
        unpack(view, rows->first, count, min, values);
        return;
    }
    const uint8_t *data = view->data + rows->first * width;
    if (count >= DENSE) {
        uint64_t all[KERNEL_ROWS];
        unpack(view, rows->first, (size_t)rows->row[count - 1] + 1, min, all);
        for (size_t i = 0; i < count; i++)
            values[i] = all[rows->row[i]];
        return;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = min + (load(data + rows->row[i] * width) & mask);
}
VARIANTS(void, kernel_take,
         (const struct column_view *view, const struct kernel_rows *rows, uint64_t *values),
         (view, rows, values))

/* Sums all values of a batch under masks that the bits make: that needs no list of rows. */
INLINE uint64_t kernel_sum_selected_body(const struct column_view *view, const uint64_t *words)
{
    uint64_t values[KERNEL_ROWS], sum = 0;
    for (size_t first = 0; first < view->rows; first += KERNEL_ROWS, words += KERNEL_WORDS) {
        const size_t rest = view->rows - first, count = rest < KERNEL_ROWS ? rest : KERNEL_ROWS;
        uint64_t any = 0;
        for (size_t word = 0; word < KERNEL_WORDS; word++)
            any |= words[word];
        if (any == 0)
            continue;
        if (count < KERNEL_ROWS)
            memset(values, 0, sizeof(values));
        unpack(view, first, count, view->min, values);
        for (size_t word = 0; word < KERNEL_WORDS; word++)
            for (size_t i = 0; i < 64; i++)
                sum += values[word * 64 + i] & (0 - (words[word] >> i & 1));
    }
    return sum;
}
VARIANTS(uint64_t, kernel_sum_selected, (const struct column_view *view, const uint64_t *words),
         (view, words))

INLINE uint64_t kernel_sum_body(const uint64_t *values, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}
VARIANTS(uint64_t, kernel_sum, (const uint64_t *values, size_t count), (values, count))

INLINE uint64_t kernel_sum_of_zero_body(const uint64_t *values, const uint64_t *keys, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; !values && i < count; i++)
        sum += keys[i] == 0;
    for (size_t i = 0; values && i < count; i++)
        sum += keys[i] == 0 ? values[i] : 0;
    return sum;
}
VARIANTS(uint64_t, kernel_sum_of_zero, (const uint64_t *values, const uint64_t *keys, size_t count),
         (values, keys, count))

INLINE uint64_t kernel_count_body(const uint64_t *words, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits += (uint64_t)__builtin_popcountll(words[i]);
    return bits;
}
VARIANTS(uint64_t, kernel_count, (const uint64_t *words, size_t count), (words, count))
