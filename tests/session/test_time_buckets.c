/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that buckets of time lie in the order of time and within their parts, and that events
 * spread over them better than over buckets of one width, with a sample of rows and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "rows.h"
#include "session/table/time_buckets.h"
#include "session/table/selection_state.h"

#define PATH "time_buckets.db"

static struct session *session;
static struct session_error error;
static struct selection *all;
static struct row *rows;
static size_t row_count;
static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift. */
static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void open_fixture(bool sample, size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
    if (sample)
        assert_true(fixture_sample_all(PATH));
    session = session_open(PATH, &error);
    assert_non_null(session);
    all = selection_new(session, "all", &error);
    assert_non_null(all);
    rows = rows_load(PATH, &row_count);
}

static void close_fixture(void)
{
    free(rows);
    selection_free(all);
    session_close(session);
    unlink(PATH);
}

static void open_buckets(struct time_buckets *buckets, uint64_t from, uint64_t to, size_t parts,
                         size_t most)
{
    if (!time_buckets_open(buckets, session, &all->set, from, to, parts, most, &error))
        fail_msg("%s", error.message);
    assert_in_range(buckets->count, parts + 1, 2 * (most > parts ? most : parts) + 1);
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Looks at times in their order: both ends, those next to the borders of parts, and any others. */
static void check_order(uint64_t from, uint64_t to, size_t slots, size_t most)
{
    enum { TIMES = 3000 };
    uint64_t times[TIMES] = {from, to - 1, to, UINT64_MAX};
    const size_t parts = slots * SELECTION_SLOT_PARTS;
    struct time_buckets buckets;
    struct time_parts exact;
    size_t before = 0;
    open_buckets(&buckets, from, to, parts, most);
    assert_true(time_parts_open(&exact, from, to, parts, &error));
    for (size_t i = 4; i < TIMES; i++)
        times[i] =
            i % 2 ? from + draw() % (to - from) : from + exact.bounds[draw() % parts] + draw() % 2;
    qsort(times, TIMES, sizeof(*times), compare_times);
    for (size_t i = 0; i < TIMES; i++) {
        const struct time_bucket place = time_buckets_find(&buckets, times[i]);
        assert_true(place.bucket >= before);
        before = place.bucket;
        if (times[i] >= to) {
            assert_int_equal(place.part, parts);
            assert_int_equal(place.bucket, buckets.count - 1);
            continue;
        }
        assert_int_equal(place.part, time_parts_part(&exact, times[i]));
        assert_in_range(place.bucket, time_buckets_first(&buckets, place.part),
                        time_buckets_first(&buckets, place.part + 1) - 1);
    }
    time_parts_close(&exact);
    time_buckets_close(&buckets);
}

static void test_order(void **unused)
{
    const uint64_t least = (uint64_t)TIME_BUCKETS_LEAST_NS * SELECTION_SLOT_PARTS;
    for (int sample = 0; sample < 2; sample++) {
        open_fixture(sample != 0, 20000);
        const uint64_t end = session_duration_ns(session) + 1;
        check_order(0, end, 1, 16);
        check_order(0, end, 9, 16);
        check_order(0, end, 240, 1 << 17);
        check_order(end / 3, end, 7, 5000);
        check_order(0, UINT64_MAX, 240, 1 << 16);
        check_order(end / 2, end / 2 + least, 1, 1000);
        check_order(5, 5 + 7 * least + 3, 7, 1 << 12);
        close_fixture();
    }
}

/* Each cell begins where its first bucket does, unless it has no time. */
static void check_cells(uint64_t from, uint64_t to, size_t parts, size_t most)
{
    struct time_buckets buckets;
    open_buckets(&buckets, from, to, parts, most);
    const size_t cells = parts << buckets.cell_bits;
    assert_int_equal(time_buckets_cell_ns(&buckets, 0), from);
    assert_int_equal(time_buckets_cell_ns(&buckets, cells), to);
    for (size_t cell = 1; cell <= cells; cell++) {
        const uint64_t begin = time_buckets_cell_ns(&buckets, cell);
        assert_true(begin >= time_buckets_cell_ns(&buckets, cell - 1));
        assert_true(time_buckets_find(&buckets, begin).bucket >= buckets.cell[cell].first);
        assert_true(time_buckets_find(&buckets, begin - 1).bucket < buckets.cell[cell].first);
    }
    time_buckets_close(&buckets);
}

static void test_cells(void **unused)
{
    open_fixture(true, 20000);
    const uint64_t end = session_duration_ns(session) + 1;
    check_cells(0, end, 1, 1 << 17);
    check_cells(0, end, (size_t)240 * SELECTION_SLOT_PARTS, 1 << 17);
    check_cells(end / 3, end, 7, 5000);
    check_cells(0, UINT64_MAX, 1, 1 << 16);
    check_cells(0, UINT64_MAX, 77, 1 << 16);
    check_cells(5, 105, 1, 1 << 12);
    check_cells(5, 105, 25, 100);
    close_fixture();
}

/* A span of few nanoseconds has one part. */
static void test_short_span(void **unused)
{
    open_fixture(false, 1000);
    for (uint64_t length = 1; length < 20; length++) {
        struct time_buckets buckets;
        size_t before = 0;
        open_buckets(&buckets, 3, 3 + length, 1, 16);
        for (uint64_t ns = 3; ns < 3 + length; ns++) {
            const struct time_bucket place = time_buckets_find(&buckets, ns);
            assert_int_equal(place.part, 0);
            assert_in_range(place.bucket, before, buckets.count - 2);
            before = place.bucket;
        }
        time_buckets_close(&buckets);
    }
    close_fixture();
}

/* Returns the sum of the squares of the events in each bucket. */
static uint64_t clumps(const struct time_buckets *buckets)
{
    uint64_t *events = calloc(buckets->count, sizeof(*events)), sum = 0;
    assert_non_null(events);
    for (size_t i = 0; i < row_count; i++) {
        events[time_buckets_find(buckets, rows[i].alloc_ns).bucket]++;
        if (rows[i].free_ns != UINT64_MAX)
            events[time_buckets_find(buckets, rows[i].free_ns).bucket]++;
    }
    for (size_t i = 0; i < buckets->count; i++)
        sum += events[i] * events[i];
    free(events);
    return sum;
}

/* In most of the span the program waits. */
static void test_events_spread(void **unused)
{
    for (int sample = 0; sample < 2; sample++) {
        open_fixture(sample != 0, 4 * (size_t)COLUMN_CHUNK_ROWS);
        const uint64_t end = 50 * session_duration_ns(session);
        struct time_buckets fitting, equal;
        open_buckets(&fitting, 0, end, 256, 2048);
        /* As many parts as buckets: one bucket in each. */
        open_buckets(&equal, 0, end, fitting.count - 1, 1);
        assert_int_equal(equal.count, fitting.count);
        assert_true(clumps(&fitting) < clumps(&equal) / 10);
        time_buckets_close(&fitting);
        time_buckets_close(&equal);
        close_fixture();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_short_span),
        cmocka_unit_test(test_events_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
