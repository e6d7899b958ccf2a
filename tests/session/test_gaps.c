/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the gaps between live blocks with a plain computation over the rows, and with SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "rows.h"
#include "session/holes.h"
#include "session/session.h"

#define PATH "gaps.db"
#define REGION_GAP (UINT64_C(16) << 20)

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;
static uint64_t unknown_seen; /* gaps beside a mapping of one block */

static uint64_t end_of(const struct row *row)
{
    return row->address + (row->size > 0 ? row->size : 1);
}

static bool live_at(const struct row *row, uint64_t ns)
{
    return row->alloc_ns <= ns && ns < row->free_ns;
}

/* Returns the least size of a mapped block that begins with a page: large blocks that show where
 * they lie are in the heap, but for those of this size and above. */
static uint64_t mapped_pages(const struct row *live, size_t count)
{
    for (uint64_t kib = 127; kib-- > 0;) {
        uint64_t mapped = 0, heap = 0;
        for (size_t i = 0; i < count; i++) {
            const uint64_t size = end_of(&live[i]) - live[i].address,
                           offset = live[i].address % 4096;
            if (offset == 0 || size < kib * 1024 || size >= 127 * 1024)
                continue;
            const bool shown = offset >= 16 && (offset & (offset - 1)) == 0;
            mapped += shown;
            heap += !shown;
        }
        if (heap >= 4 && heap >= mapped)
            return (kib + 1) * 1024;
    }
    return 0;
}

/* Returns true if glibc may have mapped a block of the list alone: its address is one that a
 * mapping begins with, and no other block lies in one of its pages. */
static bool may_be_alone(const struct row *live, size_t count, const struct row *row)
{
    const uint64_t least = row->address % 4096 == 0 ? mapped_pages(live, count) : 128 * 1024 - 23;
    const uint64_t offset = row->address % 4096, size = end_of(row) - row->address;
    const uint64_t first = (row->address - 16) / 4096, last = (end_of(row) - 1) / 4096;
    uint64_t alignment = 16, next = UINT64_MAX;
    while (alignment < 4096 && offset != alignment)
        alignment *= 2;
    while (offset == 0 && row->address % (2 * alignment) == 0)
        alignment *= 2;
    if ((offset != 0 && offset != alignment) || size + (alignment > 16 ? alignment : 0) < least)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (&live[i] < row && end_of(&live[i]) > first * 4096)
            return false;
        if (live[i].address >= end_of(row) && live[i].address < next)
            next = live[i].address;
    }
    return next == UINT64_MAX || (next - 16) / 4096 != last;
}

/* Returns true if nobody knows what lies between two blocks. */
static bool is_unknown(const struct row *live, size_t count, const struct row *below,
                       const struct row *above)
{
    const uint64_t heap = UINT64_C(64) << 20;
    return (end_of(below) - 1) / heap != above->address / heap ||
           may_be_alone(live, count, below) || may_be_alone(live, count, above);
}

static int by_address(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Returns the live rows by address. */
static struct row *live_rows(uint64_t ns, size_t *count)
{
    struct row *live = malloc((row_count + 1) * sizeof(*live));
    assert_non_null(live);
    *count = 0;
    for (size_t i = 0; i < row_count; i++)
        if (live_at(&rows[i], ns))
            live[(*count)++] = rows[i];
    qsort(live, *count, sizeof(*live), by_address);
    return live;
}

/* Finds the last free in a range by looking at every row. */
static uint64_t last_free(uint64_t ns, uint64_t start, uint64_t end)
{
    uint64_t last = SESSION_NEVER;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (row->free_ns <= ns && row->address < end && end_of(row) > start &&
            (last == SESSION_NEVER || row->free_ns > last))
            last = row->free_ns;
    }
    return last;
}

static const struct session_hole *find(const struct session_hole *holes, size_t count,
                                       uint64_t start)
{
    for (size_t i = 0; i < count; i++)
        if (holes[i].start == start)
            return &holes[i];
    return NULL;
}

static void check_hole(const struct session_hole *hole, uint64_t ns, uint64_t start,
                       const struct row *above)
{
    assert_non_null(hole);
    assert_int_equal(hole->end, above->address);
    assert_int_equal(hole->above, above->id);
    assert_true(live_at(&rows[hole->below - 1], ns));
    assert_int_equal(end_of(&rows[hole->below - 1]), start);
    assert_int_equal(hole->since_ns, last_free(ns, start, hole->end));
}

static void check(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                  uint64_t least)
{
    struct session_use wanted = {.selected_bytes = 0}, use, passing;
    struct session_hole *holes;
    size_t count, live_count, hole_count = 0;
    struct row *live = live_rows(ns, &live_count);
    const struct row *below = live; /* the block that reaches farthest so far */
    uint64_t reach = 0;
    assert_true(session_holes(session, ns, from, to, least, true, &holes, &count, &error));
    for (size_t i = 0; i < live_count; i++) {
        const uint64_t bytes = i > 0 && live[i].address > reach ? live[i].address - reach : 0;
        if (bytes >= least && bytes < REGION_GAP && reach >= from && reach < to &&
            is_unknown(live, live_count, below, &live[i])) {
            wanted.unknown_bytes += bytes;
            wanted.unknown_count++;
        } else if (bytes >= least && bytes < REGION_GAP && reach >= from && reach < to) {
            check_hole(find(holes, count, reach), ns, reach, &live[i]);
            hole_count++;
            wanted.hole_bytes += bytes;
            wanted.largest = bytes > wanted.largest ? bytes : wanted.largest;
        } else if (bytes > 0 && bytes < REGION_GAP && reach >= from && reach < to) {
            *(bytes <= SESSION_OVERHEAD_MOST ? &wanted.overhead_bytes : &wanted.small_bytes) +=
                bytes;
        }
        if (live[i].address >= from && live[i].address < to) {
            const bool selected = selection_contains(selection, live[i].id);
            *(selected ? &wanted.selected_bytes : &wanted.filtered_bytes) += live[i].size;
            *(selected ? &wanted.selected_count : &wanted.filtered_count) += 1;
        }
        below = end_of(&live[i]) > reach ? &live[i] : below;
        reach = end_of(below);
    }
    assert_int_equal(count, hole_count);
    unknown_seen += wanted.unknown_count;
    for (size_t i = 1; i < count; i++)
        assert_true(holes[i - 1].end - holes[i - 1].start >= holes[i].end - holes[i].start);
    wanted.hole_count = count;
    wanted.largest_at = count > 0 ? holes[0].start : 0;
    assert_true(selection_use(selection, ns, from, to, least, &use, &error));
    assert_true(selection_use_over_time(selection, ns, from, to, least, &passing, &error));
    assert_memory_equal(&use, &wanted, sizeof(use));
    assert_memory_equal(&passing, &wanted, sizeof(use));
    free(holes);
    free(live);
}

static void open_session(uint64_t seed, size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = allocations;
    options.header = seed == 2 ? 16 : 0;
    options.huge = seed == 4 ? UINT64_C(20) << 20 : 0;
    options.nested = seed == 5;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    rows = rows_load(PATH, &row_count);
}

static void close_session(void)
{
    session_close(session);
    free(rows);
}

static void test_gaps(void **state)
{
    static const char *const filters[] = {"all", "all | where size > 64 and thread == 1"};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        open_session(seed, seed == 3 ? 70000 : 1500);
        const uint64_t end = session_duration_ns(session);
        const uint64_t times[] = {0, end / 4, end / 3, end / 5, end + 1, session_peak_ns(session)};
        for (size_t f = 0; f < 2; f++) {
            struct selection *selection = selection_new(session, filters[f], &error);
            assert_non_null(selection);
            for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
                const uint64_t middle = rows[row_count / 2].address;
                check(selection, times[t], 0, UINT64_MAX, seed == 3 ? 16384 : 64);
                check(selection, times[t], middle, middle + (1 << 20), seed == 3 ? 4096 : 33);
                check(selection, times[t], 0, middle + 3, 1024 * 1024);
            }
            selection_free(selection);
        }
        close_session();
        assert_true(unknown_seen > 0 || seed < 2);
    }
}

static uint64_t sql_number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const uint64_t number = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* The numbers of the memory view are those of a query that anyone can run. */
static void test_against_sql(void **state)
{
    static const char gaps[] =
        "WITH live AS (SELECT address, address + max(size, 1) AS stop FROM allocation "
        "WHERE free_ns IS NULL), "
        "beside AS (SELECT address, max(stop) OVER (ORDER BY address ROWS BETWEEN UNBOUNDED "
        "PRECEDING AND 1 PRECEDING) AS reach FROM live) ";
    char sql[700];
    sqlite3 *database;
    struct session_hole *holes;
    size_t count;
    open_session(11, 30000);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_true(session_holes(session, session_duration_ns(session), 0, UINT64_MAX, 1024, false,
                              &holes, &count, &error));
    assert_true(count > 10);
    snprintf(sql, sizeof(sql),
             "%sSELECT count(*) FROM beside WHERE address - reach BETWEEN 1024 AND 16777215", gaps);
    assert_int_equal(count, sql_number(database, sql));
    snprintf(sql, sizeof(sql),
             "%sSELECT max(address - reach) FROM beside WHERE address - reach < 16777216", gaps);
    assert_int_equal(holes[0].end - holes[0].start, sql_number(database, sql));
    free(holes);
    sqlite3_close(database);
    close_session();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_against_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
