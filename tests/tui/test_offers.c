/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the offers of views to filters while less than all is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "tui/view/common/offers.h"

#define PATH "test_offers.db"

static void a_line_on_too_many_stacks_offers_its_call_sites(void **state)
{
    struct view_offer offers[2] = {{.label = ""}};
    assert_int_equal(offer_source("/src/shop.c", 7, "stack in (1, 3)", offers, 2), 2);
    assert_string_equal(offers[0].step, "where stack in (1, 3)");
    assert_string_equal(offers[1].step, "where file == \"/src/shop.c\" and line == 7");
    free(offers[0].step);
    free(offers[1].step);
    offers[0] = (struct view_offer){.label = ""};
    assert_int_equal(offer_source("/src/shop.c", 7, NULL, offers, 2), 1);
    assert_string_equal(offers[0].label, "call sites of line 7");
    assert_string_equal(offers[0].step, "where file == \"/src/shop.c\" and line == 7");
    free(offers[0].step);
}

static void a_long_name_is_offered_whole(void **state)
{
    char path[3000], step[3100];
    struct view_offer offer = {.label = ""};
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    snprintf(step, sizeof(step), "where file == \"%s\"", path);
    assert_int_equal(offer_source(path, 0, NULL, &offer, 1), 1);
    assert_string_equal(offer.step, step);
    free(offer.step);
}

static void a_function_that_shares_its_name_waits(void **state)
{
    static const struct function_words words = {"this", "each", false};
    const struct fixture_options options = FIXTURE_DEFAULTS;
    const struct function_matchers unknown = {.data = NULL};
    struct view_offer offers[2] = {{.label = ""}};
    struct session_error error = {.message = ""};
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH, "UPDATE function SET name = 'make(int)' WHERE id IN (2, 3);"
                                  "UPDATE function SET name = 'alone()' WHERE id = 4"));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_int_equal(
        function_matchers_offer(&unknown, session, SESSION_ANYWHERE, 2, &words, offers, 2), 0);
    assert_int_equal(
        function_matchers_offer(&unknown, session, SESSION_ANYWHERE, 4, &words, offers, 2), 1);
    assert_string_equal(offers[0].label, "this: alone()");
    assert_string_equal(offers[0].step, "where stack has \"alone()\"");
    free(offers[0].step);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_on_too_many_stacks_offers_its_call_sites),
        cmocka_unit_test(a_long_name_is_offered_whole),
        cmocka_unit_test(a_function_that_shares_its_name_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
