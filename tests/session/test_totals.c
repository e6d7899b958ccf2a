/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals of selections against plain sums over the rows, and the columns that are read for them:
 * the last step that selects rows adds them up in the same pass.
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
#include "session/store/column_store.h"
#include "session/store/session_state.h"
#include "session/filter/program.h"
#include "session/groups.h"
#include "session/store/scan.h"

#define PATH "totals.db"

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3 * (size_t)COLUMN_CHUNK_ROWS + 1000;
    if (!fixture_write(PATH, &options) || !(session = session_open(PATH, &error)))
        return -1;
    rows = rows_load(PATH, &row_count);
    return row_count == options.allocations ? 0 : -1;
}

static int close_fixture(void **state)
{
    session_close(session);
    free(rows);
    return unlink(PATH);
}

static void check_totals(const char *filter)
{
    struct selection *selection = selection_new(session, filter, &error);
    uint64_t count = 0, bytes = 0, live_count = 0, live_bytes = 0;
    if (!selection)
        fail_msg("%s: %s", filter, error.message);
    for (size_t i = 0; i < row_count; i++) {
        if (!selection_contains(selection, rows[i].id))
            continue;
        const bool live = rows[i].free_ns == SESSION_LIVE;
        count++;
        bytes += rows[i].size;
        live_count += live;
        live_bytes += live ? rows[i].size : 0;
    }
    assert_int_equal(selection_count(selection), count);
    assert_int_equal(selection_allocations(selection), count);
    assert_int_equal(selection_bytes(selection), bytes);
    assert_int_equal(selection_live_count(selection), live_count);
    assert_int_equal(selection_live_bytes(selection), live_bytes);
    selection_free(selection);
}

/* Steps after the last `where` leave the rows as they are, or change them again. */
static void test_totals(void **state)
{
    static const char *const filters[] = {
        "all",
        "all | where size > 100",
        "all | where freed == false",
        "all | where size > 1G",
        "all | where size > 20 | where thread == 2",
        "all | where size > 100 | color by size | sort size",
        "all | where size > 100 | color red where thread == 1",
        "all | where size > 100 | top 50",
        "all | where size > 100 | sort size | top 7 | where thread == 2",
        "(all | where size > 100) - (all | where thread == 1)",
        "(all | where size > 100) + leaked | where thread == 2",
        "all | where size > 100 | join thread",
        "all | where size > 100 | join thread | where bytes > 1K | ungroup",
        "all | where size > 100 | join size | ungroup | where thread == 1",
        "all | where size > 100 | count",
        "live at peak | where size > 100",
    };
    for (size_t threads = 1; threads <= 3; threads++) {
        scan_use_threads(session, threads);
        for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
            check_totals(filters[i]);
    }
}

static uint64_t chunks_read(const struct column_store *store)
{
    const struct column_reads reads = column_store_reads(store);
    return reads.direct + reads.by_sqlite;
}

static uint64_t totals_columns(const struct column_store *store)
{
    uint64_t wanted = 0;
    for (uint32_t chunk = 0; chunk < column_store_chunks(store); chunk++) {
        assert_true(column_store_min(store, chunk, COLUMN_SIZE) < 100);
        assert_true(column_store_max(store, chunk, COLUMN_SIZE) >= 100);
        wanted += 1;
        assert_int_equal(column_store_max(store, chunk, COLUMN_ARENA), 0);
        /* Lives tell only where some blocks were not freed, and others were. */
        wanted += column_store_min(store, chunk, COLUMN_LIFE_NS) == 0 &&
                  column_store_max(store, chunk, COLUMN_LIFE_NS) > 0;
    }
    return wanted;
}

/* The sizes that a filter tests and that are added up are read once. Measures of them need no pass
 * of their own. */
static void test_columns_are_read_once(void **state)
{
    static const char *const filters[] = {
        "all | where size >= 100",
        "all | where size >= 100 | sum size",
        "all | where size >= 100 | avg size",
        "all | where size >= 100 | count",
    };
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        struct session *fresh = session_open(PATH, &error); /* no reader has read anything yet */
        assert_non_null(fresh);
        struct graph_result *result = graph_run(fresh, filters[i], &error);
        assert_non_null(result);
        assert_int_equal(chunks_read(fresh->columns), totals_columns(fresh->columns));
        graph_result_free(result);
        session_close(fresh);
    }
}

/* Returns the first free of a chunk. The fixture's directory has only a bound. */
static uint64_t first_free(uint32_t chunk)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = (size_t)chunk * COLUMN_CHUNK_ROWS;
         i < row_count && i < (size_t)(chunk + 1) * COLUMN_CHUNK_ROWS; i++)
        first = rows[i].free_ns < first ? rows[i].free_ns : first;
    return first;
}

/* Before the first free of a chunk, its blocks are live from their beginning on. From then on their
 * lives are asked, too, which were read with the beginnings. */
static void test_live_before_first_free(void **state)
{
    struct column_reader *reader = column_reader_new(session->columns, &error);
    uint64_t words[ROW_SET_WORDS];
    unsigned tested = 0;
    assert_non_null(reader);
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        const uint64_t first = first_free(chunk);
        if (first == UINT64_MAX)
            continue;
        tested++;
        session->columns->frees[chunk].first = first;
        assert_true(column_store_min(session->columns, chunk, COLUMN_ALLOC_NS) < first);
        assert_true(column_store_max(session->columns, chunk, COLUMN_ALLOC_NS) > first);
        for (uint64_t ns = first - 1; ns <= first; ns++) {
            const struct filter_program live = {
                .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = ns};
            const uint64_t before = chunks_read(session->columns);
            assert_true(filter_program_run(session, reader, &live, chunk, NULL, words, &error));
            assert_int_equal(chunks_read(session->columns) - before, ns < first ? 2 : 0);
            const size_t begin = (size_t)chunk * COLUMN_CHUNK_ROWS;
            for (size_t i = 0; i < COLUMN_CHUNK_ROWS; i++) {
                const bool now = begin + i < row_count && rows[begin + i].alloc_ns <= ns &&
                                 rows[begin + i].free_ns > ns;
                assert_int_equal(words[i / 64] >> (i % 64) & 1, now);
            }
        }
    }
    assert_true(tested >= 3);
    column_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_columns_are_read_once),
        cmocka_unit_test(test_live_before_first_free),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
