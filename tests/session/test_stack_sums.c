/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks sums by stack: equal to SQL on the rows with each split and any number of threads and
 * windows; of a sample, equal to the selection's estimates; of several machines, never added.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"
#include "session/table/peaks.h"
#include "session/store/scan.h"
#include "session/session.h"
#include "session/stacks.h"
#include "stacks_sql.h"

#define PATH "stack_sums.db"

static struct session *session;
static struct session_error error;

static void open_fixture(uint64_t seed, size_t allocations, const char *sql)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
    assert_true(!sql || fixture_sql(PATH, sql));
    session = session_open(PATH, &error);
    if (!session)
        fail_msg("%s", error.message);
}

static void compare(const char *filter, const char *condition,
                    const struct session_stacks_options *options)
{
    size_t rows = 0;
    if (stacks_differences(session, filter, condition, options, &rows) != 0)
        fail_msg("%s, split %u", filter, options->split);
    assert_true(rows > 0);
}

static void test_usual_sums(void **state)
{
    open_fixture(3, 20000, NULL);
    compare("all", "1", &(struct session_stacks_options){.at_peak = true});
    compare("all", "1", &(struct session_stacks_options){.split = 0});
    compare("all | where size > 200", "size > 200",
            &(struct session_stacks_options){.at_peak = true});
    compare("live at end", "free_ns IS NULL",
            &(struct session_stacks_options){.at_peak = true, .without_short = true});
    session_close(session);
}

static void test_splits(void **state)
{
    /* Two types of one name share a row. Many moments have several events, some blocks no byte. */
    open_fixture(4, 3000, "UPDATE type SET name = 'Node' WHERE id IN (3, 8)");
    const uint64_t middle = session_duration_ns(session) / 2;
    for (unsigned split = 0; split < 32; split += split < 8 ? 1 : 5) {
        struct session_stacks_options options = {.split = split,
                                                 .at = true,
                                                 .at_ns = middle + split,
                                                 .own_peaks = true,
                                                 .at_peak = true,
                                                 .lifetimes = true};
        scan_use_threads(session, split % 3 + 1);
        compare("all", "1", &options);
        compare("all | where freed == true and size > 20", "free_ns IS NOT NULL AND size > 20",
                &options);
    }
    session_close(session);
}

/* Own peaks do not depend on how the time is cut into windows. */
static void test_windows(void **state)
{
    const size_t usual = peak_events;
    const struct session_stacks_options options = {.own_peaks = true};
    open_fixture(5, 3000, NULL);
    for (size_t events = 64; events < 20000; events *= 5) {
        peak_events = events;
        compare("all", "1", &options);
    }
    peak_events = usual;
    session_close(session);
}

static void test_sampled(void **state)
{
    open_fixture(7, 3000, "INSERT OR REPLACE INTO meta VALUES('sample_interval', 700)");
    assert_true(session_sampled(session));
    struct selection *all = selection_new(session, "all", &error);
    for (unsigned split = 0; split < 8; split++) {
        const struct session_stacks_options options = {.split = split,
                                                       .at = true,
                                                       .at_ns = session_peak_ns(session),
                                                       .own_peaks = true,
                                                       .at_peak = true};
        struct session_stack_sums *rows, sum = {.stack = 0};
        size_t count;
        assert_true(selection_stacks(all, &options, &rows, &count, &error));
        for (size_t i = 0; i < count; i++) {
            sum.allocations += rows[i].allocations;
            sum.bytes += rows[i].bytes;
            sum.live_count += rows[i].live_count;
            sum.live_bytes += rows[i].live_bytes;
            sum.at_peak_bytes += rows[i].at_peak_bytes;
            sum.at_bytes += rows[i].at_bytes;
            assert_true(rows[i].own_peak_bytes >= rows[i].at_bytes);
            assert_true(rows[i].own_peak_count > 0);
            assert_true(rows[i].own_peak_count <= rows[i].allocations);
        }
        assert_int_equal(sum.allocations, selection_allocations(all));
        assert_true(sum.allocations > session_allocation_count(session));
        assert_int_equal(sum.bytes, selection_bytes(all));
        assert_int_equal(sum.live_count, selection_live_count(all));
        assert_int_equal(sum.live_bytes, selection_live_bytes(all));
        assert_int_equal(sum.at_peak_bytes, session_peak_bytes(session));
        assert_int_equal(sum.at_bytes, sum.at_peak_bytes);
        free(rows);
    }
    selection_free(all);
    session_close(session);
}

/* The largest bytes of a stack are those of one machine. */
static void test_machines(void **state)
{
    const struct session_stacks_options both = {.own_peaks = true, .at_peak = true},
                                        each = {.split = STACKS_BY_PROCESS, .own_peaks = true};
    struct session_stack_sums *rows, *parts;
    size_t count, part_count, part = 0, shared = 0;
    uint64_t at_peak = 0;
    open_fixture(8, 2000, "UPDATE process SET machine = 2 WHERE id = 2");
    struct selection *all = selection_new(session, "all", &error);
    assert_true(selection_stacks(all, &both, &rows, &count, &error));
    assert_true(selection_stacks(all, &each, &parts, &part_count, &error));
    for (size_t i = 0; i < count; i++) {
        struct session_stack_sums larger = {.stack = 0};
        const size_t first = part;
        for (; part < part_count && parts[part].stack == rows[i].stack; part++) {
            assert_true(parts[part].process == 1 || parts[part].process == 2);
            if (parts[part].own_peak_bytes > larger.own_peak_bytes || part == first)
                larger = parts[part];
        }
        shared += part - first == 2;
        assert_int_equal(rows[i].own_peak_bytes, larger.own_peak_bytes);
        assert_int_equal(rows[i].own_peak_count, larger.own_peak_count);
        at_peak += rows[i].at_peak_bytes;
    }
    assert_int_equal(part, part_count);
    assert_true(shared > 0);
    struct graph_result *result = graph_run(session, "join thread", &error);
    uint64_t expected;
    assert_true(
        session_groups_sum(graph_result_groups(result), MEASURE_AT_PEAK_BYTES, &expected, &error));
    assert_int_equal(at_peak, expected);
    graph_result_free(result);
    free(rows);
    free(parts);
    selection_free(all);
    session_close(session);
}

static void test_cancelled(void **state)
{
    open_fixture(9, 3000, NULL);
    struct selection *all = selection_new(session, "all", &error);
    struct session_stack_sums *rows;
    size_t count;
    scan_cancel(session, true);
    for (unsigned split = 0; split < 2; split++) {
        const struct session_stacks_options options = {.split = split, .own_peaks = true};
        error.message[0] = '\0';
        assert_false(selection_stacks(all, &options, &rows, &count, &error));
        assert_non_null(strstr(error.message, "cancelled"));
    }
    scan_cancel(session, false);
    selection_free(all);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_sums), cmocka_unit_test(test_splits),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_machines),   cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
