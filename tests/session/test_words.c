/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that fit at a place of a filter. Each one makes a filter that parses further. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "session/words.h"

#define PATH "words.db"

static struct session *session;

struct found {
    char words[8192]; /* each between blanks */
    size_t count, names, most;
};

static bool take(void *context, const char *word, bool name)
{
    struct found *found = context;
    const size_t length = strlen(found->words);
    snprintf(found->words + length, sizeof(found->words) - length, " %s ", word);
    found->names += name;
    return ++found->count != found->most;
}

static struct found after(const char *text)
{
    struct found found = {.count = 0};
    session_filter_words(session, text, take, &found);
    return found;
}

static bool has(const struct found *found, const char *word)
{
    char wanted[300];
    snprintf(wanted, sizeof(wanted), " %s ", word);
    return strstr(found->words, wanted) != NULL;
}

static void sets_begin_a_filter(void **state)
{
    struct found found = after("");
    assert_true(has(&found, "all"));
    assert_true(has(&found, "leaked"));
    assert_true(has(&found, "outlived"));
    assert_true(has(&found, "big-vectors") || has(&found, "leaks") || found.count > 5); /* graphs */
    found = after("all - ");
    assert_true(has(&found, "live"));
    assert_false(has(&found, "where"));
}

static void steps_follow_a_bar(void **state)
{
    struct found found = after("all | where size > 4K | ");
    assert_true(has(&found, "where"));
    assert_true(has(&found, "sort"));
    assert_false(has(&found, "all"));
}

static void fields_are_those_of_the_rows(void **state)
{
    struct found found = after("all | where size > 4 and ");
    assert_true(has(&found, "lifetime"));
    assert_false(has(&found, "at_peak_bytes"));
    assert_false(has(&found, "pins"));
    found = after("live at peak | sort ");
    assert_true(has(&found, "pins"));
    found = after("all | join type | where ");
    assert_true(has(&found, "at_peak_bytes"));
    assert_true(has(&found, "type"));
    assert_false(has(&found, "lifetime"));
    found = after("all | color by ");
    assert_true(has(&found, "thread"));
}

static void names_are_those_of_the_field(void **state)
{
    struct found found = after("all | where function == ");
    assert_true(has(&found, "render_message"));
    assert_int_equal(found.names, found.count);
    const size_t functions = found.count;
    found = after("all | where stack has ");
    assert_int_equal(found.count, functions);
    found = after("all | where frame 2 == ");
    assert_int_equal(found.count, functions);
    found = after("all | where type is null or confidence == ");
    assert_true(has(&found, "inferred"));
    found = after("live | where reachability == ");
    assert_true(has(&found, "root"));
    found = after("all | ");
    assert_true(has(&found, "holds"));
    found = after("live at ");
    assert_true(has(&found, "peak"));
    found = after("all | where alloc_time in start..");
    assert_true(has(&found, "end"));
    found = after("all | where size > ");
    assert_int_equal(found.count, 0);
    found = after("all | whre size > ");
    assert_int_equal(found.count, 0);
    found = after("all | where name = \"open ");
    assert_int_equal(found.count, 0);
    /* A word of the filter that asks is not among the answers. */
    found = after("big = all | top 3; ");
    assert_true(has(&found, "big"));
    assert_null(strstr(found.words, "\xee"));
}

static void a_visit_can_end(void **state)
{
    struct found found = {.most = 2};
    session_field_names(session, "function", take, &found);
    assert_int_equal(found.count, 2);
    found = (struct found){.most = 1};
    session_filter_words(session, "", take, &found);
    assert_int_equal(found.count, 1);
    found = (struct found){.count = 0};
    session_field_names(session, "size", take, &found);
    session_field_names(session, "nothing", take, &found);
    assert_int_equal(found.count, 0);
    session_moment_names(session, take, &found);
    assert_true(has(&found, "start"));
}

static int open_session(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    return fixture_write(PATH, &options) && (session = session_open(PATH, &error)) ? 0 : 1;
}

static int close_session(void **state)
{
    session_close(session);
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_begin_a_filter),
        cmocka_unit_test(steps_follow_a_bar),
        cmocka_unit_test(fields_are_those_of_the_rows),
        cmocka_unit_test(names_are_those_of_the_field),
        cmocka_unit_test(a_visit_can_end),
    };
    return cmocka_run_group_tests(tests, open_session, close_session);
}
