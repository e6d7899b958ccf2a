/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the search for holes with a plain look at every cell, and checks the help's examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/browser/help.h"
#include "tui/view/memory/holes.h"
#include "fixture.h"

#define PATH "holes.db"

struct world {
    struct session *session;
    struct selection *selection;
    uint64_t ns;
    struct session_region *regions;
    struct memory_map map;
};

static int open_world(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    struct world *world = calloc(1, sizeof(*world));
    options.allocations = 8000;
    if (!world || !fixture_write(PATH, &options))
        return -1;
    world->session = session_open(PATH, &error);
    if (!world->session)
        return -1;
    world->ns = session_peak_ns(world->session);
    world->selection = selection_new(world->session, "all | where size > 100", &error);
    if (!world->selection || !session_regions(world->session, world->ns, &world->regions,
                                              &world->map.region_count, &error))
        return -1;
    world->map.regions = world->regions;
    world->map.bytes_per_cell = 4096;
    world->map.columns = 64;
    *state = world;
    return 0;
}

static int close_world(void **state)
{
    struct world *world = *state;
    free(world->regions);
    selection_free(world->selection);
    session_close(world->session);
    free(world);
    return 0;
}

/* Finds every hole's first cell, in order, by looking at each cell separately. */
static size_t plain_holes(struct world *world, uint64_t *holes, size_t capacity, uint64_t *largest)
{
    size_t count = 0;
    *largest = 0;
    for (size_t r = 0; r < world->map.region_count; r++) {
        uint64_t start = world->map.regions[r].start;
        start -= start % world->map.bytes_per_cell;
        uint64_t run = 0;
        for (uint64_t at = start; at < world->map.regions[r].end; at += world->map.bytes_per_cell) {
            struct session_cell cell = {0};
            struct session_error error = {.message = ""};
            assert_true(selection_grid(world->selection, world->ns, at, world->map.bytes_per_cell,
                                       1, SESSION_COLOR_NONE, &cell, &error));
            bool hole = cell.used == 0 && cell.filtered == 0;
            if (hole && run == 0) {
                assert_true(count < capacity);
                holes[count++] = at;
            }
            run = hole ? run + world->map.bytes_per_cell : 0;
            *largest = run > *largest ? run : *largest;
        }
    }
    return count;
}

static void search_finds_each_hole_both_ways(void **state)
{
    struct world *world = *state;
    static uint64_t holes[4096];
    uint64_t largest, at = world->map.regions[0].start;
    struct session_error error = {.message = ""};
    size_t count = plain_holes(world, holes, 4096, &largest);
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(memory_hole_above(&world->map, world->selection, world->ns, &at, &error));
        assert_int_equal(at, holes[i]);
    }
    assert_false(memory_hole_above(&world->map, world->selection, world->ns, &at, &error));
    at = world->map.regions[world->map.region_count - 1].end - 1;
    for (size_t i = count; i-- > 0;) {
        assert_true(memory_hole_below(&world->map, world->selection, world->ns, &at, &error));
        assert_int_equal(at, holes[i]);
    }
    assert_false(memory_hole_below(&world->map, world->selection, world->ns, &at, &error));
    assert_string_equal(error.message, "");
}

static void use_counts_the_same_holes(void **state)
{
    struct world *world = *state;
    static uint64_t holes[4096];
    uint64_t largest, sum = 0, most = 0;
    size_t count = plain_holes(world, holes, 4096, &largest);
    for (size_t r = 0; r < world->map.region_count; r++) {
        const struct session_region *region = &world->map.regions[r];
        struct session_error error = {.message = ""};
        struct memory_use use;
        assert_true(memory_use_load(world->selection, world->ns, region, world->map.bytes_per_cell,
                                    &use, &error));
        assert_int_equal(use.resolution, world->map.bytes_per_cell);
        assert_int_equal(use.selected_bytes + use.filtered_bytes, region->used_bytes);
        sum += use.holes;
        most = use.largest_hole > most ? use.largest_hole : most;
    }
    assert_int_equal(sum, count);
    assert_int_equal(most, largest);
}

static void filters_of_the_help_parse(void **state)
{
    (void)state;
    size_t count = 0;
    const struct filter_example *examples = help_filter_examples(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct session_error error = {.message = ""};
        if (!filter_check(examples[i].text, &error))
            fail_msg("%s: column %d: %s", examples[i].text, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_finds_each_hole_both_ways),
        cmocka_unit_test(use_counts_the_same_holes),
        cmocka_unit_test(filters_of_the_help_parse),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
