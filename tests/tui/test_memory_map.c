/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of addresses in the memory grid, and the addresses of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/view/memory/grid.h"

/* Two regions: one that begins inside a row, one of exactly two rows. Rows are 0x400 bytes. */
static struct session_region regions[] = {
    {.start = 0x10230, .end = 0x10900, .used_bytes = 1, .count = 1},
    {.start = 0x20000, .end = 0x20800, .used_bytes = 1, .count = 1},
};
static const struct memory_map map = {
    .regions = regions, .region_count = 2, .bytes_per_cell = 64, .columns = 16};

static void rows_are_counted_with_headings(void **state)
{
    assert_int_equal(memory_region_base(&map, 0), 0x10000);
    assert_int_equal(memory_region_rows(&map, 0), 3);
    assert_int_equal(memory_region_rows(&map, 1), 2);
    assert_int_equal(memory_rows(&map), 1 + 3 + 1 + 2);
}

static void rows_and_addresses_lead_to_each_other(void **state)
{
    for (uint64_t row = 0; row < memory_rows(&map); row++) {
        struct memory_row at = memory_row_at(&map, row);
        assert_true(at.region < 2);
        if (!at.heading)
            assert_int_equal(memory_row_of(&map, at.region, at.address), row);
    }
    assert_true(memory_row_at(&map, 0).heading);
    assert_true(memory_row_at(&map, 4).heading);
    assert_int_equal(memory_row_at(&map, 7).region, 2);
    assert_int_equal(memory_row_of(&map, 0, 0x10230), 1);
    assert_int_equal(memory_row_of(&map, 0, 0x108ff), 3);
    assert_int_equal(memory_row_of(&map, 1, 0x20400), 6);
}

static void addresses_outside_go_to_the_nearest_region(void **state)
{
    assert_int_equal(memory_region_of(&map, 0), 0);
    assert_int_equal(memory_region_of(&map, 0x10400), 0);
    assert_int_equal(memory_region_of(&map, 0x10a00), 0);
    assert_int_equal(memory_region_of(&map, 0x1f000), 1);
    assert_int_equal(memory_region_of(&map, 0x207ff), 1);
    assert_int_equal(memory_region_of(&map, UINT64_MAX), 1);
}

static void use_over_time_ends_at_the_end_of_the_run(void **state)
{
    const uint64_t ends[] = {1, 63, 64, 1000, UINT64_MAX};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct memory_grid *grid = calloc(1, sizeof(*grid));
        assert_non_null(grid);
        grid->moments_to = ends[i];
        assert_int_equal(memory_moment_of(grid, 0), 0);
        assert_int_equal(memory_moment_of(grid, MEMORY_MOMENTS - 1), ends[i] - 1);
        for (size_t column = 1; column < MEMORY_MOMENTS; column++)
            assert_true(memory_moment_of(grid, column) >= memory_moment_of(grid, column - 1));
        free(grid);
    }
}

static void everything_is_fitted_in_with_the_smallest_cells(void **state)
{
    /* 8-byte cells: rows of 0x80 bytes, 14 and 16 rows and two headings. */
    assert_int_equal(memory_fitting_cell(&map, 32), 8);
    assert_int_equal(memory_fitting_cell(&map, 31), 16);
    assert_int_equal(memory_fitting_cell(&map, 7), 64);
    /* Fewer rows than headings: larger cells would save nothing. */
    uint64_t cell = memory_fitting_cell(&map, 1);
    struct memory_map trial = map;
    trial.bytes_per_cell = cell;
    assert_int_equal(memory_rows(&trial), 4);
    const struct memory_map none = {.bytes_per_cell = 64, .columns = 16};
    assert_int_equal(memory_rows(&none), 0);
    assert_int_equal(memory_fitting_cell(&none, 10), MEMORY_CELL_LEAST);
}

static void layouts_lie_within_the_screen(void **state)
{
    for (int width = 40; width <= 400; width += 7)
        for (int height = 7; height <= 120; height += 3) {
            struct memory_layout layout = memory_lay_out(width, height, height % 2 != 0);
            assert_true(layout.columns >= 8 && layout.columns <= MEMORY_COLUMNS_MOST);
            assert_true(layout.rows >= 1 && layout.rows <= MEMORY_ROWS_MOST);
            assert_true(layout.grid_x + layout.columns <=
                        (layout.details_x > 0 ? layout.details_x : width));
            assert_true(layout.grid_y + layout.rows <= layout.legend_y);
            assert_true(layout.legend_y + layout.legend_rows <= height);
            assert_true(layout.details_y + layout.details_height <= height);
        }
}

/* Returns the positions that the legend names, as bits. */
static unsigned named(const struct memory_grid *grid, const struct browse *browse, int width,
                      int rows)
{
    const struct memory_layout layout = {.legend_y = 3, .legend_width = width, .legend_rows = rows};
    unsigned found = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < width; x++) {
            const size_t entry = memory_legend_at(grid, browse, &layout, x, y);
            if (entry != SIZE_MAX)
                found |= 1U << entry;
        }
    return found;
}

static void the_legend_names_the_colours_on_the_screen(void **state)
{
    static struct browse browse;
    struct session_cell cells[16] = {{.used = 0}};
    struct memory_grid *grid = calloc(1, sizeof(*grid));
    assert_non_null(grid);
    grid->map.columns = 8;
    grid->rows = 2;
    grid->cells = cells;
    browse.legend.count = SESSION_COLORS;
    for (size_t i = 0; i < SESSION_COLORS; i++)
        snprintf(browse.legend.entry[i].label, sizeof(browse.legend.entry[i].label),
                 "function_with_a_name_%zu", i);
    for (int i = 0; i < 16; i++)
        cells[i] = (struct session_cell){.used = i < 13, .color = (uint8_t)(i % 9)};
    cells[9] = (struct session_cell){.filtered = 5, .color = 10}; /* has no colour */
    assert_int_equal(named(grid, &browse, 80, 2), 0x1ff);
    assert_int_equal(named(grid, &browse, 120, 1), 0x1ff);
    /* Without room for all, the first ones are named. */
    assert_int_equal(named(grid, &browse, 40, 1), 0x3);
    grid->cells = NULL;
    assert_int_equal(named(grid, &browse, 80, 2), 0);
    free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_counted_with_headings),
        cmocka_unit_test(rows_and_addresses_lead_to_each_other),
        cmocka_unit_test(addresses_outside_go_to_the_nearest_region),
        cmocka_unit_test(use_over_time_ends_at_the_end_of_the_run),
        cmocka_unit_test(everything_is_fitted_in_with_the_smallest_cells),
        cmocka_unit_test(layouts_lie_within_the_screen),
        cmocka_unit_test(the_legend_names_the_colours_on_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
