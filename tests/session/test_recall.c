/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows that a session remembers of its runs are those that a session without memory finds: of the
 * same graph, of a graph that goes on from there, and after a change of what they depend on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "schemas/code/user_code.h"
#include "session/store/session_state.h"
#include "session/table/selection_state.h"
#include "session/table/sample_estimate.h"
#include "session/table/recall.h"
#include "session/session.h"
#include "session/user_code.h"

#define PATH "recall.db"

static const size_t bytes_most = (size_t)64 << 20;
static struct session *session, *other; /* the other one remembers nothing */
static struct session_error error;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 2 * (size_t)COLUMN_CHUNK_ROWS + 1000;
    if (!fixture_write(PATH, &options) || !fixture_sample_all(PATH) ||
        !fixture_sql(PATH, "DELETE FROM sample_chunk WHERE id >= 32"))
        return -1;
    kept_selections_bytes_most = 0;
    session = session_open(PATH, &error);
    other = session_open(PATH, &error);
    return session && other ? 0 : -1;
}

static int close_fixture(void **state)
{
    session_close(session);
    session_close(other);
    return unlink(PATH);
}

static struct selection *selected(struct session *from, const char *graph)
{
    recall_bytes_most = from == other ? 0 : bytes_most;
    struct selection *selection = selection_new(from, graph, &error);
    if (!selection)
        fail_msg("%s: %s", graph, error.message);
    return selection;
}

static void check_same(const char *graph)
{
    struct selection *ours = selected(session, graph), *plain = selected(other, graph);
    assert_int_equal(recall_count(other), 0);
    assert_int_equal(selection_count(ours), selection_count(plain));
    assert_int_equal(selection_bytes(ours), selection_bytes(plain));
    assert_int_equal(selection_live_count(ours), selection_live_count(plain));
    assert_int_equal(selection_live_bytes(ours), selection_live_bytes(plain));
    for (uint64_t id = 1; id <= session_allocation_count(session); id++)
        if (selection_contains(ours, id) != selection_contains(plain, id))
            fail_msg("%s: row %llu", graph, (unsigned long long)id);
    selection_free(ours);
    selection_free(plain);
}

/* Each text is asked twice, and goes on from texts before it. */
static void test_same_rows(void **state)
{
    static const char *const graphs[] = {
        "all | where size > 100",
        "all | where size > 100 | where thread == 2",
        "all | where size > 100 | where thread == 2 | join stack | where bytes >= 2K | ungroup",
        "( all | where size > 100 ) - ( leaked | where thread == 2 )",
        "( all | where size > 100 | where thread == 2 ) & ( live at 30% | where size < 1K )",
        "live at 30% | where size < 1K",
        "live at 40% | where size < 1K",
        "live at peak | where size < 1K",
        "all | where size in 10..100",
        "all | where size in 10..101",
        "all | where id in (1..10, 20, 70000)",
        "all | where id in (1..10, 20, 70001)",
        "all | where not (function ~ \"^parse\" or thread == 1)",
        "all | where not (function ~ \"^[a-m]\" or thread == 1)",
        "all | where alloc_time > 10ms + 5ms",
        "all | where alloc_time > 10ms - 5ms",
        "all | sort size desc | top 10",
        "all | sort size | top 10",
        "all | sort size | top 11",
        "all | join thread | sort bytes desc | top 1 | ungroup | where size > 64",
        "all | color red where size > 100 | where color is not null",
        "all | where size > 100 | color red where size > 200",
        "all | join type | where bytes > 10K | ungroup | where freed == true",
    };
    /* One for each pipeline that has steps without a colour, each once. */
    enum { KEPT = 20 };
    const size_t count = sizeof(graphs) / sizeof(*graphs);
    for (size_t i = 0; i < count; i++)
        check_same(graphs[i]);
    const size_t kept = recall_count(session);
    assert_int_equal(kept, KEPT);
    for (size_t i = 0; i < count; i++)
        check_same(graphs[i]);
    assert_int_equal(recall_count(session), kept);
}

/* A session that is the same but for the memory reads no column for what it remembers. */
static void test_goes_on(void **state)
{
    selection_free(selected(session, "all | where size > 300 | where freed == true"));
    const size_t kept = recall_count(session);
    selection_free(selected(session, "( all | where size > 300 | where freed == true ) & ( all )"));
    assert_int_equal(recall_count(session), kept);
    selection_free(
        selected(session, "all | where size > 300 | where freed == true | where size < 9K"));
    assert_int_equal(recall_count(session), kept + 1);
}

/* The rows of a graph on the user's own code change with the settings. */
static void test_settings(void **state)
{
    static const char graph[] = "all | where user is not null";
    check_same(graph);
    struct selection *before = selected(session, graph);
    struct user_code code = {0};
    assert_true(user_code_add(&code, USER_CODE_HIDE, "*"));
    assert_true(session_set_user_code(session, &code, &error));
    assert_true(session_set_user_code(other, &code, &error));
    check_same(graph);
    struct selection *after = selected(session, graph);
    assert_int_not_equal(selection_count(before), selection_count(after));
    assert_true(session_set_user_code(session, NULL, &error));
    assert_true(session_set_user_code(other, NULL, &error));
    check_same(graph);
    selection_free(before);
    selection_free(after);
    user_code_free(&code);
}

/* The rows of the sample are others than those of the session. */
static void test_estimate(void **state)
{
    static const char graph[] = "all | where size > 64";
    struct selection_estimate estimate, again;
    bool known;
    check_same(graph);
    assert_true(selection_estimate(session, graph, &estimate, &known, &error));
    assert_true(known);
    check_same(graph);
    assert_true(selection_estimate(session, graph, &again, &known, &error));
    assert_int_equal(estimate.rows, again.rows);
    assert_int_equal(estimate.bytes, again.bytes);
    struct selection *selection = selected(session, graph);
    assert_true(estimate.rows < selection_count(selection));
    selection_free(selection);
}

/* Sets that were used longest ago make room. */
static void test_bounds(void **state)
{
    char graph[100];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(graph, sizeof(graph), "all | where size > %u", i);
        recall_bytes_most = (size_t)100 << 10;
        struct selection *selection = selection_new(session, graph, &error);
        assert_non_null(selection);
        selection_free(selection);
        assert_true(recall_count(session) > 0 && recall_count(session) < 10);
    }
    check_same("all | where size > 29");
    check_same("all | where size > 0");
}

/* The last selections are kept as they are, until what they depend on changes. */
static void test_selections(void **state)
{
    static const char *const graphs[] = {"all | where size > 50", "all | where size > 51",
                                         "all | where size > 52", "all | where size > 53"};
    struct selection *first[4], *again;
    kept_selections_bytes_most = bytes_most;
    for (size_t i = 0; i < 4; i++)
        first[i] = selected(session, graphs[i]);
    for (size_t i = 0; i < 4; i++) {
        assert_ptr_equal(again = selected(session, graphs[i]), first[i]);
        selection_free(again);
    }
    again = selected(session, "all|where size>50");
    assert_ptr_equal(again, first[0]);
    selection_free(again);
    /* A fifth takes the place of the first; others have parts that a text does not tell. */
    selection_free(selected(session, "all | where size > 54"));
    assert_ptr_not_equal(again = selected(session, graphs[0]), first[0]);
    assert_int_equal(selection_count(again), selection_count(first[0]));
    selection_free(again);
    static const char colored[] = "all | color red where size > 50";
    struct selection *red = selected(session, colored);
    assert_ptr_not_equal(again = selected(session, colored), red);
    selection_free(again);
    selection_free(red);
    struct user_code code = {0};
    assert_true(session_set_user_code(session, &code, &error));
    assert_ptr_not_equal(again = selected(session, graphs[3]), first[3]);
    selection_free(again);
    for (size_t i = 0; i < 4; i++)
        selection_free(first[i]);
    kept_selections_bytes_most = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_rows), cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_settings),  cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_bounds),    cmocka_unit_test(test_selections),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
