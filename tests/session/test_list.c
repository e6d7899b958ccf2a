/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the sorted list of a selection with the rows of the filter's own `sort`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "session/filter/sort_order.h"
#include "session/rows.h"
#include "tests/soak.h"

#define PATH "list.db"

static struct session *session;
static struct session_error error;

static const char *const fields[ROWS_FIELDS] = {[ROWS_BY_ID] = "id",
                                                [ROWS_BY_ADDRESS] = "address",
                                                [ROWS_BY_SIZE] = "size",
                                                [ROWS_BY_COUNT] = "count",
                                                [ROWS_BY_TYPE] = "type",
                                                [ROWS_BY_FUNCTION] = "function",
                                                [ROWS_BY_USER] = "user",
                                                [ROWS_BY_THREAD] = "thread",
                                                [ROWS_BY_TIME] = "alloc_time",
                                                [ROWS_BY_LIFETIME] = "lifetime",
                                                [ROWS_BY_FREE_THREAD] = "free_thread"};

static void open_fixture(size_t allocations, uint64_t tick)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    options.tick = tick;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
}

/* Compares a few rows from `first` on, and their places. */
static void compare(struct selection *list, struct selection *sorted,
                    const struct session_row_order *order, uint64_t first)
{
    uint64_t ids[70], place;
    size_t count;
    const uint64_t total = selection_count(list);
    struct session_allocation allocation;
    assert_true(selection_rows(list, order, first, 70, ids, &count, &error));
    assert_int_equal(count, first >= total ? 0 : total - first < 70 ? total - first : 70);
    for (size_t i = 0; i < count; i++) {
        assert_true(selection_row(sorted, first + i, &allocation));
        if (ids[i] != allocation.id)
            fail_msg("place %llu by %s: %llu, not %llu", (unsigned long long)(first + i),
                     fields[order->field], (unsigned long long)ids[i],
                     (unsigned long long)allocation.id);
    }
    for (size_t i = 0; i < count; i += 23) {
        assert_true(selection_place(list, order, ids[i], &place, &error));
        assert_int_equal(place, first + i);
    }
}

static void check(const char *filter, enum session_row_field field, bool descending)
{
    char text[200];
    const struct session_row_order order = {field, descending};
    snprintf(text, sizeof(text), "%s | sort %s %s", filter, fields[field],
             descending ? "desc" : "asc");
    struct selection *list = selection_new(session, filter, &error);
    struct selection *sorted = selection_new(session, text, &error);
    assert_non_null(list);
    assert_non_null(sorted);
    const uint64_t total = selection_count(list);
    assert_int_equal(total, selection_count(sorted));
    const uint64_t places[] = {0,     1,      4060,       total / 3, total / 2,
                               65500, 131000, total - 90, total,     total + 5};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i] <= total + 5)
            compare(list, sorted, &order, places[i]);
    selection_free(list);
    selection_free(sorted);
}

static void test_every_order(void **state)
{
    static const char *const filters[] = {"all", "all | where size > 60", "leaked",
                                          "all | where id == 77", "all | where size > 1G"};
    static const size_t sizes[] = {1, 5000, 70000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        open_fixture(sizes[i], i == 1 ? 100000 : 0);
        /* The large one has runs of equal keys that are not sorted as a whole. */
        const size_t used = i == 2 ? 2 : sizeof(filters) / sizeof(filters[0]);
        for (size_t f = 0; f < used; f++)
            for (int field = ROWS_BY_ID; field < ROWS_FIELDS; field++)
                for (int descending = 0; descending < 2; descending++)
                    if (i < 2 || descending == field % 2 || in_soak(true, false))
                        check(filters[f], (enum session_row_field)field, descending != 0);
        session_close(session);
    }
}

/* The order of the filter itself, also by a field that is not a column of the list. */
static void test_filters_order(void **state)
{
    static const char *const filters[] = {
        "all", "all | sort size desc", "all | sort line", "live at peak | sort pins desc",
        "all | color red where size > 64 | color blue where thread == 1 | sort color"};
    open_fixture(70000, 0);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        const struct session_row_order order = {ROWS_AS_FILTERED, false};
        struct selection *selection = selection_new(session, filters[i], &error);
        assert_non_null(selection);
        compare(selection, selection, &order, 0);
        compare(selection, selection, &order, selection_count(selection) / 2);
        selection_free(selection);
    }
    session_close(session);
}

static void test_not_selected(void **state)
{
    const struct session_row_order order = {ROWS_BY_SIZE, true};
    uint64_t place;
    open_fixture(5000, 0);
    struct selection *selection = selection_new(session, "all | where id > 100", &error);
    assert_non_null(selection);
    assert_false(selection_place(selection, &order, 100, &place, &error));
    assert_string_equal(error.message, "");
    assert_false(selection_place(selection, &order, 0, &place, &error));
    assert_false(selection_place(selection, &order, UINT64_MAX, &place, &error));
    selection_free(selection);
    session_close(session);
}

/* Keys that differ in some bits only, few and many of them. Equal keys keep their order. */
static void test_sort(void **state)
{
    static const uint64_t differing[] = {0, 1, 0xff0, 0x3ffff, UINT64_C(0x7ffff) << 45, UINT64_MAX};
    static const size_t counts[] = {0, 1, 2, 1000, 40000, 300000};
    struct sort_entry *entries = malloc(counts[5] * sizeof(*entries));
    uint64_t chance = 5;
    assert_non_null(entries);
    for (size_t i = 0; i < 36; i++) {
        const size_t count = counts[i / 6];
        for (size_t k = 0; k < count; k++) {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            entries[k] = (struct sort_entry){~differing[i % 6] | chance, k};
        }
        assert_true(sort_entries(entries, count));
        for (size_t k = 1; k < count; k++) {
            assert_true(entries[k - 1].key <= entries[k].key);
            if (entries[k - 1].key == entries[k].key)
                assert_true(entries[k - 1].row < entries[k].row);
        }
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order), cmocka_unit_test(test_filters_order),
        cmocka_unit_test(test_not_selected), cmocka_unit_test(test_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
