/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks groups of generated sessions: their members part the set, their measures are those of the
 * members, computed here in a plain way, and the same with any number of threads and any windows of
 * the search for peaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rows.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"
#include "session/table/peaks.h"
#include "session/groups.h"
#include "session/store/scan.h"

#define PATH "groups.db"
#define FIXTURE_DEPTH_MAX 256

static struct session *session;
#define TICK UINT64_C(50000000)

static struct session_error error;
static struct row *rows;
static size_t row_count;

/* The times of odd seeds fall together: blocks end in the nanosecond in which they begin. */
static void open_fixture(uint64_t seed, size_t allocations, const char *sql)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = allocations;
    options.tick = seed % 2 * TICK;
    assert_true(fixture_write(PATH, &options));
    assert_true(!sql || fixture_sql(PATH, sql));
    session = session_open(PATH, &error);
    if (!session)
        fail_msg("%s", error.message);
    rows = rows_load(PATH, &row_count);
}

static void close_fixture(void)
{
    session_close(session);
    free(rows);
}

static struct graph_result *run(const char *text)
{
    struct graph_result *result = graph_run(session, text, &error);
    if (!result)
        fail_msg("%s: column %d: %s", text, error.column, error.message);
    return result;
}

static uint64_t value_of(struct session_group_set *set, size_t row,
                         enum session_group_measure measure)
{
    uint64_t value = 0;
    if (!session_group_value(set, row, measure, &value, &error))
        fail_msg("%s", error.message);
    return value;
}

/* ---- measures of members ---- */

struct event {
    uint64_t ns;
    int64_t change;
};

/* In one nanosecond frees come before allocations. */
static int compare_events(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return a->change < b->change ? -1 : a->change > b->change;
}

static uint32_t machine_of(const struct row *row)
{
    return session->names.process_machine[session->names.thread_process[row->thread]];
}

static uint64_t peak_of(struct selection *members, uint32_t machine)
{
    struct event *events = calloc(2 * row_count + 1, sizeof(*events));
    size_t count = 0;
    assert_non_null(events);
    for (size_t i = 0; i < row_count; i++) {
        if (!selection_contains(members, rows[i].id) || machine_of(&rows[i]) != machine)
            continue;
        events[count++] = (struct event){rows[i].alloc_ns, (int64_t)rows[i].size};
        if (rows[i].free_ns != UINT64_MAX)
            events[count++] = (struct event){rows[i].free_ns, -(int64_t)rows[i].size};
    }
    qsort(events, count, sizeof(*events), compare_events);
    int64_t live = 0;
    int64_t peak = 0;
    for (size_t i = 0; i < count; i++) {
        live += events[i].change;
        peak = live > peak ? live : peak;
    }
    free(events);
    return (uint64_t)peak;
}

static void check_measures(struct session_group_set *set, size_t row, struct selection *members)
{
    uint64_t expected[MEASURE_MAX_LIFETIME + 1] = {0};
    uint64_t lifetimes = 0;
    expected[MEASURE_MIN_SIZE] = expected[MEASURE_MIN_LIFETIME] = UINT64_MAX;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *of = &rows[i];
        struct session_allocation allocation;
        if (!selection_contains(members, of->id))
            continue;
        const bool live = of->free_ns == UINT64_MAX;
        const uint64_t end = live ? session_duration_ns(session) : of->free_ns;
        const uint64_t lifetime = end > of->alloc_ns ? end - of->alloc_ns : 0;
        const uint64_t peak_ns = session_peak_ns(session);
        assert_true(session_allocation(session, of->id, &allocation, &error));
        expected[MEASURE_ALLOCATIONS]++;
        expected[MEASURE_BYTES] += of->size;
        expected[MEASURE_OBJECTS] += allocation.count;
        expected[MEASURE_LIVE_COUNT] += live;
        expected[MEASURE_LIVE_BYTES] += live ? of->size : 0;
        if (of->alloc_ns <= peak_ns && of->free_ns > peak_ns)
            expected[MEASURE_AT_PEAK_BYTES] += of->size;
        if (of->size < expected[MEASURE_MIN_SIZE])
            expected[MEASURE_MIN_SIZE] = of->size;
        if (of->size > expected[MEASURE_MAX_SIZE])
            expected[MEASURE_MAX_SIZE] = of->size;
        if (lifetime < expected[MEASURE_MIN_LIFETIME])
            expected[MEASURE_MIN_LIFETIME] = lifetime;
        if (lifetime > expected[MEASURE_MAX_LIFETIME])
            expected[MEASURE_MAX_LIFETIME] = lifetime;
        lifetimes += lifetime;
    }
    expected[MEASURE_AVG_SIZE] = expected[MEASURE_BYTES] / expected[MEASURE_ALLOCATIONS];
    expected[MEASURE_AVG_LIFETIME] = lifetimes / expected[MEASURE_ALLOCATIONS];
    expected[MEASURE_PEAK_BYTES] = peak_of(members, 1);
    for (int i = 0; i <= MEASURE_MAX_LIFETIME; i++) {
        const enum session_group_measure measure = (enum session_group_measure)i;
        if (value_of(set, row, measure) != expected[i])
            fail_msg("row %zu: %s is %llu, not %llu", row, session_group_measure_name(measure),
                     (unsigned long long)value_of(set, row, measure),
                     (unsigned long long)expected[i]);
    }
}

/* The members of all groups are the set, each of them once, and the sums are the set's. */
static void check_groups(const char *set_text, const char *groups_text)
{
    char text[256];
    snprintf(text, sizeof(text), "%s | %s", set_text, groups_text);
    struct graph_result *result = run(text);
    struct session_group_set *set = graph_result_groups(result);
    struct selection *all = selection_new(session, set_text, &error);
    uint8_t *seen = calloc(row_count + 1, 1);
    assert_true(set && all && seen);
    for (size_t row = 0; row < session_groups_count(set); row++) {
        struct selection *members = session_group_members(set, row, &error);
        assert_non_null(members);
        check_measures(set, row, members);
        for (uint64_t id = 1; id <= row_count; id++)
            seen[id] += selection_contains(members, id);
        selection_free(members);
    }
    for (uint64_t id = 1; id <= row_count; id++)
        assert_int_equal(seen[id], selection_contains(all, id));
    uint64_t sum;
    assert_true(session_groups_sum(set, MEASURE_BYTES, &sum, &error));
    assert_int_equal(sum, selection_bytes(all));
    assert_true(session_groups_sum(set, MEASURE_LIVE_COUNT, &sum, &error));
    assert_int_equal(sum, selection_live_count(all));
    assert_false(session_groups_sum(set, MEASURE_PEAK_BYTES, &sum, &error));
    free(seen);
    selection_free(all);
    graph_result_free(result);
}

static const char *const sets[] = {"all", "live", "live at peak", "all | where size > 100",
                                   "all | where size > 1G"};
static const char *const joins[] = {"join type",
                                    "join function, freed",
                                    "join thread, kind",
                                    "join type, thread, kind, module, count",
                                    "join confidence, free_stack",
                                    "fold 20K"};

static void test_members(void **state)
{
    static const size_t sizes[] = {1, 40, 300, 300};
    const size_t events = peak_events;
    for (size_t i = 0; i < 4; i++) {
        open_fixture(i + 1, sizes[i], NULL);
        scan_use_threads(session, i + 1);
        /* So small windows that some moments have too many events for one; then none at all. */
        peak_events = i == 2 ? 60 : i == 3 ? events : 2;
        for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++)
            for (size_t n = 0; n < sizeof(joins) / sizeof(joins[0]); n++)
                check_groups(sets[k], joins[n]);
        peak_events = events;
        close_fixture();
    }
}

/* Many chunks, many groups, and peaks of the groups that are left only. */
static void test_threads(void **state)
{
    static const char *const texts[] = {"join stack", "join stack, size", "fold 100K",
                                        "join function | where bytes > 100K"};
    const size_t events = peak_events;
    open_fixture(5, 70000, NULL);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        scan_use_threads(session, 1);
        peak_events = events;
        struct graph_result *one = run(texts[i]);
        scan_use_threads(session, 4);
        peak_events = 5000;
        struct graph_result *many = run(texts[i]);
        struct session_group_set *set = graph_result_groups(one);
        struct session_group_set *other = graph_result_groups(many);
        assert_int_equal(session_groups_count(set), session_groups_count(other));
        for (size_t row = 0; row < session_groups_count(set); row++) {
            for (int measure = 0; measure <= MEASURE_MAX_LIFETIME; measure++)
                assert_int_equal(value_of(set, row, (enum session_group_measure)measure),
                                 value_of(other, row, (enum session_group_measure)measure));
            assert_int_equal(session_group_key(set, row, 0).id,
                             session_group_key(other, row, 0).id);
        }
        graph_result_free(one);
        graph_result_free(many);
    }
    peak_events = events;
    close_fixture();
}

/* Sums that ingest has made give the same groups as the rows. Wrong ones are not believed. */
static void test_stored_sums(void **state)
{
    static const char *const texts[] = {"join stack", "join function, line", "fold 50K"};
    const size_t needed = group_rows_per_stack;
    open_fixture(10, 3000,
                 "UPDATE stack SET (allocations, bytes) = (SELECT count(*), total(size) + 7 FROM "
                 "allocation WHERE stack_id = stack.id)");
    struct graph_result *all = run("join stack");
    const size_t stacks = session_groups_count(graph_result_groups(all));
    graph_result_free(all);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint64_t sum, other;
        struct graph_result *plain = run(texts[i]);
        group_rows_per_stack = 1;
        struct graph_result *stored = run(texts[i]);
        group_rows_per_stack = needed;
        struct session_group_set *a = graph_result_groups(plain);
        struct session_group_set *b = graph_result_groups(stored);
        assert_int_equal(session_groups_made(a), session_groups_made(b));
        assert_true(session_groups_sum(a, MEASURE_ALLOCATIONS, &sum, &error));
        assert_true(session_groups_sum(b, MEASURE_ALLOCATIONS, &other, &error));
        assert_int_equal(sum, other);
        assert_int_equal(sum, row_count);
        /* The 7 bytes tell where the sums come from. */
        assert_true(session_groups_sum(a, MEASURE_BYTES, &sum, &error));
        assert_true(session_groups_sum(b, MEASURE_BYTES, &other, &error));
        assert_int_equal(other - sum, 7 * stacks);
        graph_result_free(plain);
        graph_result_free(stored);
    }
    close_fixture();
    open_fixture(10, 3000, "UPDATE stack SET allocations = 1, bytes = 1");
    group_rows_per_stack = 1;
    check_groups("all", "join stack");
    group_rows_per_stack = needed;
    close_fixture();
}

/* ---- steps ---- */

/* Two texts that select the same allocations. */
static const char *const same[][2] = {
    {"join type | ungroup", "all"},
    {"fold 4K | ungroup", "all"},
    {"live | join stack | ungroup", "live"},
    {"join type | top 0 | ungroup", "where size < 0"},
    {"join type | where type == Node | ungroup", "where type == Node"},
    {"join type | where not type ~ \"N\" | ungroup", "where not type ~ \"N\""},
    {"join type | where type is null | ungroup", "where type is null"},
    {"join function, thread | where thread == 2 and function ~ \"a\" | ungroup",
     "where thread == 2 and function ~ \"a\""},
    {"join stack | where stack has \"main\" or stack == 7 | ungroup",
     "where stack has \"main\" or stack == 7"},
    {"join free_stack | where free_stack is null | ungroup", "where free_stack is null"},
    {"join size | where size in 16..64 | ungroup", "where size in 16..64"},
    {"join size, count | where size > 1K and count != 1 | ungroup",
     "where size > 1K and count != 1"},
    {"join freed | where freed == true | ungroup", "where freed == true"},
    {"join freed, type | where freed != true | ungroup", "live"},
    {"join line | where line > 20 | ungroup", "where line > 20"},
    {"join kind | where not kind == malloc | ungroup", "where not kind == malloc"},
    {"join file, module | where module !~ \"lib\" | ungroup", "where module !~ \"lib\""},
    {"join process | where process == helper | ungroup", "where process == helper"},
    {"join frame 2 | where frame 2 is null | ungroup", "where frame 2 is null"},
    {"join caller | where caller ~ \"e\" | ungroup", "where caller ~ \"e\""},
    {"join confidence | where confidence == exact | ungroup", "where confidence == exact"},
    {"join confidence | where confidence != candidate | ungroup", "where confidence != candidate"},
    {"join confidence | where confidence !~ cand | ungroup", "where confidence != candidate"},
    {"(join type | where type == Node | ungroup) + live", "(where type == Node) + live"},
    {"join thread | where allocations >= 1 and peak_bytes in 0..1G | ungroup | where size > 64",
     "where size > 64"},
    {"color red where size > 64 | join color | where color == red | ungroup", "where size > 64"},
    {"join type | color blue where type == Node | ungroup | where color == blue",
     "where type == Node"},
    {"color red where size > 64 | join type | color blue where type == Node | ungroup | "
     "where color == red",
     "where size > 64 and not type == Node"},
    {"fold 0 | where path is not null and not path ~ \"main\" | ungroup",
     "where stack !~ \"main\""},
};

static void test_steps(void **state)
{
    open_fixture(3, 5000, NULL);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        struct graph_result *left = run(same[i][0]);
        struct graph_result *right = run(same[i][1]);
        struct selection *a = graph_result_selection(left);
        struct selection *b = graph_result_selection(right);
        if (selection_count(a) != selection_count(b))
            fail_msg("%s: %llu allocations, not %llu", same[i][0],
                     (unsigned long long)selection_count(a),
                     (unsigned long long)selection_count(b));
        for (uint64_t id = 1; id <= row_count; id++)
            assert_int_equal(selection_contains(a, id), selection_contains(b, id));
        graph_result_free(left);
        graph_result_free(right);
    }
    close_fixture();
}

static int compare_keys(struct session_group_set *set, size_t left, size_t right)
{
    const struct session_group_key a = session_group_key(set, left, 0);
    const struct session_group_key b = session_group_key(set, right, 0);
    if (a.is_null || b.is_null)
        return (int)a.is_null - (int)b.is_null;
    return strcmp(a.text, b.text);
}

static void test_order(void **state)
{
    open_fixture(4, 3000, NULL);
    struct graph_result *result = run("join function");
    struct session_group_set *set = graph_result_groups(result);
    const size_t count = session_groups_count(set);
    assert_int_equal(count, session_groups_made(set));
    assert_true(count > 10);
    for (size_t i = 1; i < count; i++) {
        const uint64_t before = value_of(set, i - 1, MEASURE_BYTES);
        const uint64_t bytes = value_of(set, i, MEASURE_BYTES);
        assert_true(before > bytes || (before == bytes && compare_keys(set, i - 1, i) < 0));
    }
    assert_true(session_groups_sort(set, MEASURE_LIVE_COUNT, false, &error));
    for (size_t i = 1; i < count; i++) {
        const uint64_t before = value_of(set, i - 1, MEASURE_LIVE_COUNT);
        const uint64_t live = value_of(set, i, MEASURE_LIVE_COUNT);
        assert_true(before < live || (before == live && compare_keys(set, i - 1, i) < 0));
    }
    assert_true(session_groups_sort_by_key(set, 0, true, &error));
    for (size_t i = 1; i < count; i++) {
        const bool null = session_group_key(set, i, 0).is_null;
        assert_true(null || compare_keys(set, i - 1, i) > 0);
    }
    assert_false(session_groups_sort_by_key(set, 1, true, &error));
    graph_result_free(result);
    result = run("join type, thread | sort type | top 3");
    set = graph_result_groups(result);
    assert_int_equal(session_groups_count(set), 3);
    assert_true(session_groups_made(set) > 3);
    for (size_t i = 1; i < 3; i++)
        assert_true(compare_keys(set, i - 1, i) <= 0);
    graph_result_free(result);
    close_fixture();
}

/* ---- fold ---- */

/* Paths are in the order of their functions' names, from the root inwards; null is last. */
static void check_paths(struct session_group_set *set)
{
    assert_true(session_groups_sort_by_key(set, 0, false, &error));
    for (size_t i = 1; i < session_groups_count(set); i++) {
        uint32_t before[FIXTURE_DEPTH_MAX];
        uint32_t after[FIXTURE_DEPTH_MAX];
        const size_t length = session_group_path(set, i - 1, before, FIXTURE_DEPTH_MAX);
        const size_t other = session_group_path(set, i, after, FIXTURE_DEPTH_MAX);
        size_t equal = 0;
        while (equal < length && equal < other && before[equal] == after[equal])
            equal++;
        assert_true(length > 0);
        if (equal == length || equal == other)
            assert_true(other == 0 || (equal == length && length < other));
        else
            assert_true(strcmp(session_function_name(session, before[equal]),
                               session_function_name(session, after[equal])) < 0);
    }
}

static void test_fold(void **state)
{
    open_fixture(6, 4000, NULL);
    struct selection *all = selection_new(session, "all", &error);
    for (uint64_t least = 0; least < selection_bytes(all) * 4; least = least * 4 + 100) {
        char text[64];
        char path[4096];
        snprintf(text, sizeof(text), "fold %llu", (unsigned long long)least);
        struct graph_result *result = run(text);
        struct session_group_set *set = graph_result_groups(result);
        uint64_t sum;
        assert_true(session_groups_sum(set, MEASURE_BYTES, &sum, &error));
        assert_int_equal(sum, selection_bytes(all));
        for (size_t i = 0; i < session_groups_count(set); i++) {
            uint32_t functions[FIXTURE_DEPTH_MAX];
            const bool root = session_group_key(set, i, 0).is_null;
            const size_t length = session_group_path(set, i, functions, FIXTURE_DEPTH_MAX);
            assert_int_equal(root, length == 0);
            assert_true(root || value_of(set, i, MEASURE_BYTES) >= least);
            session_group_key_text(set, i, 0, path, sizeof(path));
            assert_true(root || strstr(path, session_function_name(session, functions[0])) == path);
        }
        check_paths(set);
        if (least > selection_bytes(all))
            assert_int_equal(session_groups_count(set), 1);
        graph_result_free(result);
    }
    selection_free(all);
    close_fixture();
}

/* ---- samples, machines ---- */

static void test_sampled(void **state)
{
    open_fixture(7, 3000, "INSERT OR REPLACE INTO meta VALUES('sample_interval', 700)");
    assert_true(session_sampled(session));
    struct selection *all = selection_new(session, "all", &error);
    struct graph_result *result = run("join thread");
    struct session_group_set *set = graph_result_groups(result);
    uint64_t sum;
    double variance = 0;
    assert_true(session_groups_sum(set, MEASURE_ALLOCATIONS, &sum, &error));
    assert_int_equal(sum, selection_allocations(all));
    assert_true(sum > row_count);
    assert_true(session_groups_sum(set, MEASURE_BYTES, &sum, &error));
    assert_int_equal(sum, selection_bytes(all));
    assert_true(session_groups_sum(set, MEASURE_LIVE_BYTES, &sum, &error));
    assert_int_equal(sum, selection_live_bytes(all));
    for (size_t i = 0; i < session_groups_count(set); i++) {
        double deviation;
        assert_true(session_group_error(set, i, MEASURE_BYTES, &deviation, &error));
        variance += deviation * deviation;
        assert_true(session_group_error(set, i, MEASURE_PEAK_BYTES, &deviation, &error));
        assert_true(deviation < 0);
        assert_true(session_group_error(set, i, MEASURE_MAX_SIZE, &deviation, &error));
        assert_true(deviation == 0);
    }
    double expected = 0;
    for (size_t i = 0; i < row_count; i++) {
        const double size = (double)rows[i].size;
        const double weight = 1 / (1 - exp(-(size > 0 ? size : 1) / 700));
        expected += weight * (weight - 1) * size * size;
    }
    assert_true(fabs(variance / expected - 1) < 1e-9);
    graph_result_free(result);
    /* One group of all: its peak is the selection's. */
    result = run("all | join confidence, kind, type | sort peak_bytes | top 1 | ungroup");
    selection_free(all);
    all = graph_result_take_selection(result);
    graph_result_free(result);
    result = run("all | where freed == true | join freed");
    set = graph_result_groups(result);
    struct selection *freed = selection_new(session, "all | where freed == true", &error);
    assert_int_equal(value_of(set, 0, MEASURE_PEAK_BYTES), selection_peak_bytes(freed));
    graph_result_free(result);
    result = run("join thread | sum bytes");
    assert_true(graph_result_measure(result)->estimated);
    assert_true(fabs(graph_result_measure(result)->standard_error / sqrt(expected) - 1) < 1e-9);
    graph_result_free(result);
    selection_free(freed);
    selection_free(all);
    close_fixture();
}

/* Bytes of two machines are never added. */
static void test_machines(void **state)
{
    open_fixture(8, 2000, "UPDATE process SET machine = 2 WHERE id = 2");
    assert_int_equal(session->names.machines, 2);
    struct graph_result *result = run("join type");
    struct session_group_set *set = graph_result_groups(result);
    bool differs = false;
    uint64_t at_peak = 0;
    for (size_t i = 0; i < session_groups_count(set); i++) {
        struct selection *members = session_group_members(set, i, &error);
        const uint64_t first = peak_of(members, 1);
        const uint64_t second = peak_of(members, 2);
        assert_int_equal(value_of(set, i, MEASURE_PEAK_BYTES), first > second ? first : second);
        differs = differs || (first > 0 && second > 0);
        selection_free(members);
    }
    assert_true(differs);
    /* All that is live at the peak is on the machine that had it. */
    uint64_t live[3] = {0};
    const uint64_t peak_ns = session_peak_ns(session);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].alloc_ns <= peak_ns && rows[i].free_ns > peak_ns)
            live[machine_of(&rows[i])] += rows[i].size;
    assert_true(session_groups_sum(set, MEASURE_AT_PEAK_BYTES, &at_peak, &error));
    assert_true(live[1] > 0 && live[2] > 0);
    assert_int_equal(at_peak, live[1] >= live[2] ? live[1] : live[2]);
    graph_result_free(result);
    /* So it is of functions. */
    struct selection *all = selection_new(session, "all | where size > 0", &error);
    struct session_function_row *functions;
    size_t count;
    assert_non_null(all);
    assert_true(selection_functions(all, &functions, &count, &error));
    for (size_t i = 0; i < count; i++)
        at_peak -= functions[i].at_peak_bytes;
    assert_int_equal(at_peak, 0);
    free(functions);
    selection_free(all);
    close_fixture();
}

/* ---- failures ---- */

static void test_cancel(void **state)
{
    open_fixture(9, 70000, NULL);
    struct graph_result *result = run("join function");
    struct session_group_set *set = graph_result_groups(result);
    uint64_t value;
    scan_cancel(session, true);
    assert_null(graph_run(session, "join function", &error));
    assert_false(session_group_value(set, 0, MEASURE_LIVE_BYTES, &value, &error));
    assert_false(session_group_value(set, 0, MEASURE_PEAK_BYTES, &value, &error));
    assert_null(session_group_members(set, 0, &error));
    assert_string_equal(error.message, "the question was cancelled");
    /* Facts that were known stay known, and the rest can be asked for again. */
    assert_true(session_group_value(set, 0, MEASURE_BYTES, &value, &error));
    scan_cancel(session, false);
    assert_true(session_group_value(set, 0, MEASURE_PEAK_BYTES, &value, &error));
    assert_true(value > 0);
    assert_false(
        session_group_value(set, session_groups_count(set), MEASURE_BYTES, &value, &error));
    graph_result_free(result);
    close_fixture();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stored_sums), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_fold),
        cmocka_unit_test(test_sampled),     cmocka_unit_test(test_machines),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
