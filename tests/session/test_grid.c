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

#define PATH "grid.db"
#define CELLS 64

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

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

static void check_cell(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                       const struct session_cell *cell)
{
    uint64_t used = 0;
    uint64_t filtered = 0;
    uint64_t best = 0;
    bool starts = false;
    bool any = false;
    bool any_selected = false;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (!live_at(row, ns) || row->address >= to || end_of(row) <= from)
            continue;
        uint64_t bytes = overlap(row, from, to);
        bool selected = selection_contains(selection, row->id);
        *(selected ? &used : &filtered) += bytes;
        starts |= row->address >= from;
        any = true;
        if (selected && !any_selected)
            best = 0;
        any_selected |= selected;
        if (selected == any_selected && bytes > best)
            best = bytes;
    }
    assert_int_equal(cell->used, used);
    assert_int_equal(cell->filtered, filtered);
    assert_int_equal(cell->starts, starts);
    assert_int_equal(cell->id != 0, any);
    if (!any)
        return;
    const struct row *owner = &rows[cell->id - 1];
    assert_true(live_at(owner, ns));
    assert_int_equal(selection_contains(selection, cell->id), any_selected);
    assert_int_equal(overlap(owner, from, to), best);
    struct session_allocation allocation;
    assert_true(session_allocation(session, cell->id, &allocation, &error));
    assert_int_equal(cell->color, selection_color(selection, SESSION_COLOR_FUNCTION, &allocation));
}

/* With every colouring a cell has the colour that its allocation has elsewhere. */
static void check_colors(struct selection *selection, uint64_t ns, uint64_t address)
{
    struct session_cell cells[CELLS];
    for (int by = SESSION_COLOR_NONE; by <= SESSION_COLOR_KIND; by++) {
        assert_true(selection_grid(selection, ns, address, 256, CELLS, (enum session_color_by)by,
                                   cells, &error));
        for (size_t i = 0; i < CELLS; i++) {
            struct session_allocation allocation;
            if (cells[i].id == 0)
                continue;
            assert_true(session_allocation(session, cells[i].id, &allocation, &error));
            assert_int_equal(cells[i].color,
                             selection_color(selection, (enum session_color_by)by, &allocation));
        }
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
                   &cells[i]);
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
            for (size_t i = 0; i < row_count; i += row_count / 5 + 1) {
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
    (void)state;
    check_session(1, 1);
    check_session(2, 300);
    check_session(3, 2500);
    check_session(4, 68000);
}

static void test_edges_of_the_address_space(void **state)
{
    (void)state;
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
