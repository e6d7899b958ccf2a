/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the results of one pass for a whole screen with those of the passes of single questions,
 * and counts how often it reads each chunk. The tests of these compare them with plain
 * computations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "session/store/session_state.h"
#include "session/table/selection_state.h"
#include "session/store/scan.h"

#define PATH "screen_pass.db"

enum { SLOTS = 9 };

static struct session *session;
static struct session_error error;

static void open_fixture(size_t allocations, uint64_t huge)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    options.huge = huge;
    assert_true(fixture_write(PATH, &options));
    kept_selections_bytes_most = 0; /* two selections of one text are compared */
    session = session_open(PATH, &error);
    assert_non_null(session);
}

static void close_fixture(void)
{
    session_close(session);
    unlink(PATH);
}

static struct selection *select_rows(const char *filter)
{
    struct selection *selection = selection_new(session, filter, &error);
    if (!selection)
        fail_msg("%s: %s", filter, error.message);
    return selection;
}

static struct session_timeline whole(enum session_color_by by)
{
    return (struct session_timeline){0, session_duration_ns(session) + 1, SLOTS, by};
}

static void find_timeline(struct selection *selection, const struct session_timeline *timeline,
                          struct session_slot *slots)
{
    if (!selection_timeline(selection, timeline->from_ns, timeline->to_ns, timeline->count,
                            timeline->by, slots, &error))
        fail_msg("%s", error.message);
}

/* Compares two selections of the same rows. One question at a time is asked of `plain`. */
static void compare(struct selection *screen, struct selection *plain,
                    const struct session_timeline *timeline)
{
    struct session_slot slots[SLOTS], expected[SLOTS];
    static struct session_legend legend, other;
    struct session_function_row *rows, *other_rows;
    size_t count, other_count;
    session->asked.count = 0;
    assert_int_equal(selection_peak_bytes(plain), selection_peak_bytes(screen));
    assert_int_equal(selection_peak_ns(plain), selection_peak_ns(screen));
    find_timeline(plain, timeline, expected);
    assert_false(screen_pass_knows(plain, timeline));
    find_timeline(screen, timeline, slots);
    assert_memory_equal(slots, expected, sizeof(slots));
    memset(&legend, 0, sizeof(legend));
    memset(&other, 0, sizeof(other));
    selection_legend(screen, timeline->by, &legend);
    selection_legend(plain, timeline->by, &other);
    assert_memory_equal(&legend, &other, sizeof(legend));
    assert_true(selection_functions(screen, &rows, &count, &error));
    assert_true(selection_functions(plain, &other_rows, &other_count, &error));
    assert_int_equal(count, other_count);
    assert_memory_equal(rows, other_rows, count * sizeof(*rows));
    free(rows);
    free(other_rows);
}

static const char *const filters[] = {
    "all",
    "all | where size >= 100",
    "all | where lifetime > 1us and size < 4K",
    "all | color red where size > 64 | color 208 where thread == 1",
    "leaked",
    "all | where size > 1000G",
    "all | where size == 17",
};

/* The first question of a new selection: any of those that a screen asks. */
static void ask_timeline(struct selection *selection, const struct session_timeline *timeline)
{
    struct session_slot slots[SLOTS];
    find_timeline(selection, timeline, slots);
}

static void ask_legend(struct selection *selection, const struct session_timeline *timeline)
{
    static struct session_legend legend;
    session->asked = *timeline;
    session->expected = screen_pass_expected;
    selection_legend(selection, SESSION_COLOR_FUNCTION, &legend);
}

static void ask_functions(struct selection *selection, const struct session_timeline *timeline)
{
    struct session_function_row *rows;
    size_t count;
    session->asked = *timeline;
    session->expected = screen_pass_expected;
    assert_true(selection_functions(selection, &rows, &count, &error));
    free(rows);
}

static void check_first_question(const char *filter, const struct session_timeline *timeline,
                                 void (*ask)(struct selection *, const struct session_timeline *))
{
    struct selection *screen = select_rows(filter), *plain = select_rows(filter);
    ask(screen, timeline);
    assert_true(screen_pass_knows(screen, timeline));
    compare(screen, plain, timeline);
    selection_free(screen);
    selection_free(plain);
}

static void test_screen(void **state)
{
    static const size_t sizes[] = {1, 50, 3000, 70000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        open_fixture(sizes[i], i == 2 ? UINT64_C(1) << 42 : 0);
        scan_use_threads(session, i % 2 + 1);
        for (size_t k = 0; k < sizeof(filters) / sizeof(*filters); k++) {
            for (int by = 0; by < COLOR_BY_TOTAL; by++) {
                const struct session_timeline timeline = whole((enum session_color_by)by);
                if (sizes[i] > 10000 && k > 2)
                    continue;
                check_first_question(filters[k], &timeline, ask_timeline);
                check_first_question(filters[k], &timeline, ask_legend);
                check_first_question(filters[k], &timeline, ask_functions);
            }
        }
        close_fixture();
    }
}

/* The span may end with the last event, or begin after the first one: then there is no such pass.
 */
static void test_spans(void **state)
{
    struct session_slot slots[SLOTS];
    open_fixture(3000, 0);
    const uint64_t end = session_duration_ns(session);
    const struct session_timeline to_end = {0, end, SLOTS, SESSION_COLOR_FUNCTION};
    check_first_question("all | where size > 20", &to_end, ask_timeline);
    const struct session_timeline part = {end / 4, end, SLOTS, SESSION_COLOR_FUNCTION};
    struct selection *selection = select_rows("all | where size > 20");
    find_timeline(selection, &part, slots);
    assert_false(screen_pass_knows(selection, &part));
    assert_int_equal(session->asked.from_ns, 0);
    selection_free(selection);
    close_fixture();
}

static uint64_t chunks_read(void)
{
    const struct column_reads reads = column_store_reads(session->columns);
    return reads.direct + reads.by_sqlite;
}

/* All four columns are read once for each chunk, and then those with events near the peak. */
static void test_chunks_are_read_once(void **state)
{
    const char *const filter = "all | where size >= 20";
    struct session_slot slots[SLOTS];
    open_fixture(3 * (size_t)COLUMN_CHUNK_ROWS, 0);
    scan_use_threads(session, 1);
    const struct session_timeline timeline = whole(SESSION_COLOR_FUNCTION);
    const uint32_t chunks = column_store_chunks(session->columns);
    assert_int_equal(chunks, 3);
    struct selection *selection = select_rows(filter);
    const uint64_t before = chunks_read();
    ask_legend(selection, &timeline);
    const uint64_t pass = chunks_read() - before;
    /* The last chunk of the pass before is still there. */
    assert_in_range(pass, 4 * chunks - 4, 4 * chunks + 3 * chunks);
    find_timeline(selection, &timeline, slots);
    ask_functions(selection, &timeline);
    selection_peak_bytes(selection);
    assert_int_equal(chunks_read() - before, pass);
    selection_free(selection);
    close_fixture();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screen),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_chunks_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
