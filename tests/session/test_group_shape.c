/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of groups that tell how a group's blocks came and went, against SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "session/table/group_state.h"
#include "session/groups.h"

#define PATH "group_shape.db"

static struct session *session;
static sqlite3 *database;
static struct session_error problem;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 80000; /* more than one chunk */
    return fixture_write(PATH, &options) &&
                   /* Types of 24 bytes with members of which two lie over each other. */
                   fixture_sql(PATH, "DELETE FROM type_member;"
                                     "UPDATE type SET size = 24;"
                                     "INSERT INTO type_member SELECT id, 0, 'a', 0, 1, 'char' FROM "
                                     "type; INSERT INTO type_member SELECT id, 1, 'b', 8, id, "
                                     "'char[]' FROM type WHERE id <= 8;"
                                     "INSERT INTO type_member SELECT id, 2, 'c', 8, 2, 'short' "
                                     "FROM type; INSERT INTO type_member SELECT id, 3, 'd', 20, 9, "
                                     "'wrong' FROM type") &&
                   (session = session_open(PATH, &problem)) &&
                   sqlite3_open(PATH, &database) == SQLITE_OK
               ? 0
               : -1;
}

static int close_fixture(void **state)
{
    session_close(session);
    sqlite3_close(database);
    return 0;
}

/* Makes the tables of SQL: the duration, and the blocks of the process heap with a join's key. */
#define ROWS                                                                                       \
    "DROP TABLE IF EXISTS d; DROP TABLE IF EXISTS a; CREATE TEMP TABLE d AS SELECT CAST(value AS " \
    "INTEGER) AS d FROM meta WHERE key = 'duration_ns'; CREATE TEMP TABLE a AS SELECT id, size, "  \
    "count, alloc_ns, free_ns, realloc_of, type_id, coalesce(free_ns, d) AS ended, %s AS k FROM "  \
    "allocation, "                                                                                 \
    "d WHERE arena_id = 0 %s; CREATE INDEX temp.by_key ON a(k)"

/* The blocks of a key, with the size of the one before, and if they climb from it. */
#define STEPS                                                                                      \
    "SELECT size, lag(size) OVER w AS before, size > lag(size) OVER w AND (coalesce(realloc_of = " \
    "lag(id) OVER w, 0) OR "                                                                       \
    "(alloc_ns >= lag(alloc_ns) OVER w AND alloc_ns <= lag(free_ns) OVER w AND alloc_ns >= "       \
    "coalesce("                                                                                    \
    "lag(free_ns, 2) OVER w, 0))) AS climbs FROM a WHERE k = ?1 WINDOW w AS (PARTITION BY (id - "  \
    "1) "                                                                                          \
    "/ 65536 ORDER BY id)"

static const struct {
    enum session_group_measure measure;
    const char *sql; /* gives the value of the key ?1 */
} fields[] = {
    {MEASURE_FIRST_TIME, "SELECT min(alloc_ns) FROM a WHERE k = ?1"},
    {MEASURE_LAST_TIME, "SELECT max(alloc_ns) FROM a WHERE k = ?1"},
    {MEASURE_BORN_OVER, "SELECT max(alloc_ns) - min(alloc_ns) FROM a WHERE k = ?1"},
    {MEASURE_DIED_OVER, "SELECT max(ended) - min(ended) FROM a WHERE k = ?1"},
    {MEASURE_RISES,
     "WITH RECURSIVE p(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM p WHERE i < 9), l AS (SELECT i, "
     "(SELECT "
     "total(size) FROM a, d WHERE k = ?1 AND alloc_ns <= (2 * i + 1) * d / 20 AND (free_ns IS NULL "
     "OR free_ns > (2 * i + 1) * d / 20)) AS bytes FROM p) SELECT count(*) FROM l JOIN l AS m ON "
     "m.i = l.i + 1 WHERE m.bytes > l.bytes"},
    {MEASURE_CLIMB,
     "WITH o AS (" STEPS ") SELECT 100 * coalesce(sum(climbs), 0) / count(*) FROM o"},
    {MEASURE_REPLACED, "WITH o AS (" STEPS ") SELECT coalesce(100 * total(before) FILTER (WHERE "
                       "climbs) / nullif(sum(size), 0), 0) FROM o"},
    /* 24 bytes less 1, less those from 8 on: the larger one of two members. */
    {MEASURE_WASTED,
     "SELECT coalesce(sum(count * (23 - CASE WHEN type_id <= 8 THEN max(type_id, 2) ELSE 2 END)), "
     "0) FROM a WHERE k = ?1 AND type_id > 0"},
};

static uint64_t by_sql(const char *sql, uint64_t id)
{
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_bind_int64(query, 1, (sqlite3_int64)id);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    const uint64_t value = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

/* Compares all fields of some groups of a graph. `key`: SQL for the id of its first key. */
static void compare(const char *graph, const char *key, const char *where)
{
    char rows[1024];
    snprintf(rows, sizeof(rows), ROWS, key, where);
    assert_int_equal(sqlite3_exec(database, rows, NULL, NULL, NULL), SQLITE_OK);
    struct graph_result *result = graph_run(session, graph, &problem);
    if (!result)
        fail_msg("%s: column %d: %s", graph, problem.column, problem.message);
    struct session_group_set *set = graph_result_groups(result);
    assert_non_null(set);
    assert_true(session_groups_count(set) > 1);
    for (size_t row = 0; row < session_groups_count(set) && row < 6; row++) {
        const struct session_group_key id = session_group_key(set, row, 0);
        uint64_t value, bytes, peak;
        for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
            const uint64_t expected = by_sql(fields[i].sql, id.id);
            assert_true(session_group_value(set, row, fields[i].measure, &value, &problem));
            if (value != expected)
                fail_msg("%s: %s of %" PRIu64 " is %" PRIu64 ", not %" PRIu64, graph,
                         session_group_measure_name(fields[i].measure), id.id, value, expected);
        }
        assert_true(session_group_value(set, row, MEASURE_TURNOVER, &value, &problem));
        assert_true(session_group_value(set, row, MEASURE_BYTES, &bytes, &problem));
        assert_true(session_group_value(set, row, MEASURE_PEAK_BYTES, &peak, &problem));
        assert_int_equal(value, peak == 0 ? 0 : bytes / peak);
    }
    graph_result_free(result);
}

static void test_fields(void **state)
{
    compare("all | join thread", "thread_id", "");
    compare("all | where stack is not null | join stack", "stack_id", "AND stack_id > 0");
    /* The end of a chunk, and of the order in it. */
    compare("all | where id in 65530..65545 | join thread", "thread_id",
            "AND id BETWEEN 65530 AND 65545");
    compare("all | where size > 100 and freed == true | join size", "size",
            "AND size > 100 AND free_ns IS NOT NULL");
}

/* Runs a graph that ends in a measure. */
static uint64_t measure_of(const char *graph)
{
    struct graph_result *result = graph_run(session, graph, &problem);
    if (!result)
        fail_msg("%s: column %d: %s", graph, problem.column, problem.message);
    const uint64_t value = graph_result_measure(result)->value;
    graph_result_free(result);
    return value;
}

/* Times in tests of groups are those of the session, and may lie before its start. */
static void test_times(void **state)
{
    const uint64_t all = measure_of("all | join stack | count");
    const uint64_t late = measure_of("all | join stack | where first_time > 1% | count");
    assert_in_range(late, 1, all - 1);
    assert_int_equal(measure_of("all | join stack | where first_time <= 1% | count"), all - late);
    assert_int_equal(measure_of("all | join stack | where not first_time in 0..1% | count"), late);
    assert_int_equal(measure_of("all | join stack | where first_time > start - 1s | count"), all);
    assert_int_equal(measure_of("all | join stack | where first_time == start - 1s | count"), 0);
    assert_int_equal(measure_of("all | join stack | where first_time < start - 1s | count"), 0);
    assert_int_equal(measure_of("all | join stack | where first_time in start - 1s..end | count"),
                     all);
    assert_int_equal(
        measure_of("all | join stack | where first_time in start - 2s..start - 1s | count"), 0);
    assert_int_equal(measure_of("all | join stack | where born_over <= end - start | count"), all);
    assert_int_equal(measure_of("all | join stack | where avg_lifetime > 200% | count"), 0);
}

/* The order of a `sort` by these fields. */
static void test_sort(void **state)
{
    static const enum session_group_measure measures[] = {MEASURE_LAST_TIME, MEASURE_CLIMB,
                                                          MEASURE_WASTED, MEASURE_TURNOVER};
    for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++) {
        char graph[100];
        uint64_t before = UINT64_MAX, value;
        snprintf(graph, sizeof(graph), "all | join stack | sort %s desc",
                 session_group_measure_name(measures[i]));
        struct graph_result *result = graph_run(session, graph, &problem);
        assert_non_null(result);
        struct session_group_set *set = graph_result_groups(result);
        for (size_t row = 0; row < session_groups_count(set); row++) {
            assert_true(session_group_value(set, row, measures[i], &value, &problem));
            assert_true(value <= before);
            before = value;
        }
        graph_result_free(result);
    }
}

/* The right side of an `and` is computed for the groups that the left one leaves. */
static void test_only_groups_that_are_left(void **state)
{
    struct graph_result *result = graph_run(
        session, "all | join stack | where allocations >= 60 and live_count >= 0 and climb >= 0",
        &problem);
    assert_non_null(result);
    const struct session_group_set *set = graph_result_groups(result);
    assert_in_range(set->count, 1, set->made - 1);
    for (uint32_t group = 0; group < set->made; group++) {
        const bool left = set->sums[group].allocations >= 60;
        assert_int_equal(group_words(set, group, SUMS_STEPS)[0],
                         left ? set->sums[group].allocations : 0);
        assert_int_equal(group_words(set, group, SUMS_OBJECTS)[0] > 0, left);
    }
    graph_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_only_groups_that_are_left),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
