/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacked columns and bars, cell by cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/screen/bars.h"

#define RED                                                                                        \
    {                                                                                              \
        1, CELL_DEFAULT, 0                                                                         \
    }
#define BLUE                                                                                       \
    {                                                                                              \
        4, CELL_DEFAULT, 0                                                                         \
    }
#define GREEN                                                                                      \
    {                                                                                              \
        2, CELL_DEFAULT, 0                                                                         \
    }

static void check(const struct grid *grid, int y, uint32_t glyph, int foreground, int background)
{
    const struct cell *cell = grid_cell(grid, 0, y);
    assert_int_equal(cell->glyph, glyph);
    assert_int_equal(cell->style.foreground, foreground);
    assert_int_equal(cell->style.background, background);
}

static void boundary_inside_a_cell_shows_both_layers(void **state)
{
    struct grid *grid = grid_new(1, 4, 256, false);
    struct area area = area_whole(grid);
    const struct bar_layer layers[] = {{12, RED, '#'}, {14, BLUE, 'o'}};
    bars_column(&area, 0, layers, 2, 32, CELL_DEFAULT);
    check(grid, 3, 0x2588, 1, CELL_DEFAULT); /* all red */
    check(grid, 2, 0x2584, 1, 4);            /* half red on blue */
    check(grid, 1, 0x2588, 4, CELL_DEFAULT);
    check(grid, 0, 0x2582, 4, CELL_DEFAULT); /* two eighths */
    grid_free(grid);
}

static void crowded_cells_show_the_two_largest(void **state)
{
    struct grid *grid = grid_new(1, 1, 256, false);
    struct area area = area_whole(grid);
    const struct bar_layer layers[] = {{1, RED, '#'}, {4, BLUE, 'o'}, {3, GREEN, '+'}};
    bars_column(&area, 0, layers, 3, 8, CELL_DEFAULT);
    check(grid, 0, 0x2585, 4, 2); /* blue 4 of 7, rounded to five eighths, on green */
    grid_free(grid);
}

static void columns_hang_from_the_top(void **state)
{
    struct grid *grid = grid_new(1, 4, 256, false);
    struct area area = area_whole(grid);
    const struct bar_layer layers[] = {{12, RED, '#'}, {10, BLUE, 'o'}};
    bars_hanging(&area, 0, layers, 2, 32);
    check(grid, 0, 0x2588, 1, CELL_DEFAULT); /* all red */
    check(grid, 1, 0x2584, 4, 1);            /* half blue below red */
    check(grid, 2, 0x2582, 4, CELL_DEFAULT); /* six eighths, from the top */
    assert_true(grid_cell(grid, 0, 2)->style.attributes & CELL_REVERSE);
    check(grid, 3, ' ', CELL_DEFAULT, CELL_DEFAULT);
    grid_free(grid);
}

static void little_is_not_nothing(void **state)
{
    struct grid *grid = grid_new(1, 2, 256, false);
    struct area area = area_whole(grid);
    const struct bar_layer layers[] = {{0, RED, '#'}, {1, BLUE, 'o'}};
    bars_column(&area, 0, layers, 2, 1000000, CELL_DEFAULT);
    check(grid, 1, 0x2581, 4, CELL_DEFAULT);
    check(grid, 0, ' ', CELL_DEFAULT, CELL_DEFAULT);
    const struct bar_layer none[] = {{0, RED, '#'}};
    grid_clear(grid);
    bars_column(&area, 0, none, 1, 0, CELL_DEFAULT);
    check(grid, 1, ' ', CELL_DEFAULT, CELL_DEFAULT);
    grid_free(grid);
}

static void without_colour_patterns(void **state)
{
    struct grid *grid = grid_new(1, 3, 0, false);
    struct area area = area_whole(grid);
    const struct bar_layer layers[] = {{8, RED, '#'}, {11, BLUE, 'o'}};
    bars_column(&area, 0, layers, 2, 24, CELL_DEFAULT);
    assert_int_equal(grid_cell(grid, 0, 2)->glyph, '#');
    assert_int_equal(grid_cell(grid, 0, 1)->glyph, 'o');
    assert_int_equal(grid_cell(grid, 0, 0)->glyph, ' '); /* three eighths round down */
    grid_free(grid);
}

static void rows_end_in_eighths(void **state)
{
    struct grid *grid = grid_new(4, 1, 256, false);
    struct area area = area_whole(grid);
    bars_row(&area, 0, 0, 4, 18, 32, (struct cell_style)RED);
    assert_int_equal(grid_cell(grid, 1, 0)->glyph, 0x2588);
    assert_int_equal(grid_cell(grid, 2, 0)->glyph, 0x258e); /* two eighths */
    assert_int_equal(grid_cell(grid, 3, 0)->glyph, ' ');
    grid_free(grid);
}

static void scales_are_round(void **state)
{
    assert_int_equal(bars_nice_size(0), 1);
    assert_int_equal(bars_nice_size(3), 5);
    assert_int_equal(bars_nice_size(101), 256);
    assert_int_equal(bars_nice_size(300 * 1024), 512 * 1024);
    assert_int_equal(bars_nice_size(513), 1024);
    assert_int_equal(bars_nice_size(1025), 2048);
    assert_int_equal(bars_nice_size(48 * 1048576), 50 * 1048576);
    assert_int_equal(bars_nice_count(30001), 50000);
    assert_true(bars_nice_size(UINT64_MAX) == UINT64_MAX);
}

static void spark_lines_scale_to_the_largest(void **state)
{
    char text[16];
    bars_spark(text, sizeof(text), (const uint64_t[]){0, 1, 50, 100}, 4);
    assert_string_equal(text, "·▁▄█");
    bars_spark(text, sizeof(text), (const uint64_t[]){0, 0}, 2);
    assert_string_equal(text, "··");
    bars_spark(text, 7, (const uint64_t[]){1, 1, 1}, 3); /* no room for the last one */
    assert_string_equal(text, "██");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundary_inside_a_cell_shows_both_layers),
        cmocka_unit_test(crowded_cells_show_the_two_largest),
        cmocka_unit_test(columns_hang_from_the_top),
        cmocka_unit_test(little_is_not_nothing),
        cmocka_unit_test(without_colour_patterns),
        cmocka_unit_test(rows_end_in_eighths),
        cmocka_unit_test(scales_are_round),
        cmocka_unit_test(spark_lines_scale_to_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
