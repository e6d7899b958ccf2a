/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels of scans against plain loops: all widths of columns, short and long chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/store/kernels.h"
#include "session/store/row_set.h"

static const uint32_t lengths[] = {1, 63, 64, 1000, 1024, 1025, 4000, COLUMN_CHUNK_ROWS};

static uint64_t random_number(void)
{
    static uint64_t state = 99;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Packs random values of `width` bytes above `min`; exactly as large as a chunk's data is, so that
 * the sanitizer sees a load beyond it. */
static struct column_view make_view(unsigned width, uint32_t rows, uint64_t min)
{
    struct column_view view = {
        .min = min, .max = min, .mask = column_mask(width), .width = width, .rows = rows};
    if (width == 0)
        return view;
    uint8_t *data = malloc((size_t)rows * width + COLUMN_PADDING);
    assert_non_null(data);
    for (uint32_t row = 0; row < rows; row++) {
        /* Many zeros: lives of blocks that were not freed. */
        const uint64_t value = random_number() % 5 == 0 ? 0 : random_number() & view.mask;
        memcpy(data + (size_t)row * width, &value, 8);
        view.max = min + value > view.max ? min + value : view.max;
    }
    memset(data + (size_t)rows * width, 0, COLUMN_PADDING);
    view.data = data;
    return view;
}

static void free_view(struct column_view *view)
{
    free((uint8_t *)(uintptr_t)view->data);
}

static void check(const uint64_t *words, const uint8_t *truth, uint32_t rows)
{
    for (size_t row = 0; row < COLUMN_CHUNK_ROWS; row++) {
        const bool bit = (words[row / 64] >> (row % 64) & 1) != 0;
        if (bit != (row < rows && truth[row] != 0))
            fail_msg("row %zu of %u", row, rows);
    }
}

static uint8_t truth[COLUMN_CHUNK_ROWS];
static uint64_t words[ROW_SET_WORDS];

/* Returns a value of the view, or one near its bounds. */
static uint64_t some_bound(const struct column_view *view)
{
    switch (random_number() % 4) {
    case 0:
        return view->min + random_number() % 3 - (view->min > 0);
    case 1:
        return view->max + random_number() % 3 - (view->max > 0);
    default:
        return column_view_at(view, random_number() % view->rows);
    }
}

static void check_range(const struct column_view *view)
{
    const uint64_t a = some_bound(view), b = some_bound(view);
    const struct kernel_range range = {a < b ? a : b, a < b ? b : a, random_number() % 2 == 0};
    memset(words, 0x55, sizeof(words));
    kernel_in_range(view, &range, words);
    for (uint32_t row = 0; row < view->rows; row++) {
        const uint64_t value = column_view_at(view, row);
        truth[row] = (value >= range.low && value <= range.high) != range.outside;
    }
    check(words, truth, view->rows);
}

static void ranges_are_those_of_plain_loops(void **state)
{
    for (unsigned width = 0; width <= 8; width++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            struct column_view view =
                make_view(width, lengths[i], width == 8 ? 0 : random_number() % 1000);
            for (int again = 0; again < 12; again++)
                check_range(&view);
            free_view(&view);
        }
    }
}

static uint64_t lifetime(uint64_t began, uint64_t life, uint64_t end)
{
    return life != 0 ? life - 1 : end > began ? end - began : 0;
}

static void check_lives(const struct column_view *begin, const struct column_view *life)
{
    const uint64_t end = begin->min + random_number() % (begin->max - begin->min + 2);
    const uint64_t moment = some_bound(begin);
    const uint64_t a = some_bound(begin), b = some_bound(life);
    const struct kernel_range range = {a < b ? a : b, a < b ? b : a, random_number() % 2 == 0};
    kernel_live_at(begin, life, moment, words);
    for (uint32_t row = 0; row < life->rows; row++) {
        const uint64_t began = column_view_at(begin, row), lived = column_view_at(life, row);
        truth[row] = began <= moment && (lived == 0 || began + lived - 1 > moment);
    }
    check(words, truth, life->rows);
    kernel_freed_in_range(begin, life, &range, words);
    for (uint32_t row = 0; row < life->rows; row++) {
        const uint64_t lived = column_view_at(life, row);
        const uint64_t freed = column_view_at(begin, row) + lived - 1;
        truth[row] = lived != 0 && (freed >= range.low && freed <= range.high) != range.outside;
    }
    check(words, truth, life->rows);
    kernel_lifetime_in_range(begin, life, end, &range, words);
    for (uint32_t row = 0; row < life->rows; row++) {
        const uint64_t time = lifetime(column_view_at(begin, row), column_view_at(life, row), end);
        truth[row] = (time >= range.low && time <= range.high) != range.outside;
    }
    check(words, truth, life->rows);
}

static void lives_are_those_of_plain_loops(void **state)
{
    for (unsigned width = 0; width <= 7; width++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            struct column_view begin = make_view((width + 3) % 8, lengths[i], random_number() % 99);
            struct column_view life = make_view(width, lengths[i], random_number() % 2);
            for (int again = 0; again < 8; again++)
                check_lives(&begin, &life);
            free_view(&begin);
            free_view(&life);
        }
    }
}

static void tables_are_those_of_plain_loops(void **state)
{
    uint8_t *table = malloc(70000);
    assert_non_null(table);
    for (size_t i = 0; i < 70000; i++)
        table[i] = random_number() % 3 == 0;
    for (unsigned width = 0; width <= 2; width++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            struct column_view view = make_view(width, lengths[i], random_number() % 1000);
            kernel_in_table(&view, table, words);
            for (uint32_t row = 0; row < view.rows; row++)
                truth[row] = table[column_view_at(&view, row)];
            check(words, truth, view.rows);
            free_view(&view);
        }
    }
    free(table);
}

static void check_values(const struct column_view *view, unsigned share)
{
    static struct kernel_rows rows;
    uint64_t values[KERNEL_ROWS];
    uint64_t sum = 0;
    size_t found = 0, wanted = 0, next = 0;
    memset(words, 0, sizeof(words));
    for (uint32_t row = 0; row < view->rows; row++)
        if (random_number() % 16 < share) {
            words[row / 64] |= UINT64_C(1) << (row % 64);
            wanted++;
        }
    assert_int_equal(kernel_count(words, ROW_SET_WORDS), wanted);
    KERNEL_EACH_BATCH(words, &rows)
    {
        kernel_take(view, &rows, values);
        for (size_t i = 0; i < rows.count; i++, next++) {
            const size_t row = rows.first + rows.row[i];
            while ((words[next / 64] >> (next % 64) & 1) == 0)
                next++;
            assert_int_equal(row, next);
            if (values[i] != column_view_at(view, row))
                fail_msg("row %zu: %llu", row, (unsigned long long)values[i]);
            sum += values[i];
        }
        found += rows.count;
    }
    assert_int_equal(found, wanted);
    if (kernel_sum_selected(view, words) != sum)
        fail_msg("width %u, %u rows: not %llu", view->width, view->rows, (unsigned long long)sum);
}

static void values_are_those_of_the_selected_rows(void **state)
{
    for (unsigned width = 0; width <= 8; width++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            struct column_view view = make_view(width, lengths[i], width == 8 ? 0 : 77);
            for (unsigned share = 0; share <= 16; share += 4)
                check_values(&view, share);
            free_view(&view);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_those_of_plain_loops),
        cmocka_unit_test(lives_are_those_of_plain_loops),
        cmocka_unit_test(tables_are_those_of_plain_loops),
        cmocka_unit_test(values_are_those_of_the_selected_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
