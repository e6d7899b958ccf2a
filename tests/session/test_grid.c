/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the memory grid and its queries with plain computations over the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rows.h"
#include "session/session.h"
#include "tests/soak.h"

#define PATH "grid.db"
#define CELLS 64

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;
static size_t many_small; /* cells whose colour is that of many small blocks */

static bool live_at(const struct row *row, uint64_t ns)
{
    return row->alloc_ns <= ns && ns < row->free_ns;
}

static uint64_t end_of(const struct row *row)
{
    return row->address + (row->size > 0 ? row->size : 1);
}

static uint64_t overlap(const struct row *row, uint64_t from, uint64_t to)
{
    uint64_t start = row->address > from ? row->address : from;
    uint64_t end = row->address + row->size < to ? row->address + row->size : to;
    return end > start ? end - start : 0;
}

/* Returns the legend position of a row. */
static size_t color_of(struct selection *selection, uint64_t id, enum session_color_by by)
{
    struct session_allocation allocation;
    assert_true(session_allocation(session, id, &allocation, &error));
    return selection_color(selection, by, &allocation);
}

static void check_cell(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                       enum session_color_by by, const struct session_cell *cell)
{
    uint64_t used = 0, filtered = 0;
    uint64_t sums[2][SESSION_COLORS] = {{0}}, most[2][SESSION_COLORS] = {{0}}; /* selected: 1 */
    bool starts = false, any[2] = {false, false};
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (row->address >= to || end_of(row) <= from || !live_at(row, ns))
            continue;
        const uint64_t bytes = overlap(row, from, to);
        const bool selected = selection_contains(selection, row->id);
        const size_t color = color_of(selection, row->id, by);
        *(selected ? &used : &filtered) += bytes;
        starts |= row->address >= from;
        any[selected] = true;
        sums[selected][color] += bytes;
        most[selected][color] = bytes > most[selected][color] ? bytes : most[selected][color];
    }
    assert_int_equal(cell->used, used);
    assert_int_equal(cell->filtered, filtered);
    assert_int_equal(cell->starts, starts);
    assert_int_equal(cell->id != 0, any[0] || any[1]);
    if (cell->id == 0)
        return;
    /* The colour with the most bytes, and the largest block of it. */
    const uint64_t *here = sums[any[1]];
    for (size_t color = 0; color < SESSION_COLORS; color++)
        assert_true(here[color] <= here[cell->color]);
    const struct row *owner = &rows[cell->id - 1];
    assert_true(live_at(owner, ns));
    assert_int_equal(selection_contains(selection, cell->id), any[1]);
    assert_int_equal(overlap(owner, from, to), most[any[1]][cell->color]);
    assert_int_equal(cell->color, color_of(selection, cell->id, by));
    if (cell->id != 0 && here[cell->color] > 2 * most[any[1]][cell->color])
        many_small++;
}

/* So with every colouring. */
static void check_colors(struct selection *selection, uint64_t ns, uint64_t address)
{
    struct session_cell cells[CELLS];
    for (int by = SESSION_COLOR_NONE; by <= SESSION_COLOR_KIND; by++) {
        assert_true(selection_grid(selection, ns, address, 256, CELLS, (enum session_color_by)by,
                                   cells, &error));
        for (uint64_t i = 0; i < CELLS; i += 7)
            check_cell(selection, ns, address + i * 256, address + (i + 1) * 256,
                       (enum session_color_by)by, &cells[i]);
    }
}

static void check_grid(struct selection *selection, uint64_t ns, uint64_t address,
                       uint64_t bytes_per_cell)
{
    struct session_cell cells[CELLS];
    assert_true(selection_grid(selection, ns, address, bytes_per_cell, CELLS,
                               SESSION_COLOR_FUNCTION, cells, &error));
    for (uint64_t i = 0; i < CELLS; i++)
        check_cell(selection, ns, address + i * bytes_per_cell, address + (i + 1) * bytes_per_cell,
                   SESSION_COLOR_FUNCTION, &cells[i]);
}

static void check_address(uint64_t ns, uint64_t address)
{
    uint64_t at = 0;
    const struct row *below = NULL;
    const struct row *above = NULL;
    uint64_t history = 0;
    uint64_t last_free = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (row->address == address && row->free_ns != SESSION_LIVE && row->free_ns <= ns) {
            history++;
            last_free = row->free_ns > last_free ? row->free_ns : last_free;
        }
        if (!live_at(row, ns))
            continue;
        if (row->address <= address && end_of(row) > address)
            at = row->id;
        if (end_of(row) <= address && (!below || row->address > below->address))
            below = row;
        if (row->address > address && (!above || row->address < above->address))
            above = row;
    }
    uint64_t found_below;
    uint64_t found_above;
    uint64_t found_last;
    assert_int_equal(session_allocation_at(session, ns, address), at);
    session_neighbours(session, ns, address, &found_below, &found_above);
    assert_int_equal(found_below, !below ? 0 : below->id);
    assert_int_equal(found_above, !above ? 0 : above->id);
    assert_int_equal(session_address_history(session, ns, address, &found_last), history);
    assert_int_equal(found_last, last_free);
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static void check_regions(uint64_t ns)
{
    struct row *live = malloc((row_count + 1) * sizeof(*live));
    size_t count = 0;
    assert_non_null(live);
    for (size_t i = 0; i < row_count; i++) {
        if (live_at(&rows[i], ns))
            live[count++] = rows[i];
    }
    qsort(live, count, sizeof(*live), compare_rows);
    struct session_region *regions;
    size_t region_count;
    assert_true(session_regions(session, ns, &regions, &region_count, &error));
    size_t at = 0;
    for (size_t r = 0; r < region_count; r++) {
        uint64_t used = 0;
        uint64_t blocks = 0;
        uint64_t end = regions[r].start;
        assert_int_equal(regions[r].start, live[at].address);
        while (at < count && (blocks == 0 || live[at].address < end + (16 << 20))) {
            used += live[at].size;
            end = end_of(&live[at++]);
            blocks++;
        }
        assert_int_equal(regions[r].end, end);
        assert_int_equal(regions[r].used_bytes, used);
        assert_int_equal(regions[r].count, blocks);
    }
    assert_int_equal(at, count);
    free(regions);
    free(live);
}

static void check_session(uint64_t seed, size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    rows = rows_load(PATH, &row_count);
    static const char *const filters[] = {"all", "all | where size > 64 and thread == 1",
                                          "all | color red where size > 64"};
    uint64_t end = session_duration_ns(session);
    /* Forwards and backwards, near and far: each list is made from the one before. */
    const uint64_t times[] = {0,       end / 4,       end / 4 + 700, end / 3,
                              end / 5, end / 2 + 100, end + 1,       session_peak_ns(session)};
    for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
        check_regions(times[t]);
        for (size_t f = 0; f < 3; f++) {
            struct selection *selection = selection_new(session, filters[f], &error);
            assert_non_null(selection);
            for (size_t i = 0; i < row_count;
                 i += row_count / (row_count > 10000 ? in_soak(5, 2) : 5) + 1) {
                check_grid(selection, times[t], rows[i].address - 200, 16);
                check_grid(selection, times[t], rows[i].address - 5, 1);
                check_grid(selection, times[t], rows[i].address - 77777, 4099);
                check_colors(selection, times[t], rows[i].address - 3000);
                check_address(times[t], rows[i].address);
                check_address(times[t], rows[i].address + rows[i].size / 2 + 3);
            }
            check_grid(selection, times[t], 0, UINT64_C(1) << 40);
            check_address(times[t], 0);
            check_address(times[t], UINT64_MAX);
            selection_free(selection);
        }
    }
    session_close(session);
    free(rows);
}

static void test_grid(void **state)
{
    check_session(1, 1);
    check_session(2, 300);
    check_session(3, 2500);
    check_session(4, 68000);
    assert_true(many_small > 0);
}

static void test_edges_of_the_address_space(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_cell cells[CELLS];
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    struct selection *selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    assert_true(selection_grid(selection, 5, UINT64_MAX - 100, 16, CELLS, SESSION_COLOR_NONE, cells,
                               &error));
    for (size_t i = 0; i < CELLS; i++)
        assert_int_equal(cells[i].id, 0);
    assert_false(selection_grid(selection, 5, 0, 0, CELLS, SESSION_COLOR_NONE, cells, &error));
    assert_false(selection_grid(selection, 5, 0, 16, 0, SESSION_COLOR_NONE, cells, &error));
    selection_free(selection);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_edges_of_the_address_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
