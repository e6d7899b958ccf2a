/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares sets of two sessions with SQLite, row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "fixture_nodes.h"
#include "session/groups.h"
#include "session/table/selection_state.h"
#include "session/table/match.h"
#include "session/store/scan.h"
#include "session/session.h"

#define HERE "sessions_here.db"
#define THERE "sessions_there.db"

static struct session *session;
static sqlite3 *database;

static void run_sql(const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* Makes a table of the ids and keys of a session: (id, key), where the key is type, size and the
 * names of the stack. */
static void make_keys(const char *schema, const char *table, const char *where)
{
    char sql[2048];
    snprintf(sql, sizeof(sql),
             "CREATE TEMP TABLE %s AS WITH names AS (SELECT id, (SELECT group_concat(name, ';') "
             "FROM (SELECT f.name || '@' || COALESCE(m.name, '') AS name FROM %s.stack_frame sf "
             "JOIN %s.frame fr ON fr.id = sf.frame_id LEFT JOIN %s.function f ON f.id = "
             "fr.function_id LEFT JOIN %s.module m ON m.id = fr.module_id WHERE sf.stack_id = s.id "
             "ORDER BY sf.depth)) AS names FROM %s.stack s) SELECT a.id, a.size AS size, "
             "COALESCE(ty.name, '-') || '|' || a.size || '|' || COALESCE(n.names, '-') AS key FROM "
             "%s.allocation a LEFT JOIN names n ON n.id = a.stack_id LEFT JOIN %s.type ty ON ty.id "
             "= a.type_id WHERE %s",
             table, schema, schema, schema, schema, schema, schema, schema, where);
    run_sql(sql);
}

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    options.allocations = 20000;
    options.stacks = 60;
    if (!fixture_write(HERE, &options))
        return 1;
    options.allocations = 18000;
    options.seed = 2;
    if (!fixture_write(THERE, &options) || sqlite3_open(HERE, &database) != SQLITE_OK)
        return 1;
    /* Two seeds give two programs. Give the other one the names and stacks of the first, under
     * other ids. */
    run_sql(
        "ATTACH '" THERE "' AS there;"
        "CREATE TEMP TABLE whole AS SELECT 61 - stack_id AS stack_id, depth, frame_id "
        "FROM main.stack_frame WHERE stack_id BETWEEN 1 AND 60;" FIXTURE_NODES(
            "there") "DELETE FROM there.frame; INSERT INTO there.frame SELECT * FROM main.frame;"
                     "DELETE FROM there.function; INSERT INTO there.function SELECT * FROM "
                     "main.function;"
                     "UPDATE there.stack SET (call_site_frame_id, function_id, depth) = (SELECT "
                     "call_site_frame_id, function_id, depth FROM main.stack m WHERE m.id = 61 - "
                     "stack.id) "
                     "WHERE id BETWEEN 1 AND 60;");
    make_keys("main", "here_keys", "1");
    make_keys("there", "there_keys", "1");
    make_keys("main", "here_live", "free_ns IS NULL");
    make_keys("there", "there_big", "a.size > 64");
    session = session_open(HERE, &error);
    if (!session)
        fprintf(stderr, "%s\n", error.message);
    return !session;
}

static int close_fixture(void **state)
{
    session_close(session);
    sqlite3_close(database);
    return 0;
}

/* Makes the table `expected` of the ids of `left` with a partner in `right`, or without one. */
static void expect_matches(const char *left, const char *right, bool partners)
{
    char sql[1024];
    run_sql("DROP TABLE IF EXISTS temp.expected");
    snprintf(
        sql, sizeof(sql),
        "CREATE TEMP TABLE expected AS SELECT id, size FROM (SELECT id, size, row_number() OVER "
        "(PARTITION BY key ORDER BY id) AS n, COALESCE(c, 0) AS c FROM %s LEFT JOIN (SELECT "
        "key, count(*) AS c FROM %s GROUP BY key) USING (key)) WHERE n %s c",
        left, right, partners ? "<=" : ">");
    run_sql(sql);
}

/* Checks that the selection has exactly the ids of `expected`. */
static void check_rows(const char *filter, const struct selection *selection)
{
    sqlite3_stmt *statement;
    uint64_t count = 0;
    assert_int_equal(sqlite3_prepare_v2(database, "SELECT id FROM expected", -1, &statement, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
        if (!selection_contains(selection, (uint64_t)sqlite3_column_int64(statement, 0)))
            fail_msg("%s: lacks %lld", filter, (long long)sqlite3_column_int64(statement, 0));
    }
    sqlite3_finalize(statement);
    if (selection_count(selection) != count)
        fail_msg("%s: %llu rows, not %llu", filter, (unsigned long long)selection_count(selection),
                 (unsigned long long)count);
    if (count == 0)
        fail_msg("%s: no rows: this shows nothing", filter);
}

static struct graph_result *run(const char *filter)
{
    struct session_error error = {.column = 0};
    struct graph_result *result = graph_run(session, filter, &error);
    if (!result)
        fail_msg("%s: column %d: %s", filter, error.column, error.message);
    return result;
}

/* The result has rows of this session only. */
static void check_here(const char *filter, const char *left, const char *right, bool partners)
{
    const struct graph_side *sides;
    struct graph_result *result = run(filter);
    assert_int_equal(graph_result_sides(result, &sides), 0);
    expect_matches(left, right, partners);
    check_rows(filter, graph_result_selection(result));
    graph_result_free(result);
}

/* The result has rows of the other session only. */
static void check_there(const char *filter, const char *left, const char *right, bool partners)
{
    const struct graph_side *sides;
    struct graph_result *result = run(filter);
    assert_int_equal(graph_result_sides(result, &sides), 1);
    assert_int_equal(selection_count(graph_result_selection(result)), 0);
    assert_string_equal(session_path(sides[0].session), THERE);
    expect_matches(left, right, partners);
    check_rows(filter, sides[0].selection);
    graph_result_free(result);
}

static void test_differences(void **state)
{
    check_here("all - session \"" THERE "\"", "here_keys", "there_keys", false);
    check_here("all & session \"" THERE "\"", "here_keys", "there_keys", true);
    check_here("live - session \"" THERE "\".(all | where size > 64)", "here_live", "there_big",
               false);
    check_here("all & session \"" THERE "\".(where size > 64)", "here_keys", "there_big", true);
    check_here("big = where size > 64; all & session \"" THERE "\".big", "here_keys", "there_big",
               true);
    check_there("session \"" THERE "\" - all", "there_keys", "here_keys", false);
    check_there("session \"" THERE "\".(where size > 64) & all", "there_big", "here_keys", true);
}

static uint64_t sum(const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const uint64_t value = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* The surplus of both sides keeps its side. Steps work on both. */
/* A table with few slots takes many passes, with the same result. */
static void test_parts_of_keys(void **state)
{
    const size_t most = match_slots_most;
    match_slots_most = 256;
    test_differences(state);
    match_slots_most = most;
}

static void test_sides(void **state)
{
    static const char filter[] =
        "(all - session \"" THERE "\") + (session \"" THERE "\" - all) | where size > 100";
    const struct graph_side *sides;
    struct graph_result *result = run(filter);
    assert_int_equal(graph_result_sides(result, &sides), 1);
    expect_matches("here_keys", "there_keys", false);
    run_sql("DELETE FROM expected WHERE size <= 100");
    check_rows(filter, graph_result_selection(result));
    uint64_t count = sum("SELECT count(*) FROM expected");
    uint64_t bytes = sum("SELECT sum(size) FROM expected");
    uint64_t most = sum("SELECT max(size) FROM expected");
    expect_matches("there_keys", "here_keys", false);
    run_sql("DELETE FROM expected WHERE size <= 100");
    check_rows(filter, sides[0].selection);
    count += sum("SELECT count(*) FROM expected");
    bytes += sum("SELECT sum(size) FROM expected");
    const uint64_t other = sum("SELECT max(size) FROM expected");
    graph_result_free(result);
    static const char *const measures[] = {"count", "sum size", "max size"};
    const uint64_t values[] = {count, bytes, most > other ? most : other};
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s | %s", filter, measures[i]);
        result = run(text);
        assert_int_equal(graph_result_measure(result)->value, values[i]);
        graph_result_free(result);
    }
    /* A selection has the rows of its own session, and says what it lacks. */
    const struct session_warning *warnings;
    struct selection *selection = selection_new(session, filter, NULL);
    assert_non_null(selection);
    assert_int_equal(selection_warnings(selection, &warnings), 1);
    assert_non_null(strstr(warnings[0].message, "allocations of session " THERE " are not shown"));
    selection_free(selection);
}

/* Rows of one other session can be joined and measured, and the sets of one session with itself are
 * compared by identity. */
static void test_one_side(void **state)
{
    struct graph_result *result = run("session \"" THERE "\" | join type | sum bytes");
    assert_int_equal(graph_result_measure(result)->value,
                     sum("SELECT sum(size) FROM there.allocation"));
    graph_result_free(result);
    result = run("session \"" THERE "\" | join type | where bytes > 0 | ungroup | count");
    assert_int_equal(graph_result_measure(result)->value,
                     sum("SELECT count(*) FROM there.allocation"));
    graph_result_free(result);
    result = run("session \"" THERE "\" | peak");
    assert_true(graph_result_measure(result)->value > 0);
    graph_result_free(result);
    result = run("session \"" THERE "\" - session \"" THERE "\".live | count");
    assert_int_equal(graph_result_measure(result)->value,
                     sum("SELECT count(*) FROM there.allocation WHERE free_ns IS NOT NULL"));
    graph_result_free(result);
    result = run("all - session \"" HERE "\" | count");
    assert_int_equal(graph_result_measure(result)->value, 0);
    graph_result_free(result);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        int column;
        const char *message;
    } bad[] = {
        {"all - session \"no_such.db\"", 7, "session \"no_such.db\": "},
        {"all - session \"" THERE "\".no_such", 7, "no graph named \"no_such\""},
        {"all + session \"" THERE "\".live at nowhere", 43, "has no mark named \"nowhere\""},
        {"all + session \"" THERE "\" | join type", 37, "join works on allocations of one session"},
        {"all + session \"" THERE "\" | top 5", 37, "top works on allocations of one session"},
        {"all + session \"" THERE "\" | peak", 37, "peak works on allocations of one session"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct session_error error = {.column = 0};
        assert_null(graph_run(session, bad[i].text, &error));
        if (error.column != bad[i].column || !strstr(error.message, bad[i].message))
            fail_msg("%s: column %d: %s", bad[i].text, error.column, error.message);
    }
}

/* Saved filters of two sessions that use each other do not run forever. Graphs that use each
 * other's sessions without a circle do run. */
static void test_circle(void **state)
{
    struct session_error error = {.column = 0};
    assert_true(fixture_sql(HERE,
                            "INSERT INTO named_graph VALUES"
                            " ('round', 'session \"" THERE "\".back', 0), ('leaf', 'live', 0)"));
    assert_true(fixture_sql(THERE, "INSERT INTO named_graph VALUES"
                                   " ('back', 'session \"" HERE "\".round', 0),"
                                   " ('line', 'session \"" HERE "\".leaf', 0)"));
    assert_null(graph_run(session, "all - session \"" THERE "\".back", &error));
    assert_int_equal(error.column, 7);
    if (!strstr(error.message, "the graph back uses itself by way of this session"))
        fail_msg("%s", error.message);
    struct graph_result *result = run("session \"" THERE "\".line | count");
    assert_int_equal(graph_result_measure(result)->value,
                     sum("SELECT count(*) FROM allocation WHERE free_ns IS NULL"));
    graph_result_free(result);
}

/* A question that is cancelled ends in the other session, too. */
static void test_cancel(void **state)
{
    struct session_error error = {.column = 0};
    struct session *other = other_session_open(session, THERE, &error);
    struct session *mine = session_open(THERE, &error);
    assert_non_null(other);
    assert_non_null(mine);
    scan_cancel(session, true);
    assert_null(selection_new(other, "all", &error));
    assert_string_equal(error.message, "the question was cancelled");
    struct selection *selection = selection_new(mine, "all", &error);
    assert_non_null(selection);
    selection_free(selection);
    session_obey(mine, session);
    assert_null(selection_new(mine, "all", &error));
    assert_null(graph_run(session, "all - session \"" THERE "\"", &error));
    scan_cancel(session, false);
    selection = selection_new(mine, "all", &error);
    assert_non_null(selection);
    selection_free(selection);
    session_close(mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences), cmocka_unit_test(test_parts_of_keys),
        cmocka_unit_test(test_sides),       cmocka_unit_test(test_one_side),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_circle),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
