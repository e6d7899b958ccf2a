/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the ranked findings of the overview: their order, and that following one selects exactly
 * the blocks that it counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "session/graphs.h"
#include "tui/view/overview/findings.h"
#include "session/holes.h"
#include "session/session.h"

#define PATH "findings.db"

static struct ranked_finding finding(size_t kind, uint64_t bytes, const char *user,
                                     const char *type)
{
    struct ranked_finding made = {.kind = kind, .bytes = bytes, .count = 1};
    snprintf(made.user, sizeof(made.user), "%s", user);
    snprintf(made.type, sizeof(made.type), "%s", type);
    return made;
}

static void order_is_by_bytes_and_certainty(void **state)
{
    struct ranked_finding findings[] = {
        finding(6, 9000000, "storm", "S"),     /* passes through: counts 400,000 */
        finding(4, 5000000, "edit", "String"), /* told by kind 2 already */
        finding(1, 1000000, "", "Library"),    /* not the user's own code */
        finding(1, 1000000, "leak", "L"),      finding(2, 5000000, "edit", "String"),
        finding(3, 1000, "tiny", "T"), /* less than a thousandth of the peak */
    };
    const size_t count = ranked_order(findings, 6, 10000000);
    static const char *const users[] = {"edit", "leak", "storm", ""};
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(findings[i].user, users[i]);
    assert_int_equal(findings[0].kind, 2);
    assert_int_equal(ranked_severity(&findings[0], 10000000), 2);
    assert_int_equal(ranked_order(findings, 0, 1), 0);
}

static void holes_count_if_they_exceed_what_is_in_use(void **state)
{
    struct ranked_finding found;
    char text[100];
    struct session_use use = {
        .selected_bytes = 600, .filtered_bytes = 400, .hole_bytes = 1000, .hole_count = 2};
    assert_false(ranked_holes(&use, 7, &found));
    use.hole_bytes++;
    assert_true(ranked_holes(&use, 7, &found));
    assert_int_equal(found.bytes, 1001);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.first_ns, 7);
    assert_false(ranked_filter(&found, "", text, sizeof(text)));
    /* It is not a group: groups without function and type do not tell it. */
    struct ranked_finding both[] = {finding(0, 500, "", ""), found};
    assert_int_equal(ranked_order(both, 2, 1000), 2);
}

/* Runs the filter of each finding, and compares. */
static size_t follow_all(struct session *session, const char *filter)
{
    size_t found = 0;
    struct session_error error = {.message = ""};
    for (size_t kind = 0; kind < RANKED_KINDS; kind++) {
        struct ranked_finding findings[RANKED_OF_KIND];
        size_t count;
        if (!ranked_find(session, kind, filter, findings, &count, &error))
            fail_msg("%s: %s", ranked_graph(kind), error.message);
        for (size_t i = 0; i < count; i++) {
            char text[8192];
            assert_true(ranked_filter(&findings[i], filter, text, sizeof(text)));
            struct selection *selection = selection_new(session, text, &error);
            if (!selection)
                fail_msg("%s: %s", text, error.message);
            assert_int_equal(selection_count(selection), findings[i].count);
            if (kind <= RANKED_LEAKS)
                assert_int_equal(selection_live_bytes(selection), findings[i].bytes);
            struct session_allocation first;
            assert_true(selection_row(selection, 0, &first));
            assert_true(first.alloc_ns >= findings[i].first_ns &&
                        first.alloc_ns <= findings[i].last_ns);
            selection_free(selection);
            found++;
        }
    }
    return found;
}

static void following_selects_what_is_counted(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    assert_true(fixture_write(PATH, &options));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_true(follow_all(session, "") > 2);
    assert_true(follow_all(session, "all | where size > 40") > 2);
    /* Blocks that the filter leaves out are not found. */
    assert_int_equal(follow_all(session, "all | where size > 1G"), 0);
    session_close(session);
}

/* Returns true if one of the lines names the graph as one of the user's own. */
static bool tells_of(struct session *session, const char *graph)
{
    struct session_error error = {.message = ""};
    struct finding found[FINDINGS_MOST];
    bool told = false;
    struct selection *selection = selection_new(session, "", &error);
    assert_non_null(selection);
    const size_t count =
        findings_collect(session, selection, false, NULL, 0, NULL, found, FINDINGS_MOST);
    for (size_t i = 0; i < count; i++)
        told =
            told || (strstr(found[i].text, "graphs of your own") && strstr(found[i].text, graph));
    selection_free(selection);
    return told;
}

static void graphs_of_the_user_are_named(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    assert_true(fixture_write(PATH, &options));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_false(tells_of(session, "storms"));
    struct session_storing storing = {.place = SESSION_PLACE_SESSION};
    assert_true(session_graph_store(session, "storms", "all | where size > 64 | join user, type",
                                    &storing, &error));
    session_close(session);
    session = session_open(PATH, &error);
    assert_non_null(session);
    assert_true(tells_of(session, "storms"));
    session_close(session);
}

/* Writes the line that has a text, "" if there is none. */
static void find_line(const char *text, char *out, size_t size)
{
    struct session_error error = {.message = ""};
    struct finding found[FINDINGS_MOST];
    struct session_function_row *rows;
    size_t row_count;
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    struct selection *selection = selection_new(session, "", &error);
    assert_non_null(selection);
    assert_true(selection_functions(selection, &rows, &row_count, &error));
    const size_t count =
        findings_collect(session, selection, false, rows, row_count, NULL, found, FINDINGS_MOST);
    out[0] = 0;
    for (size_t i = 0; i < count; i++)
        if (strstr(found[i].text, text))
            snprintf(out, size, "%s", found[i].text);
    free(rows);
    selection_free(selection);
    session_close(session);
}

/* Another process may have a stripped copy of a module. */
static void modules_without_debug_information_are_counted_once(void **state)
{
    char text[256];
    struct fixture_options options = FIXTURE_DEFAULTS;
    assert_true(fixture_write(PATH, &options));
    find_line("no debug information", text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(fixture_sql(PATH, "INSERT INTO module SELECT id + 100, '/opt/' || name, name, NULL,"
                                  " load_bias, start_address, end_address, 0, NULL, 'symtab'"
                                  " FROM module WHERE id <= 2"));
    find_line("no debug information", text, sizeof(text));
    assert_non_null(strstr(text, "and 1 other:"));
    assert_true(fixture_sql(PATH, "UPDATE module SET symbols = 'none'"));
    find_line("no debug information", text, sizeof(text));
    assert_non_null(strstr(text, "and 5 others:"));
}

static void one_thing_is_not_many(void **state)
{
    static const char *const lines[] = {
        "1 of 1 stack is incomplete", "1 mismatched free, most",
        "1 text or line of the program's own suppressions is missing",
        "1 freed allocation is counted without details"};
    char text[256];
    struct fixture_options options = FIXTURE_DEFAULTS;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(
        PATH, "DELETE FROM meta WHERE key IN ('stacks', 'unmatched_frees');"
              "INSERT INTO meta(key, value) VALUES ('stacks', 1), ('mismatched_frees', 1),"
              " ('lost_suppressions', 1), ('skipped_allocations', 1);"
              "UPDATE stack SET state = CASE id WHEN 1 THEN 'unwind end' ELSE 'complete' END;"
              "INSERT INTO mismatch VALUES (1, (SELECT min(id) FROM kind), 0, 'free', 1, 8)"));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        find_line(lines[i], text, sizeof(text));
        if (!text[0])
            fail_msg("no line has: %s", lines[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_bytes_and_certainty),
        cmocka_unit_test(holes_count_if_they_exceed_what_is_in_use),
        cmocka_unit_test(following_selects_what_is_counted),
        cmocka_unit_test(graphs_of_the_user_are_named),
        cmocka_unit_test(modules_without_debug_information_are_counted_once),
        cmocka_unit_test(one_thing_is_not_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
