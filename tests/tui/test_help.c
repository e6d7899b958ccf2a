/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the examples of the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/session.h"
#include "tui/browser/help.h"

static void filters_of_the_help_parse(void **state)
{
    (void)state;
    size_t count = 0;
    const struct filter_example *examples = help_filter_examples(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct session_error error = {.message = ""};
        if (!filter_check(examples[i].text, &error))
            fail_msg("%s: column %d: %s", examples[i].text, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_of_the_help_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
