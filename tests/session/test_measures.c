/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares measures of filter graphs with SQLite, and checks what selections make of graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "pins_sql.h"
#include "session/groups.h"
#include "session/session.h"

#define PATH "measures.db"
#define PEAK "(SELECT value FROM meta WHERE key = 'peak_ns')"
#define LIVE_AT(ns) "(alloc_ns <= " ns " AND COALESCE(free_ns, 1e18) > " ns ")"

#define GAPS                                                                                       \
    "(SELECT " PINS_COLUMNS_SQL " FROM v_allocation WHERE " LIVE_AT(PEAK) PINS_WINDOW_SQL ")"

static struct session *session;
static sqlite3 *database;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    return !fixture_write(PATH, &options) || !(session = session_open(PATH, &error)) ||
           sqlite3_open(PATH, &database) != SQLITE_OK;
}

static int close_fixture(void **state)
{
    session_close(session);
    sqlite3_close(database);
    return 0;
}

/* Returns the first column of the first row; *is_null tells whether it is NULL. */
static int64_t ask(const char *sql, bool *is_null)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    *is_null = sqlite3_column_type(statement, 0) == SQLITE_NULL;
    sqlite3_finalize(statement);
    return value;
}

static const struct {
    const char *graph, *sql; /* selects one value from v_allocation */
    enum session_unit unit;
} measures[] = {
    {"count", "count(*)", UNIT_NUMBER},
    {"leaked | count",
     "count(*) FILTER (WHERE free_ns IS NULL AND stack_id NOT IN (SELECT stack_id FROM "
     "runtime_stack))",
     UNIT_NUMBER},
    {"all | sum size", "sum(size)", UNIT_BYTES},
    {"all | avg size", "sum(size) / count(*)", UNIT_BYTES},
    {"all | min size", "min(size)", UNIT_BYTES},
    {"where type == Node | max size", "max(size) FILTER (WHERE type = 'Node')", UNIT_BYTES},
    {"all | sum count", "sum(count)", UNIT_NUMBER},
    {"all | sum lifetime", "sum(lifetime_ns)", UNIT_DURATION},
    {"all | avg lifetime", "sum(lifetime_ns) / count(*)", UNIT_DURATION},
    {"all | max lifetime", "max(lifetime_ns)", UNIT_DURATION},
    {"all | min alloc_time", "min(alloc_ns)", UNIT_MOMENT},
    {"all | max free_time", "max(free_ns)", UNIT_MOMENT},
    {"all | min free_time", "min(free_ns)", UNIT_MOMENT},
    {"all | max line", "max(line)", UNIT_NUMBER},
    {"all | min line", "min(line)", UNIT_NUMBER},
    {"all | max id", "max(id)", UNIT_NUMBER},
    {"all | max address", "max(address)", UNIT_NUMBER},
    {"live at peak | max pins", "(SELECT max(" PINS_SQL ") FROM " GAPS ")", UNIT_BYTES},
    {"live at peak | sum pins", "(SELECT sum(" PINS_SQL ") FROM " GAPS ")", UNIT_BYTES},
    {"where size < 0 | sum size", "0", UNIT_BYTES},
    {"where size < 0 | avg size", "NULL", UNIT_BYTES},
    {"where size < 0 | max size", "NULL", UNIT_BYTES},
    {"live | max free_time", "NULL", UNIT_MOMENT},
    {"all | peak", "(SELECT value FROM meta WHERE key = 'peak_bytes')", UNIT_BYTES},
    {"all | growth load..peak",
     "sum(size) FILTER (WHERE " LIVE_AT(PEAK) ") - sum(size) FILTER (WHERE " LIVE_AT(
         "(SELECT ns FROM mark WHERE name = 'load')") ")",
     UNIT_BYTES},
    {"all | growth peak..end",
     "sum(size) FILTER (WHERE free_ns IS NULL) - sum(size) FILTER (WHERE " LIVE_AT(PEAK) ")",
     UNIT_BYTES},
    {"all | growth peak - 1ms..peak",
     "sum(size) FILTER (WHERE " LIVE_AT(PEAK) ") - sum(size) FILTER (WHERE " LIVE_AT(
         "(" PEAK " - 1000000)") ")",
     UNIT_BYTES},
    {"all | growth start - 1s..peak", "sum(size) FILTER (WHERE " LIVE_AT(PEAK) ")", UNIT_BYTES},
    {"n = all | count; n", "count(*)", UNIT_NUMBER},
    {"all | join type | count", "count(DISTINCT COALESCE(type, ''))", UNIT_NUMBER},
    {"all | join type | sum bytes", "sum(size)", UNIT_BYTES},
};

static void test_measures(void **state)
{
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
        struct session_error error = {.column = 0};
        char sql[4096];
        bool is_null;
        snprintf(sql, sizeof(sql), "SELECT %s FROM v_allocation", measures[i].sql);
        const int64_t expected = ask(sql, &is_null);
        struct graph_result *result = graph_run(session, measures[i].graph, &error);
        if (!result)
            fail_msg("%s: column %d: %s", measures[i].graph, error.column, error.message);
        assert_int_equal(graph_result_kind(result), RESULT_MEASURE);
        assert_null(graph_result_selection(result));
        assert_null(graph_result_groups(result));
        const struct session_measure *measure = graph_result_measure(result);
        const int64_t value =
            measure->negative ? -(int64_t)measure->value : (int64_t)measure->value;
        if (measure->is_null != is_null || (!is_null && value != expected))
            fail_msg("%s: %lld, not %lld", measures[i].graph, (long long)value,
                     (long long)expected);
        assert_int_equal(measure->unit, measures[i].unit);
        assert_false(measure->estimated);
        graph_result_free(result);
    }
}

/* The parts of growth come from SQL, too, and add up. */
static void test_growth(void **state)
{
    static const char *const parts[][2] = {
        {"born", "free_ns IS NULL AND NOT " LIVE_AT(PEAK)},
        {"died", "free_ns IS NOT NULL AND " LIVE_AT(PEAK)},
        {"stayed", "free_ns IS NULL AND " LIVE_AT(PEAK)},
    };
    bool is_null;
    struct graph_result *result = graph_run(session, "all | growth peak..end", NULL);
    assert_non_null(result);
    const struct session_measure *measure = graph_result_measure(result);
    assert_string_equal(measure->name, "growth peak..end");
    assert_int_equal(measure->part_count, 6);
    for (size_t i = 0; i < 3; i++) {
        char sql[512];
        snprintf(sql, sizeof(sql), "SELECT sum(size) FROM v_allocation WHERE %s", parts[i][1]);
        assert_string_equal(measure->part[i].name, parts[i][0]);
        assert_int_equal(measure->part[i].value, ask(sql, &is_null));
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM v_allocation WHERE %s", parts[i][1]);
        assert_int_equal(measure->part[3 + i].value, ask(sql, &is_null));
    }
    assert_true(measure->part[1].value > 0);
    graph_result_free(result);
}

static void test_peak(void **state)
{
    bool is_null;
    struct graph_result *result = graph_run(session, "all | peak", NULL);
    assert_non_null(result);
    const struct session_measure *measure = graph_result_measure(result);
    assert_int_equal(measure->part_count, 1);
    assert_int_equal(measure->part[0].unit, UNIT_MOMENT);
    assert_int_equal(measure->part[0].value, ask("SELECT " PEAK, &is_null));
    graph_result_free(result);
}

/* A selection of a graph that gives groups or a measure has the allocations of it. */
static void test_selections(void **state)
{
    static const char *const graphs[][2] = {
        {"all | where size > 64 | sum size", "all | where size > 64"},
        {"live | join type", "live"},
        {"all | join type | where type == Node | count", "all | where type == Node"},
        {"all | join type | top 0 | ungroup", "all | where size < 0"},
        {"where freed == true | fold 16K", "where freed == true"},
    };
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        struct selection *left = selection_new(session, graphs[i][0], NULL);
        struct selection *right = selection_new(session, graphs[i][1], NULL);
        assert_non_null(left);
        assert_non_null(right);
        assert_int_equal(selection_count(left), selection_count(right));
        assert_int_equal(selection_bytes(left), selection_bytes(right));
        selection_free(left);
        selection_free(right);
    }
}

static void test_notes(void **state)
{
    static const struct {
        const char *graph;
        size_t count;
        int column;
        const char *message;
    } graphs[] = {
        {"where type == Node and function != parse_table", 0, 0, ""},
        {"where confidence == inferred or confidence != candidate or type is null", 0, 0, ""},
        {"where stack !~ no_such and stack == 1000000 and size == 77777", 0, 0, ""},
        {"where function != no_such", 1, 19, "no allocation has the function \"no_such\""},
        {"where type == nod and module == nowhere", 2, 15, "did you mean \"Node\"?"},
        {"live | count", 1, 0, "count: "},
        {"where size < 0 | max size", 1, 0, "max size: there is no value"},
        {"live | join type", 1, 0, "the filter gives groups: these are their allocations"},
        {"f(T) = where type == T; f(Nide)", 1, 27, "did you mean \"Node\"?"},
    };
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        const struct session_warning *warnings;
        struct selection *selection = selection_new(session, graphs[i].graph, NULL);
        assert_non_null(selection);
        if (selection_warnings(selection, &warnings) != graphs[i].count)
            fail_msg("%s: %zu warnings", graphs[i].graph, selection_warnings(selection, &warnings));
        if (graphs[i].count > 0 && (warnings[0].column != graphs[i].column ||
                                    !strstr(warnings[0].message, graphs[i].message)))
            fail_msg("%s: column %d: %s", graphs[i].graph, warnings[0].column, warnings[0].message);
        selection_free(selection);
    }
}

/* Measures of a sampled session are estimates, and say how far they may be off. Those over groups
 * agree with those over allocations. */
static void test_sampled(void **state)
{
    static const struct {
        const char *graph, *of_groups; /* NULL: no group has it */
        bool estimated;
    } graphs[] = {
        {"all | sum size", "all | join kind | sum bytes", true},
        {"all | count", "all | join kind | sum allocations", true},
        {"all | sum count", "all | join kind | sum objects", true},
        {"all | max size", "all | join kind | max max_size", false},
        {"all | growth start..end", NULL, true},
        {"all | peak", NULL, true},
    };
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3000;
    assert_true(fixture_write("sampled.db", &options));
    assert_true(
        fixture_sql("sampled.db", "INSERT OR REPLACE INTO meta VALUES('sample_interval', 700)"));
    struct session *sampled = session_open("sampled.db", NULL);
    assert_non_null(sampled);
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        struct graph_result *result = graph_run(sampled, graphs[i].graph, NULL);
        assert_non_null(result);
        const struct session_measure *measure = graph_result_measure(result);
        assert_int_equal(measure->estimated, graphs[i].estimated);
        assert_true((measure->standard_error != 0) == graphs[i].estimated);
        if (graphs[i].of_groups) {
            struct graph_result *groups = graph_run(sampled, graphs[i].of_groups, NULL);
            assert_non_null(groups);
            const struct session_measure *other = graph_result_measure(groups);
            assert_int_equal(measure->value, other->value);
            if (graphs[i].estimated)
                assert_true(measure->standard_error > 0.999 * other->standard_error &&
                            measure->standard_error < 1.001 * other->standard_error);
            graph_result_free(groups);
        }
        graph_result_free(result);
    }
    session_close(sampled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measures), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_peak),     cmocka_unit_test(test_selections),
        cmocka_unit_test(test_notes),    cmocka_unit_test(test_sampled),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
