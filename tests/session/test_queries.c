/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares peaks, legends, timelines and functions with plain computations over the rows. */
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
#include "session/time.h"
#include "session/table/peaks.h"
#include "session/session.h"
#include "session/stacks.h"
#include "session/user_code.h"
#include "tests/soak.h"

#define PATH "queries.db"
#define FUNCTIONS 151
#define SHORT_LIVED_NS 1000000

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

static void write_fixture(const char *path, uint64_t seed, size_t allocations, uint64_t huge)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = allocations;
    options.huge = huge;
    assert_true(fixture_write(path, &options));
    assert_true(fixture_sql(path, "UPDATE type SET name = 'Request' WHERE id = 4"));
    if (seed % 2 == 0)
        assert_true(fixture_sample_all(path));
}

static void open_fixture(const char *path)
{
    session = session_open(path, &error);
    assert_non_null(session);
    rows = rows_load(path, &row_count);
}

static void close_fixture(void)
{
    session_close(session);
    free(rows);
}

static const char *const filters[] = {
    "all",
    "all | where size > 100",
    "live at peak",
    "leaked",
    "all | where function ~ \"parse\" and thread == 2",
    "all | where lifetime < 2us",
    "all | where id == 77",
    "all | where size > 1G",
    "all | color red where size > 64 | color blue where thread == 1 | sort size | top 2000",
};
#define FILTERS (sizeof(filters) / sizeof(filters[0]))

/* Runs `check` with each filter on sessions of several seeds and sizes, which the first call
 * writes. */
static void with_selections(void (*check)(struct selection *selection))
{
    static const size_t sizes[] = {1, 50, 3000, 4000, 70000};
    static const uint64_t huge[] = {0, 0, UINT64_C(1) << 42, 0, 0};
    static bool written;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        char path[] = "queries-0.db";
        path[8] = (char)('0' + seed);
        if (!written)
            write_fixture(path, seed, sizes[seed - 1], huge[seed - 1]);
        open_fixture(path);
        assert_int_equal(row_count, sizes[seed - 1]);
        const size_t step = in_soak(1, seed < 5 ? 2 : 6);
        for (size_t i = seed % step; i < FILTERS; i += step) {
            struct selection *selection = selection_new(session, filters[i], &error);
            assert_non_null(selection);
            check(selection);
            selection_free(selection);
        }
        close_fixture();
    }
    written = true;
}

/* ---- peak ---- */

struct event {
    uint64_t ns, size;
    int allocated;
};

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return a->allocated - b->allocated; /* frees first: live at t is alloc <= t < free */
}

/* Returns the largest live bytes in [from, to], with blocks from before, and their first time. */
static uint64_t brute_peak(const struct selection *selection, uint64_t from, uint64_t to,
                           uint64_t *peak_ns)
{
    struct event *events = malloc((2 * row_count + 1) * sizeof(*events));
    size_t count = 0;
    assert_non_null(events);
    for (size_t i = 0; i < row_count; i++) {
        if (!selection_contains(selection, rows[i].id))
            continue;
        events[count++] = (struct event){rows[i].alloc_ns, rows[i].size, 1};
        if (rows[i].free_ns != SESSION_LIVE)
            events[count++] = (struct event){rows[i].free_ns, rows[i].size, 0};
    }
    qsort(events, count, sizeof(*events), compare_events);
    uint64_t live = 0;
    uint64_t peak = 0;
    *peak_ns = 0;
    for (size_t i = 0; i < count; i++) {
        live = events[i].allocated ? live + events[i].size : live - events[i].size;
        if (events[i].ns > to)
            break;
        bool last = i + 1 == count || events[i + 1].ns != events[i].ns;
        if (events[i].ns < from) {
            peak = live;
        } else if (last && live > peak) {
            peak = live;
            *peak_ns = events[i].ns;
        }
    }
    free(events);
    return peak;
}

static void check_peak(struct selection *selection)
{
    uint64_t peak_ns;
    uint64_t peak = brute_peak(selection, 0, UINT64_MAX, &peak_ns);
    assert_int_equal(selection_peak_bytes(selection), peak);
    assert_int_equal(selection_peak_ns(selection), peak_ns);
}

static void test_peak(void **state)
{
    const size_t kept = peak_events;
    with_selections(check_peak);
    /* With few events at once the search takes many turns. */
    peak_events = 10;
    with_selections(check_peak);
    peak_events = kept;
}

/* ---- legends ---- */

static uint64_t category_of(enum session_color_by by, const struct row *row)
{
    uint64_t class = 0;
    switch (by) {
    case SESSION_COLOR_FUNCTION:
        return row->function;
    case SESSION_COLOR_THREAD:
        return row->thread;
    case SESSION_COLOR_TYPE:
        return row->type == 4 ? 1 : row->type; /* both are named Request */
    case SESSION_COLOR_MODULE:
        return row->module;
    case SESSION_COLOR_USER: {
        struct session_frame frames[64];
        const size_t user = session_stack_user(session, row->stack);
        session_stack(session, row->stack, frames, 64);
        return user == SESSION_NO_FRAME ? 0 : frames[user].function;
    }
    case SESSION_COLOR_OWNER: /* the fixture's owners 1 and 3 have one name */
        return row->stack % 4 == 3 ? 1 : row->stack % 4;
    case SESSION_COLOR_KIND:
        return row->kind;
    case SESSION_COLOR_SIZE:
        while (((uint64_t)1 << class) < row->size)
            class ++;
        return class;
    case SESSION_COLOR_AGE:
        class = row->alloc_ns / (session_duration_ns(session) / 10 + 1);
        return class;
    case SESSION_COLOR_LIFETIME:
        if (row->free_ns == SESSION_LIVE)
            return 9;
        for (uint64_t bound = 1000; class < 8 && row->free_ns - row->alloc_ns >= bound; bound *= 10)
            class ++;
        return class;
    case SESSION_COLOR_NONE:
        break;
    }
    return 0;
}

static void check_legend_of(struct selection *selection, enum session_color_by by)
{
    struct session_legend legend;
    uint64_t bytes[SESSION_COLORS] = {0};
    uint64_t count[SESSION_COLORS] = {0};
    uint64_t position_of[1024];
    uint64_t bytes_of[1024] = {0};
    uint64_t at_peak_of[1024] = {0};
    uint64_t at_peak[SESSION_COLORS] = {0};
    for (size_t i = 0; i < 1024; i++)
        position_of[i] = UINT64_MAX;
    selection_legend(selection, by, &legend);
    for (size_t i = 0; i < row_count; i++) {
        struct session_allocation allocation;
        if (!selection_contains(selection, rows[i].id))
            continue;
        assert_true(session_allocation(session, rows[i].id, &allocation, &error));
        size_t position = selection_color(selection, by, &allocation);
        assert_true(position < legend.count);
        bytes[position] += rows[i].size;
        count[position]++;
        uint64_t category = category_of(by, &rows[i]);
        assert_true(category < 1024);
        bytes_of[category] += rows[i].size;
        uint64_t peak_ns = session_peak_ns(session);
        if (rows[i].alloc_ns <= peak_ns && rows[i].free_ns > peak_ns) {
            at_peak_of[category] += rows[i].size;
            at_peak[position] += rows[i].size;
        }
        if (by == SESSION_COLOR_NONE)
            continue;
        if (position_of[category] == UINT64_MAX)
            position_of[category] = position;
        assert_int_equal(position_of[category], position);
    }
    for (size_t i = 0; i < legend.count; i++) {
        assert_int_equal(legend.entry[i].bytes, bytes[i]);
        assert_int_equal(legend.entry[i].allocations, count[i]);
        assert_true(legend.entry[i].label[0] != '\0');
    }
    bool full = legend.count == SESSION_COLORS;
    if (full)
        assert_string_equal(legend.entry[SESSION_COLORS - 1].label, "rest");
    /* No category of "rest" is larger than a named one. */
    for (size_t a = 0; full && a < 1024; a++) {
        for (size_t b = 0; b < 1024; b++) {
            if (position_of[a] == SESSION_COLORS - 1 && position_of[b] < SESSION_COLORS - 1)
                assert_true(at_peak_of[a] < at_peak_of[b] ||
                            (at_peak_of[a] == at_peak_of[b] && bytes_of[a] <= bytes_of[b]));
        }
    }
    bool scale =
        by == SESSION_COLOR_SIZE || by == SESSION_COLOR_AGE || by == SESSION_COLOR_LIFETIME;
    for (size_t i = 1; !scale && i < legend.count && i < SESSION_COLORS - 1; i++)
        assert_true(
            at_peak[i - 1] > at_peak[i] ||
            (at_peak[i - 1] == at_peak[i] && legend.entry[i - 1].bytes >= legend.entry[i].bytes));
}

static void check_legends(struct selection *selection)
{
    for (int by = SESSION_COLOR_NONE; by <= SESSION_COLOR_KIND; by++)
        check_legend_of(selection, (enum session_color_by)by);
}

static void test_legends(void **state)
{
    with_selections(check_legends);
}

static void test_color_steps(void **state)
{
    write_fixture(PATH, 3, 5000, 0);
    open_fixture(PATH);
    struct selection *selection = selection_new(
        session, "all | color red where size > 64 | color 208 where size > 8K", &error);
    assert_non_null(selection);
    assert_int_equal(selection_color_by(selection), SESSION_COLOR_NONE);
    struct session_legend legend;
    selection_legend(selection, SESSION_COLOR_NONE, &legend);
    assert_int_equal(legend.count, 3);
    bool seen[3] = {false, false, false};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(legend.entry[i].label, "color red where size > 64") == 0) {
            assert_int_equal(legend.entry[i].color, 1);
            seen[0] = true;
        } else if (strcmp(legend.entry[i].label, "color 208 where size > 8K") == 0) {
            assert_int_equal(legend.entry[i].color, 208);
            seen[1] = true;
        } else if (strcmp(legend.entry[i].label, "no colour") == 0) {
            assert_int_equal(legend.entry[i].color, -1);
            seen[2] = true;
        }
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    selection_free(selection);
    selection = selection_new(session, "all | color by thread", &error);
    assert_non_null(selection);
    assert_int_equal(selection_color_by(selection), SESSION_COLOR_THREAD);
    selection_legend(selection, SESSION_COLOR_NONE, &legend);
    assert_int_equal(legend.count, 1);
    assert_string_equal(legend.entry[0].label, "selected");
    selection_free(selection);
    close_fixture();
}

/* ---- timeline ---- */

static void check_slot(struct selection *selection, enum session_color_by by, uint64_t from,
                       uint64_t to, const struct session_slot *slot, const uint64_t *births)
{
    struct session_slot expected = {.live_bytes = 0};
    uint64_t born[SESSION_COLORS] = {0};
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (!selection_contains(selection, row->id))
            continue;
        if (row->alloc_ns >= from && row->alloc_ns < to) {
            struct session_allocation allocation;
            assert_true(session_allocation(session, row->id, &allocation, &error));
            born[selection_color(selection, by, &allocation)]++;
            expected.allocated_bytes += row->size;
            expected.allocated_count++;
        }
        if (row->free_ns >= from && row->free_ns < to) {
            expected.freed_bytes += row->size;
            expected.freed_count++;
        }
        if (row->alloc_ns < to && row->free_ns >= to) {
            struct session_allocation allocation;
            assert_true(session_allocation(session, row->id, &allocation, &error));
            expected.live_bytes += row->size;
            expected.live_count++;
            expected.color_bytes[selection_color(selection, by, &allocation)] += row->size;
        }
    }
    assert_int_equal(slot->live_bytes, expected.live_bytes);
    assert_int_equal(slot->live_count, expected.live_count);
    assert_int_equal(slot->allocated_bytes, expected.allocated_bytes);
    assert_int_equal(slot->allocated_count, expected.allocated_count);
    assert_int_equal(slot->freed_bytes, expected.freed_bytes);
    assert_int_equal(slot->freed_count, expected.freed_count);
    for (size_t i = 0; i < SESSION_COLORS; i++) {
        assert_int_equal(slot->color_bytes[i], expected.color_bytes[i]);
        assert_int_equal(births[i], born[i]);
    }
    uint64_t peak_ns;
    uint64_t peak = brute_peak(selection, from, to, &peak_ns);
    assert_true(slot->peak_bytes >= slot->live_bytes);
    assert_true(slot->peak_bytes <= peak);
    if (selection_peak_ns(selection) >= from && selection_peak_ns(selection) < to)
        assert_int_equal(slot->peak_bytes, selection_peak_bytes(selection));
}

static void check_timeline(struct selection *selection)
{
    struct session_slot slots[7];
    uint64_t births[7][SESSION_COLORS];
    uint64_t end = session_duration_ns(session);
    const struct {
        uint64_t from, to;
        enum session_color_by by;
    } spans[] = {
        {0, end + 1, SESSION_COLOR_FUNCTION},       {0, end + 1, SESSION_COLOR_NONE},
        {end / 3, end / 2, SESSION_COLOR_SIZE},     {end / 2, end / 2 + 3, SESSION_COLOR_KIND},
        {end / 2, end / 2 + 1, SESSION_COLOR_TYPE}, {end, end * 2, SESSION_COLOR_AGE},
    };
    for (size_t s = 0; s < sizeof(spans) / sizeof(spans[0]); s++) {
        uint64_t span = spans[s].to - spans[s].from;
        if (row_count > 10000 && s > 0)
            continue;
        assert_true(selection_timeline(selection, spans[s].from, spans[s].to, 7, spans[s].by, slots,
                                       &error));
        assert_true(selection_births(selection, spans[s].from, spans[s].to, 7, spans[s].by, births,
                                     &error));
        for (uint64_t i = 0; i < 7; i++)
            check_slot(selection, spans[s].by, spans[s].from + span * i / 7,
                       spans[s].from + span * (i + 1) / 7, &slots[i], births[i]);
    }
    assert_false(selection_births(selection, 5, 5, 7, SESSION_COLOR_NONE, births, &error));
    assert_false(selection_timeline(selection, 5, 5, 7, SESSION_COLOR_NONE, slots, &error));
    assert_false(selection_timeline(selection, 0, 5, 0, SESSION_COLOR_NONE, slots, &error));
}

static void test_timeline(void **state)
{
    with_selections(check_timeline);
}

static void check_top_functions(struct selection *selection)
{
    uint64_t from = session_duration_ns(session) / 4;
    uint64_t to = session_duration_ns(session) / 2;
    uint64_t bytes[FUNCTIONS] = {0};
    uint64_t count[FUNCTIONS] = {0};
    size_t functions = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (selection_contains(selection, rows[i].id) && rows[i].alloc_ns >= from &&
            rows[i].alloc_ns < to) {
            bytes[rows[i].function] += rows[i].size;
            functions += count[rows[i].function]++ == 0;
        }
    }
    struct session_share shares[FUNCTIONS];
    assert_int_equal(selection_top_functions(selection, from, to, shares, FUNCTIONS), functions);
    for (size_t i = 0; i < functions; i++) {
        assert_int_equal(shares[i].bytes, bytes[shares[i].function]);
        assert_int_equal(shares[i].count, count[shares[i].function]);
        assert_true(i == 0 || shares[i - 1].bytes >= shares[i].bytes);
    }
    struct session_share first;
    size_t one = selection_top_functions(selection, from, to, &first, 1);
    assert_int_equal(one, functions > 0 ? 1 : 0);
    if (one == 1)
        assert_int_equal(first.function, shares[0].function);
}

static void test_top_functions(void **state)
{
    with_selections(check_top_functions);
}

/* ---- functions ---- */

static void add_row(const struct row *row, struct session_function_row *expected)
{
    struct session_frame frames[64];
    bool counted[FUNCTIONS] = {false};
    size_t depth = session_stack(session, row->stack, frames, 64);
    for (size_t i = 0; i < depth; i++)
        counted[frames[i].function] = true;
    counted[row->function] = true;
    for (size_t id = 0; id < FUNCTIONS; id++) {
        expected[id].total_bytes += counted[id] ? row->size : 0;
        expected[id].total_count += counted[id];
    }
    struct session_function_row *self = &expected[row->function];
    self->self_bytes += row->size;
    self->self_count++;
    if (row->free_ns == SESSION_LIVE) {
        self->live_bytes += row->size;
        self->live_count++;
    } else if (row->free_ns - row->alloc_ns < SHORT_LIVED_NS) {
        self->short_lived++;
    }
    if (row->alloc_ns <= session_peak_ns(session) && row->free_ns > session_peak_ns(session))
        self->at_peak_bytes += row->size;
}

static void check_functions(struct selection *selection)
{
    static struct session_function_row expected[FUNCTIONS];
    memset(expected, 0, sizeof(expected));
    for (size_t i = 0; i < row_count; i++) {
        if (selection_contains(selection, rows[i].id))
            add_row(&rows[i], expected);
    }
    struct session_function_row *found;
    size_t count;
    assert_true(selection_functions(selection, &found, &count, &error));
    size_t occurring = 0;
    for (size_t id = 0; id < FUNCTIONS; id++)
        occurring += expected[id].total_count > 0;
    assert_int_equal(count, occurring);
    for (size_t i = 0; i < count; i++) {
        expected[found[i].function].function = found[i].function;
        assert_memory_equal(&found[i], &expected[found[i].function], sizeof(found[i]));
    }
    free(found);
}

static void test_functions(void **state)
{
    with_selections(check_functions);
}

static void check_edges_of(struct selection *selection, uint32_t function)
{
    static struct session_edge expected[2][FUNCTIONS];
    memset(expected, 0, sizeof(expected));
    for (size_t i = 0; i < row_count; i++) {
        struct session_frame frames[64];
        bool counted[2][FUNCTIONS] = {{false}};
        if (!selection_contains(selection, rows[i].id))
            continue;
        size_t depth = session_stack(session, rows[i].stack, frames, 64);
        for (size_t k = 0; k + 1 < depth; k++) {
            if (frames[k].function == function)
                counted[0][frames[k + 1].function] = true;
            if (frames[k + 1].function == function)
                counted[1][frames[k].function] = true;
        }
        for (size_t side = 0; side < 2; side++) {
            for (size_t id = 0; id < FUNCTIONS; id++) {
                expected[side][id].bytes += counted[side][id] ? rows[i].size : 0;
                expected[side][id].count += counted[side][id];
            }
        }
    }
    struct session_edge *edges[2];
    size_t count[2];
    assert_true(
        selection_edges(selection, function, &edges[0], &count[0], &edges[1], &count[1], &error));
    for (size_t side = 0; side < 2; side++) {
        size_t occurring = 0;
        for (size_t id = 0; id < FUNCTIONS; id++)
            occurring += expected[side][id].count > 0;
        assert_int_equal(count[side], occurring);
        for (size_t i = 0; i < count[side]; i++) {
            const struct session_edge *edge = &edges[side][i];
            assert_int_equal(edge->bytes, expected[side][edge->function].bytes);
            assert_int_equal(edge->count, expected[side][edge->function].count);
            assert_true(i == 0 || edges[side][i - 1].bytes >= edge->bytes);
        }
        free(edges[side]);
    }
}

static void check_edges(struct selection *selection)
{
    if (row_count > 10000)
        return;
    for (uint32_t function = 1; function <= 40; function += 3)
        check_edges_of(selection, function);
}

static void test_edges(void **state)
{
    with_selections(check_edges);
}

/* Modules of one name, as those of several processes, have one entry together. */
static void test_modules_of_one_name(void **state)
{
    struct session_legend legend;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3000;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH, "UPDATE module SET name = 'libc.so.6' WHERE id IN (1, 2, 3)"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    struct selection *named = selection_new(session, "where module == \"libc.so.6\"", &error);
    struct selection *all = selection_new(session, "all", &error);
    assert_non_null(named);
    assert_non_null(all);
    selection_legend(all, SESSION_COLOR_MODULE, &legend);
    uint64_t found = 0;
    for (size_t i = 0; i < legend.count; i++)
        if (strcmp(legend.entry[i].label, "libc.so.6") == 0) {
            assert_int_equal(legend.entry[i].allocations, selection_allocations(named));
            found++;
        }
    assert_int_equal(found, 1);
    selection_free(named);
    selection_free(all);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak),          cmocka_unit_test(test_legends),
        cmocka_unit_test(test_color_steps),   cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_top_functions), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_modules_of_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
