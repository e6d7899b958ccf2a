/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins by stack read the sums of all allocations from packed arrays, from the table `stack`, or
 * from the rows. Here each of these gives sums of its own, which tells where they come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"
#include "session/groups.h"

#define PATH "packed_sums.db"
enum { ROWS = 3000, OF_ARRAYS = 9, OF_TABLE = 7 };

static size_t rows_per_stack;
static uint64_t row_bytes;

/* Returns the groups' bytes by stack, and checks that they have all allocations. */
static uint64_t sum_groups(struct session *session, size_t *stacks)
{
    struct session_error error = {.column = 0};
    uint64_t allocations, bytes;
    struct graph_result *result = graph_run(session, "all | join stack", &error);
    if (!result)
        fail_msg("%s", error.message);
    struct session_group_set *set = graph_result_groups(result);
    *stacks = session_groups_made(set);
    assert_true(session_groups_sum(set, MEASURE_ALLOCATIONS, &allocations, &error));
    assert_int_equal(allocations, ROWS);
    assert_true(session_groups_sum(set, MEASURE_BYTES, &bytes, &error));
    graph_result_free(result);
    return bytes;
}

/* Runs SQL and checks how many bytes more than its rows each stack has, if the table is read for at
 * least so many rows a stack. */
static void check(const char *sql, size_t rows, uint64_t more)
{
    struct session_error error = {.column = 0};
    size_t stacks;
    assert_true(fixture_sql(PATH, sql));
    group_rows_per_stack = rows;
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    const uint64_t bytes = sum_groups(session, &stacks);
    assert_in_range(stacks, 100, ROWS);
    assert_int_equal(bytes - row_bytes, more * stacks);
    session_close(session);
    group_rows_per_stack = rows_per_stack;
}

#define SUM_STACKS                                                                                 \
    "UPDATE stack SET (allocations, bytes) = (SELECT count(*), total(size) FROM allocation WHERE " \
    "stack_id = stack.id);"

static int open_packed(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.column = 0};
    size_t stacks;
    options.allocations = ROWS;
    rows_per_stack = group_rows_per_stack;
    if (!fixture_write(PATH, &options))
        return 1;
    struct session *session = session_open(PATH, &error);
    row_bytes = sum_groups(session, &stacks);
    session_close(session);
    return !fixture_sql(PATH, SUM_STACKS "UPDATE stack SET bytes = bytes + 9") ||
           !fixture_pack(PATH) || !fixture_sql(PATH, "UPDATE stack SET bytes = bytes - 9 + 7");
}

static void test_arrays(void **state)
{
    check("", rows_per_stack, OF_ARRAYS);
    check("", 1, OF_ARRAYS);
}

/* Arrays that do not fit are not believed. */
static void test_misfits(void **state)
{
    static const char *const changes[] = {
        "UPDATE packed_array SET data = zeroblob(length(data)) WHERE id = 7",
        "UPDATE packed_array SET data = CAST(data || zeroblob(8) AS BLOB) WHERE id = 7",
        "UPDATE packed_array SET data = CAST(data || zeroblob(8) AS BLOB) WHERE id = 8",
        ("UPDATE packed_array SET data = CAST(x'ffffffffffffffff' || substr(data, 9) AS BLOB)"
         " WHERE id = 7"),
        "DELETE FROM packed_array WHERE id = 8",
        "DELETE FROM packed_array",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        assert_true(fixture_sql(PATH, "UPDATE stack SET bytes = bytes + 2"));
        assert_true(fixture_pack(PATH));
        check("UPDATE stack SET bytes = bytes - 2", 1, OF_ARRAYS);
        check(changes[i], 1, OF_TABLE);
        check("", rows_per_stack, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrays),
                                       cmocka_unit_test(test_misfits)};
    return cmocka_run_group_tests(tests, open_packed, NULL);
}
