/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the rows of the diff with SQL, of one session and of two with other ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "fixture.h"
#include "tui/view/diff/compare.h"

struct world {
    struct session *session;
    struct selection *selection;
    sqlite3 *database;
    uint64_t ns;
};

static void open_world(struct world *world, const char *path, uint64_t seed)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    options.seed = seed;
    options.allocations = 6000;
    assert_true(fixture_write(path, &options));
    world->session = session_open(path, &error);
    assert_non_null(world->session);
    world->selection = selection_new(world->session, "all", &error);
    assert_non_null(world->selection);
    assert_int_equal(sqlite3_open(path, &world->database), SQLITE_OK);
}

static void close_world(struct world *world)
{
    sqlite3_close(world->database);
    selection_free(world->selection);
    session_close(world->session);
}

/* Returns the live bytes by the name of a type, or "(unknown)". */
static uint64_t live_of(const struct world *world, const char *name, bool function)
{
    sqlite3_stmt *statement;
    const char *sql =
        function ? "SELECT coalesce(sum(a.size), 0) FROM allocation a LEFT JOIN stack s ON s.id = "
                   "a.stack_id LEFT JOIN function f ON f.id = s.function_id WHERE "
                   "coalesce(f.name, 'unknown function') = ?1 AND "
                   "a.alloc_ns <= ?2 AND (a.free_ns IS NULL OR a.free_ns > ?2)"
                 : "SELECT coalesce(sum(a.size), 0) FROM allocation a LEFT JOIN type t ON t.id = "
                   "a.type_id WHERE coalesce(nullif(t.name, '?'), '(unknown)') = ?1 AND "
                   "a.alloc_ns <= ?2 AND (a.free_ns IS NULL OR a.free_ns > ?2)";
    assert_int_equal(sqlite3_prepare_v2(world->database, sql, -1, &statement, NULL), SQLITE_OK);
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)world->ns);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const uint64_t bytes = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return bytes;
}

static uint64_t all_live(const struct world *world)
{
    char sql[200];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof(sql),
             "SELECT sum(size) FROM allocation WHERE alloc_ns <= %llu AND (free_ns IS NULL OR "
             "free_ns > %llu)",
             (unsigned long long)world->ns, (unsigned long long)world->ns);
    assert_int_equal(sqlite3_prepare_v2(world->database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const uint64_t bytes = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return bytes;
}

static void check(const struct world *a, const struct world *b, enum session_growth_by by)
{
    const struct compare_side before = {a->session, a->selection, a->ns, NULL};
    const struct compare_side after = {b->session, b->selection, b->ns, NULL};
    struct session_error error = {.message = ""};
    struct compare_row *rows;
    size_t count;
    uint64_t sum_a = 0, sum_b = 0;
    assert_true(compare_sides(&before, &after, by, &rows, &count, &error));
    assert_true(count > 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
        sum_a += rows[i].before.bytes;
        sum_b += rows[i].after.bytes;
        if (by == SESSION_GROWTH_STACK || by == SESSION_GROWTH_USER)
            continue;
        assert_int_equal(rows[i].before.bytes,
                         live_of(a, rows[i].name, by == SESSION_GROWTH_FUNCTION));
        assert_int_equal(rows[i].after.bytes,
                         live_of(b, rows[i].name, by == SESSION_GROWTH_FUNCTION));
        assert_string_equal(compare_state(&rows[i]), rows[i].before.count == 0   ? "new"
                                                     : rows[i].after.count == 0  ? "gone"
                                                     : compare_net(&rows[i]) > 0 ? "grown"
                                                     : compare_net(&rows[i]) < 0
                                                         ? "shrunk"
                                                         : compare_state(&rows[i]));
    }
    assert_int_equal(sum_a, all_live(a));
    assert_int_equal(sum_b, all_live(b));
    compare_free(rows, count);
}

static void rows_are_those_of_sql(void **state)
{
    struct world a = {.ns = 0}, b = {.ns = 0};
    open_world(&a, "before.db", 1);
    open_world(&b, "after.db", 2);
    for (int by = SESSION_GROWTH_TYPE; by <= SESSION_GROWTH_STACK; by++) {
        struct world later = b;
        b.ns = session_duration_ns(b.session) / 3;
        later.ns = session_peak_ns(b.session);
        check(&b, &later, (enum session_growth_by)by);
        a.ns = session_peak_ns(a.session);
        b.ns = session_peak_ns(b.session);
        check(&a, &b, (enum session_growth_by)by);
    }
    close_world(&a);
    close_world(&b);
}

/* Few enough that some types go. */
#define FEW "all | where id in (1..900)"

/* Returns the bytes that the step of a row selects. */
static int64_t bytes_of(const struct world *world, const struct compare_row *row,
                        enum session_growth_by by, enum counted counted,
                        const struct counted_times *times)
{
    struct session_error error = {.message = ""};
    char *step = counted_step(row, by, counted, times), *text = NULL;
    assert_non_null(step);
    assert_true(asprintf(&text, FEW " | %s", step) > 0);
    struct selection *selection = selection_new(world->session, text, &error);
    if (!selection)
        print_message("%s: %s\n", text, error.message);
    assert_non_null(selection);
    const int64_t bytes = (int64_t)selection_bytes(selection);
    selection_free(selection);
    free(step);
    free(text);
    return bytes;
}

/* Compares what each row counts with its numbers. */
static void check_steps(struct world *world, uint64_t from, uint64_t to, enum session_growth_by by)
{
    const struct compare_side before = {world->session, world->selection, from, NULL};
    const struct compare_side after = {world->session, world->selection, to, NULL};
    const struct counted_times times = {.before_ns = from, .after_ns = to};
    struct session_error error = {.message = ""};
    struct compare_row *rows;
    size_t count, several = 0, gone = 0;
    assert_true(compare_sides(&before, &after, by, &rows, &count, &error));
    for (size_t i = 0; i < count; i++) {
        const int64_t came = bytes_of(world, &rows[i], by, COUNTED_CAME, &times);
        const int64_t went = bytes_of(world, &rows[i], by, COUNTED_WENT, &times);
        assert_int_equal(came - went, compare_net(&rows[i]));
        assert_int_equal(bytes_of(world, &rows[i], by, COUNTED_LIVE, &times), rows[i].after.bytes);
        several += rows[i].stack_count > 2;
        gone += rows[i].after.count == 0;
    }
    assert_true(by != SESSION_GROWTH_STACK || several > 0);
    assert_true(from > to || by == SESSION_GROWTH_USER || gone > 0);
    compare_free(rows, count);
}

/* Also for what is gone, for times in either order, and for paths that several stacks have. */
static void a_row_lists_what_it_counts(void **state)
{
    static const enum session_growth_by ways[] = {SESSION_GROWTH_TYPE, SESSION_GROWTH_FUNCTION,
                                                  SESSION_GROWTH_USER, SESSION_GROWTH_STACK};
    struct world world = {.ns = 0};
    open_world(&world, "steps.db", 3);
    const char *sql =
        "UPDATE function SET name = 'long ' || printf('%1200s', 'name') WHERE id % 3 = 0;"
        "UPDATE function SET name = 'one' WHERE id % 3 > 0;";
    struct session_error error = {.message = ""};
    assert_int_equal(sqlite3_exec(world.database, sql, NULL, NULL, NULL), SQLITE_OK);
    selection_free(world.selection);
    session_close(world.session);
    world.session = session_open("steps.db", &error);
    assert_non_null(world.session);
    world.selection = selection_new(world.session, FEW, &error);
    assert_non_null(world.selection);
    const uint64_t end = session_duration_ns(world.session), early = end / 20;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        check_steps(&world, early, end, ways[i]);
        check_steps(&world, end, early, ways[i]);
    }
    close_world(&world);
}

/* A stack without frames has the row of the blocks that have no stack. */
static void the_stacks_of_a_path_are_ranges(void **state)
{
    static uint32_t stacks[] = {0, 3, 4, 5, 9};
    static const struct {
        size_t first, count;
        const char *text;
    } cases[] = {{0, 1, " and stack is null"},
                 {0, 5, " and (stack is null or stack in (3..5, 9))"},
                 {1, 4, " and stack in (3..5, 9)"},
                 {1, 2, " and stack in (3..4)"},
                 {4, 1, " and stack in (9)"}};
    const struct counted_times times = {.before_ns = 1, .after_ns = 2};
    struct world world = {.ns = 0};
    open_world(&world, "ranges.db", 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[] = "no stack";
        const struct compare_row row = {
            .name = name, .stacks = stacks + cases[i].first, .stack_count = cases[i].count};
        char *step = counted_step(&row, SESSION_GROWTH_STACK, COUNTED_LIVE, &times);
        assert_non_null(step);
        assert_true(strlen(step) > strlen(cases[i].text));
        assert_string_equal(step + strlen(step) - strlen(cases[i].text), cases[i].text);
        bytes_of(&world, &row, SESSION_GROWTH_STACK, COUNTED_LIVE, &times);
        free(step);
    }
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_sql),
        cmocka_unit_test(a_row_lists_what_it_counts),
        cmocka_unit_test(the_stacks_of_a_path_are_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
