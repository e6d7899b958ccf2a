/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the offers of views to filters while less than all is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/view/source/source.h"

static void a_line_on_too_many_stacks_offers_its_call_sites(void **state)
{
    struct view_offer offers[2] = {{.label = ""}};
    (void)state;
    assert_int_equal(source_offers("/src/shop.c", 7, "stack in (1, 3)", offers, 2), 2);
    assert_string_equal(offers[0].long_step, "where stack in (1, 3)");
    assert_string_equal(offers[1].step, "where file == \"/src/shop.c\" and line == 7");
    free(offers[0].long_step);
    offers[0] = (struct view_offer){.label = ""};
    assert_int_equal(source_offers("/src/shop.c", 7, NULL, offers, 2), 1);
    assert_string_equal(offers[0].label, "call sites of line 7");
    assert_string_equal(offers[0].step, "where file == \"/src/shop.c\" and line == 7");
    assert_null(offers[0].long_step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_on_too_many_stacks_offers_its_call_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
