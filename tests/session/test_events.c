/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the replay of selections with the rows that SQL gives, in the order of SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "session/time.h"
#include "session/table/selection_state.h"

#define PATH "events.db"

/* Every field of a row, for both of its events, in the order that events.h promises. */
static const char *const in_order =
    "WITH event(ns, phase, kind, row) AS ("
    " SELECT alloc_ns, 1, 0, id FROM allocation UNION ALL"
    " SELECT free_ns, CASE WHEN free_ns = alloc_ns THEN 2 ELSE 0 END, 1, id FROM allocation"
    "  WHERE free_ns IS NOT NULL)"
    "SELECT ns, event.kind, a.id, address, size, count, alloc_ns, coalesce(free_ns, -1), stack_id,"
    " thread_id, coalesce(free_thread_id, 0), coalesce(free_stack_id, 0), a.kind, type_id,"
    " arena_id, coalesce(realloc_of, 0), alignment, coalesce(s.function_id, 0)"
    " FROM event JOIN allocation a ON a.id = event.row LEFT JOIN stack s ON s.id = stack_id"
    " WHERE %s ORDER BY ns, phase, a.id";

struct comparing {
    sqlite3_stmt *statement;
    size_t seen, stop_at; /* stop_at: 0: never */
};

static bool compare_event(void *context, const struct session_event *event)
{
    struct comparing *comparing = context;
    const struct session_allocation *block = event->allocation;
    const uint64_t got[] = {
        event->ns,          (uint64_t)event->kind, block->id,      block->address, block->size,
        block->count,       block->alloc_ns,       block->free_ns, block->stack,   block->thread,
        block->free_thread, block->free_stack,     block->kind,    block->type,    block->arena,
        block->realloc_of,  block->alignment,      block->function};
    assert_int_equal(sqlite3_step(comparing->statement), SQLITE_ROW);
    for (size_t i = 0; i < sizeof(got) / sizeof(*got); i++)
        assert_int_equal(got[i], (uint64_t)sqlite3_column_int64(comparing->statement, (int)i));
    comparing->seen++;
    return comparing->seen != comparing->stop_at;
}

/* Replays `filter` in windows of `at_once` events beside the rows where `condition` holds. */
static void compare(const char *filter, const char *condition, size_t at_once)
{
    struct session_error error;
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    struct selection *selection = selection_new(session, filter, &error);
    assert_non_null(selection);
    sqlite3 *database;
    struct comparing comparing = {.seen = 0};
    char sql[2048];
    snprintf(sql, sizeof(sql), in_order, condition);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &comparing.statement, NULL), SQLITE_OK);
    const size_t usual = selection_events_at_once;
    selection_events_at_once = at_once == 0 ? usual : at_once;
    assert_true(selection_events(selection, compare_event, &comparing, &error));
    selection_events_at_once = usual;
    assert_int_equal(sqlite3_step(comparing.statement), SQLITE_DONE);
    sqlite3_finalize(comparing.statement);
    sqlite3_close(database);
    selection_free(selection);
    session_close(session);
}

static void make(size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
}

static void order_is_that_of_sql(void **state)
{
    make(3000);
    compare("all", "1", 0);
    compare("all", "1", 100);
    compare("all | where size > 100", "size > 100", 100);
    compare("leaked", "free_ns IS NULL", 7);
    compare("all | where id == 77", "a.id = 77", 1);
    compare("all | where size > 1G", "0", 0);
}

/* Replays the events of [from, to) beside the rows of the same times. */
static void compare_span(uint64_t from, uint64_t to, bool any)
{
    struct session_error error;
    struct session *session = session_open(PATH, &error);
    struct selection *selection = selection_new(session, "all", &error);
    struct comparing comparing = {.seen = 0};
    sqlite3 *database;
    char sql[2048], condition[100];
    snprintf(condition, sizeof(condition), "ns >= %llu AND ns < %llu", (unsigned long long)from,
             (unsigned long long)to);
    snprintf(sql, sizeof(sql), in_order, condition);
    assert_non_null(selection);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &comparing.statement, NULL), SQLITE_OK);
    assert_true(selection_events_between(selection, from, to, compare_event, &comparing, &error));
    assert_int_equal(sqlite3_step(comparing.statement), SQLITE_DONE);
    assert_int_equal(comparing.seen > 0, any);
    sqlite3_finalize(comparing.statement);
    sqlite3_close(database);
    selection_free(selection);
    session_close(session);
}

static void spans_have_their_events_only(void **state)
{
    struct session_error error;
    make(3000);
    struct session *session = session_open(PATH, &error);
    struct session_allocation block;
    assert_true(session_allocation(session, 1500, &block, &error));
    session_close(session);
    compare_span(block.alloc_ns, block.alloc_ns + 1, true);
    compare_span(block.alloc_ns, block.alloc_ns + 100000, true);
    compare_span(block.alloc_ns, block.alloc_ns, false);
    compare_span(0, UINT64_MAX >> 1, true);
}

static void several_chunks_take_part(void **state)
{
    make(150000);
    compare("all", "1", 20000);
    compare("all | where thread == 2", "thread_id = 2", 0);
}

/* All times are at few moments, so one nanosecond holds more events than a window may. */
static void one_nanosecond_may_hold_them_all(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3000;
    options.tick = 50000;
    assert_true(fixture_write(PATH, &options));
    compare("all", "1", 10);
    compare("all", "1", 0);
    compare("all | where id > 1000", "a.id > 1000", 500);
}

static void a_visitor_may_end_it(void **state)
{
    make(3000);
    struct session_error error = {.message = "mine"};
    struct session *session = session_open(PATH, &error);
    struct selection *selection = selection_new(session, "all", &error);
    sqlite3 *database;
    struct comparing comparing = {.stop_at = 5};
    char sql[2048];
    snprintf(sql, sizeof(sql), in_order, "1");
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &comparing.statement, NULL), SQLITE_OK);
    snprintf(error.message, sizeof(error.message), "mine");
    assert_false(selection_events(selection, compare_event, &comparing, &error));
    assert_int_equal(comparing.seen, 5);
    assert_string_equal(error.message, "mine");
    sqlite3_finalize(comparing.statement);
    sqlite3_close(database);
    selection_free(selection);
    session_close(session);
}

static void damage_is_an_error(void **state)
{
    make(3000);
    assert_true(fixture_sql(PATH, "UPDATE column_chunk SET data = zeroblob(3) WHERE id = 2"));
    struct session_error error;
    struct session *session = session_open(PATH, &error);
    if (!session)
        return; /* found at once */
    struct selection *selection = selection_new(session, "all", &error);
    struct comparing comparing = {.stop_at = 1};
    assert_true(!selection || !selection_events(selection, compare_event, &comparing, &error));
    assert_int_equal(comparing.seen, 0);
    assert_string_not_equal(error.message, "");
    selection_free(selection);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_sql),
        cmocka_unit_test(spans_have_their_events_only),
        cmocka_unit_test(several_chunks_take_part),
        cmocka_unit_test(one_nanosecond_may_hold_them_all),
        cmocka_unit_test(a_visitor_may_end_it),
        cmocka_unit_test(damage_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
