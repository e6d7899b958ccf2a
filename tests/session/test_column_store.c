/* SPDX-License-Identifier: BSD-2-Clause */
/* Column chunks under a budget: an evicted chunk comes back the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "fixture.h"
#include "session/data/column_store.h"
#include "session/data/database.h"

#define PATH "columns.db"
#define BUDGET_LEAST ((size_t)2 * COLUMN_TOTAL * (COLUMN_CHUNK_ROWS * 8 + COLUMN_PADDING))

static struct session_error error;

static uint64_t chunk_sum(struct column_store *store, uint32_t chunk, enum column column)
{
    struct column_view view;
    uint64_t sum = 0;
    assert_true(column_store_get(store, chunk, column, &view, &error));
    assert_int_equal(view.rows, column_store_chunk_rows(store, chunk));
    for (uint32_t row = 0; row < view.rows; row++) {
        uint64_t value = column_view_at(&view, row);
        assert_true(value >= column_store_min(store, chunk, column));
        assert_true(value <= column_store_max(store, chunk, column));
        sum += value * (row + 1);
    }
    return sum;
}

static void test_budget(void **state)
{
    (void)state;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 700000;
    assert_true(fixture_write(PATH, &options));
    struct database *database = database_open(PATH, &error);
    assert_non_null(database);
    struct column_store *large = column_store_open(database, SIZE_MAX / 2, &error);
    struct column_store *small = column_store_open(database, 0, &error);
    assert_non_null(large);
    assert_non_null(small);
    uint32_t chunks = column_store_chunks(small);
    assert_int_equal(column_store_rows(small), 700000);
    assert_int_equal(chunks, 11);
    uint64_t sums[11][COLUMN_TOTAL] = {{0}};
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        for (int column = 0; column < COLUMN_TOTAL; column++)
            sums[chunk][column] = chunk_sum(large, chunk, (enum column)column);
    }
    assert_true(column_store_held(large) > BUDGET_LEAST);
    uint64_t random = 7;
    for (int i = 0; i < 600; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t chunk = (uint32_t)(random >> 33) % 11;
        enum column column = (enum column)((random >> 20) % COLUMN_TOTAL);
        assert_int_equal(chunk_sum(small, chunk, column), sums[chunk][column]);
        assert_true(column_store_held(small) <= BUDGET_LEAST);
    }
    assert_true(column_store_reads(small) > column_store_reads(large));
    /* A chunk in memory is not read again. */
    uint64_t reads = column_store_reads(large);
    chunk_sum(large, 3, COLUMN_SIZE);
    assert_int_equal(column_store_reads(large), reads);
    column_store_close(small);
    column_store_close(large);
    database_close(database);
}

/* A scan holds the views of all columns of a chunk at once, even under the least budget. */
static void test_views_stay(void **state)
{
    (void)state;
    struct database *database = database_open(PATH, &error);
    struct column_store *store = column_store_open(database, 0, &error);
    assert_non_null(store);
    for (uint32_t chunk = 0; chunk < column_store_chunks(store); chunk++) {
        struct column_view views[COLUMN_TOTAL];
        uint64_t first[COLUMN_TOTAL];
        for (int column = 0; column < COLUMN_TOTAL; column++) {
            assert_true(
                column_store_get(store, chunk, (enum column)column, &views[column], &error));
            first[column] = column_view_at(&views[column], 0);
        }
        for (int column = 0; column < COLUMN_TOTAL; column++)
            assert_int_equal(column_view_at(&views[column], 0), first[column]);
    }
    column_store_close(store);
    database_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_views_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
