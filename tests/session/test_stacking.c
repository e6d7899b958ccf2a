/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares selections stacked by fields and groups with plain sums over the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rows.h"
#include "session/time.h"
#include "session/session.h"
#include "session/stacking.h"

#define PATH "stacking.db"
#define NAMED (SESSION_COLORS - 1)
#define SLOTS 5

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 4000;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    rows = rows_load(PATH, &row_count);
    return 0;
}

static int close_fixture(void **state)
{
    session_close(session);
    free(rows);
    return 0;
}

/* The keys of a row, as one number. */
static uint64_t thread_and_kind(const struct row *row)
{
    return (uint64_t)row->thread << 32 | row->kind;
}

static uint64_t stack_and_kind(const struct row *row)
{
    return (uint64_t)row->stack << 32 | row->kind;
}

static uint64_t thread_only(const struct row *row)
{
    return row->thread;
}

struct group {
    uint64_t key, at_peak_bytes, bytes, allocations;
    size_t position;
};

static struct group *groups;
static size_t group_count;

static struct group *group_of(uint64_t key)
{
    for (size_t i = 0; i < group_count; i++)
        if (groups[i].key == key)
            return &groups[i];
    groups = realloc(groups, (group_count + 1) * sizeof(*groups));
    assert_non_null(groups);
    groups[group_count] = (struct group){.key = key, .position = SIZE_MAX};
    return &groups[group_count++];
}

static size_t position_of(const struct session_stacking *stacking, const struct row *row)
{
    struct session_allocation allocation;
    assert_true(session_allocation(session, row->id, &allocation, &error));
    return selection_color(stacking->selection, stacking->by, &allocation);
}

/* Checks that each group has one layer, and sums the groups up. */
static void find_groups(const struct session_stacking *stacking,
                        uint64_t (*key)(const struct row *row))
{
    const uint64_t peak = session_peak_ns(session);
    group_count = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (!selection_contains(stacking->selection, row->id))
            continue;
        struct group *group = group_of(key(row));
        const size_t position = position_of(stacking, row);
        assert_true(group->position == SIZE_MAX || group->position == position);
        group->position = position;
        group->bytes += row->size;
        group->allocations++;
        group->at_peak_bytes += row->alloc_ns <= peak && row->free_ns > peak ? row->size : 0;
    }
}

static bool is_larger(const struct group *a, const struct group *b)
{
    if (a->at_peak_bytes != b->at_peak_bytes)
        return a->at_peak_bytes > b->at_peak_bytes;
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->allocations > b->allocations;
}

/* Checks the legend: the largest groups in their order, each alone, and the others together. */
static void check_legend(const struct session_stacking *stacking)
{
    struct session_legend legend;
    struct group of[SESSION_COLORS] = {{.key = 0}};
    uint64_t rest_bytes = 0, rest_allocations = 0;
    selection_legend(stacking->selection, stacking->by, &legend);
    assert_int_equal(legend.count, group_count > NAMED ? SESSION_COLORS : group_count);
    for (size_t i = 0; i < group_count; i++) {
        const size_t position = groups[i].position;
        assert_true(position < SESSION_COLORS);
        if (position == NAMED) {
            rest_bytes += groups[i].bytes;
            rest_allocations += groups[i].allocations;
            continue;
        }
        assert_int_equal(of[position].allocations, 0);
        of[position] = groups[i];
        assert_int_equal(legend.entry[position].bytes, groups[i].bytes);
        assert_int_equal(legend.entry[position].allocations, groups[i].allocations);
        assert_true(legend.entry[position].label[0] != 0);
    }
    for (size_t i = 0; i < group_count; i++)
        if (groups[i].position > 0)
            assert_false(is_larger(&groups[i], &of[groups[i].position - 1]));
    if (group_count > NAMED) {
        assert_string_equal(legend.entry[NAMED].label, "rest");
        assert_int_equal(legend.entry[NAMED].bytes, rest_bytes);
        assert_int_equal(legend.entry[NAMED].allocations, rest_allocations);
    }
}

/* Checks the layers over time. */
static void check_slots(const struct session_stacking *stacking)
{
    struct session_slot slots[SLOTS];
    uint64_t births[SLOTS][SESSION_COLORS];
    const uint64_t end = session_duration_ns(session) + 1;
    assert_true(
        selection_timeline(stacking->selection, 0, end, SLOTS, stacking->by, slots, &error));
    assert_true(selection_births(stacking->selection, 0, end, SLOTS, stacking->by, births, &error));
    for (uint64_t i = 0; i < SLOTS; i++) {
        const uint64_t from = end * i / SLOTS, to = end * (i + 1) / SLOTS;
        uint64_t live[SESSION_COLORS] = {0}, born[SESSION_COLORS] = {0};
        for (size_t k = 0; k < row_count; k++) {
            if (!selection_contains(stacking->selection, rows[k].id))
                continue;
            const size_t position = position_of(stacking, &rows[k]);
            live[position] += rows[k].alloc_ns < to && rows[k].free_ns >= to ? rows[k].size : 0;
            born[position] += rows[k].alloc_ns >= from && rows[k].alloc_ns < to;
        }
        for (size_t layer = 0; layer < SESSION_COLORS; layer++) {
            assert_int_equal(slots[i].color_bytes[layer], live[layer]);
            assert_int_equal(births[i][layer], born[layer]);
        }
    }
}

static void check(const char *filter, const char *by, uint64_t (*key)(const struct row *row))
{
    struct session_stacking stacking;
    struct selection *selection = selection_new(session, filter, &error);
    assert_non_null(selection);
    assert_true(session_stacking_check(session, filter, by, &error));
    assert_true(selection_stacking(selection, by, &stacking, &error));
    assert_int_equal(selection_count(stacking.selection), selection_count(selection));
    assert_int_equal(selection_peak_bytes(stacking.selection), selection_peak_bytes(selection));
    find_groups(&stacking, key);
    check_legend(&stacking);
    check_slots(&stacking);
    selection_free(selection);
}

static void test_fields(void **state)
{
    check("all", "thread, kind", thread_and_kind);
    check("all", "stack, kind", stack_and_kind);
    check("leaked", "kind, thread", thread_and_kind);
    check("all | where size > 100", "kind, stack", stack_and_kind);
    check("all | color red where size > 64", "thread,kind", thread_and_kind);
    check("all | where id == 77", "thread, kind", thread_and_kind);
    check("all | where size > 1G", "thread, kind", thread_and_kind);
    check("all | join kind", "thread", thread_only);
}

static void test_groups(void **state)
{
    check("all | join thread, kind", "groups", thread_and_kind);
    check("all | where size > 64 | join thread, kind | where bytes > 10K", "groups",
          thread_and_kind);
    check("all | join stack, kind | sort bytes | top 30", "groups", stack_and_kind);
    check("all | join thread | color red where bytes > 1K", "groups", thread_only);
}

/* A fold's groups are those of the filter, not of a second fold of what is left. */
static void test_fold(void **state)
{
    struct session_stacking stacking;
    struct session_legend legend;
    uint64_t allocations = 0;
    struct selection *selection =
        selection_new(session, "all | fold 16K | where bytes > 20K", &error);
    assert_non_null(selection);
    assert_true(selection_stacking(selection, SESSION_STACKING_GROUPS, &stacking, &error));
    selection_legend(stacking.selection, stacking.by, &legend);
    for (size_t i = 0; i < legend.count; i++)
        allocations += legend.entry[i].allocations;
    assert_int_equal(allocations, selection_count(selection));
    selection_free(selection);
}

static void test_colorings(void **state)
{
    struct session_stacking stacking;
    struct selection *selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    assert_true(selection_stacking(selection, "lifetime", &stacking, &error));
    assert_ptr_equal(stacking.selection, selection);
    assert_int_equal(stacking.by, SESSION_COLOR_LIFETIME);
    /* The last one is kept. */
    assert_true(selection_stacking(selection, "caller", &stacking, &error));
    const struct selection *kept = stacking.selection;
    assert_true(selection_stacking(selection, "caller", &stacking, &error));
    assert_ptr_equal(stacking.selection, kept);
    selection_free(selection);
}

static bool count_word(void *context, const char *word, bool name)
{
    assert_false(name);
    assert_true(session_stacking_check(session, "all", word, &error));
    return ++*(size_t *)context < 1000;
}

static void test_words(void **state)
{
    struct session_stacking stacking;
    size_t words = 0;
    session_stacking_fields(count_word, &words);
    assert_true(words > 15);
    static const char *const bad[] = {"groups",
                                      "nonsense",
                                      "address",
                                      "type, type",
                                      "type | count",
                                      "frame",
                                      "thread where size > 1",
                                      ""};
    struct selection *selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        error.message[0] = 0;
        assert_false(session_stacking_check(session, "all", bad[i], &error));
        assert_true(error.message[0] != 0);
        error.message[0] = 0;
        assert_false(selection_stacking(selection, bad[i], &stacking, &error));
        assert_true(error.message[0] != 0);
    }
    assert_false(session_stacking_check(session, "all", "thread, kin", &error));
    assert_int_equal(error.column, 9);
    selection_free(selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_fold),   cmocka_unit_test(test_colorings),
        cmocka_unit_test(test_words),
    };
    const int failed = cmocka_run_group_tests(tests, open_fixture, close_fixture);
    free(groups);
    return failed;
}
