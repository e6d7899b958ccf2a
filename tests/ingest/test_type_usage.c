/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live blocks of types, compared with a replay that knows each block's last type from the
 * beginning: random blocks, some of which are named at once, and some late.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/replay/totals.h"

enum { TYPES = 5, BLOCKS = 400, EVENTS = 1200, RUNS = 200 };

enum event_kind { ALLOCATE, FREE, RENAME };
struct event {
    enum event_kind kind;
    uint32_t block, type; /* of RENAME: the new one */
};

struct run {
    struct event events[EVENTS];
    size_t count;
    uint64_t sizes[BLOCKS];
    uint32_t first_type[BLOCKS], last_type[BLOCKS];
    uint32_t blocks;
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void put(struct run *run, enum event_kind kind, uint32_t block, uint32_t type)
{
    run->events[run->count++] = (struct event){kind, block, type};
}

static void make(struct run *run, bool late)
{
    uint32_t live[BLOCKS], live_count = 0;
    memset(run, 0, sizeof(*run));
    while (run->count + 2 < EVENTS && run->blocks < BLOCKS) {
        if (live_count > 0 && draw(100) < 45) {
            uint32_t at = (uint32_t)draw(live_count);
            put(run, FREE, live[at], 0);
            live[at] = live[--live_count];
            continue;
        }
        uint32_t block = run->blocks++;
        run->sizes[block] = draw(5000);
        run->first_type[block] = run->last_type[block] = (uint32_t)draw(TYPES);
        put(run, ALLOCATE, block, run->first_type[block]);
        live[live_count++] = block;
        if (draw(3) != 0)
            continue;
        uint32_t named = late ? live[draw(live_count)] : block;
        run->last_type[named] = (uint32_t)draw(TYPES);
        put(run, RENAME, named, run->last_type[named]);
    }
}

/* Replays with type_usages. `renames`: blocks begin with their first type, else with their last. */
static void replay(const struct run *run, struct type_usages *usages, bool renames)
{
    uint64_t order[BLOCKS] = {0}, live = 0, peak = 0;
    uint32_t type[BLOCKS] = {0};
    struct type_moment now = {0, 1, 0};
    for (size_t i = 0; i < run->count; i++) {
        const struct event *event = &run->events[i];
        uint32_t block = event->block;
        uint64_t size = run->sizes[block];
        if (event->kind == ALLOCATE) {
            type[block] = renames ? run->first_type[block] : run->last_type[block];
            order[block] = ++now.order;
            assert_true(type_usages_allocate(usages, type[block], size, &now));
            live += size;
            if (live > peak) {
                peak = live;
                now.peak_order = now.order;
                now.generation++;
            }
        } else if (event->kind == FREE) {
            type_usages_free(usages, type[block], size, &now);
            live -= size;
        } else if (renames) {
            assert_true(
                type_usages_rename(usages, type[block], event->type, size, order[block], &now));
            type[block] = event->type;
        }
    }
    type_usages_finish(usages, now.generation);
}

static size_t compare_runs(bool late)
{
    static struct run run;
    size_t unknown = 0;
    for (int i = 0; i < RUNS; i++) {
        struct type_usages usages = {0}, expected = {0};
        make(&run, late);
        replay(&run, &usages, true);
        replay(&run, &expected, false);
        for (size_t type = 0; type < TYPES; type++) {
            struct type_usage is = type_usages_of(&usages, type);
            struct type_usage should = type_usages_of(&expected, type);
            assert_int_equal(is.allocations, should.allocations);
            assert_int_equal(is.bytes, should.bytes);
            assert_int_equal(is.live_count, should.live_count);
            assert_int_equal(is.live_bytes, should.live_bytes);
            assert_int_equal(is.at_peak_count, should.at_peak_count);
            assert_int_equal(is.at_peak_bytes, should.at_peak_bytes);
            unknown += is.peak_unknown;
            if (!is.peak_unknown)
                assert_int_equal(is.peak_bytes, should.peak_bytes);
        }
        type_usages_free_memory(&usages);
        type_usages_free_memory(&expected);
    }
    return unknown;
}

static void named_at_once_is_exact(void **state)
{
    random_state = 88172645463325252;
    assert_int_equal(compare_runs(false), 0);
}

static void named_late_is_exact_or_unknown(void **state)
{
    random_state = 1234567;
    assert_in_range(compare_runs(true), 1, RUNS * TYPES);
}

static void machines_are_joined(void **state)
{
    static struct run runs[2];
    struct type_usages part[2] = {{0}, {0}}, sum = {0};
    random_state = 42;
    for (size_t i = 0; i < 2; i++) {
        make(&runs[i], false);
        replay(&runs[i], &part[i], true);
        assert_true(type_usages_join(&sum, &part[i], i == 0));
    }
    for (size_t type = 0; type < TYPES; type++) {
        struct type_usage a = type_usages_of(&part[0], type), b = type_usages_of(&part[1], type);
        struct type_usage both = type_usages_of(&sum, type);
        assert_int_equal(both.allocations, a.allocations + b.allocations);
        assert_int_equal(both.live_bytes, a.live_bytes + b.live_bytes);
        assert_int_equal(both.at_peak_bytes, a.at_peak_bytes);
        assert_int_equal(both.peak_bytes,
                         a.peak_bytes > b.peak_bytes ? a.peak_bytes : b.peak_bytes);
    }
    for (size_t i = 0; i < 2; i++)
        type_usages_free_memory(&part[i]);
    type_usages_free_memory(&sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_at_once_is_exact),
        cmocka_unit_test(named_late_is_exact_or_unknown),
        cmocka_unit_test(machines_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
