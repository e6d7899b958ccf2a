/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the examples of the help, and the names of views in the table of options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "session/session.h"
#include "tui/browser/browser.h"
#include "tui/browser/help.h"

static void filters_of_the_help_parse(void **state)
{
    size_t count = 0;
    const struct filter_example *examples = help_filter_examples(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct session_error error = {.message = ""};
        if (!filter_check(examples[i].text, &error))
            fail_msg("%s: column %d: %s", examples[i].text, error.column, error.message);
    }
}

static void the_option_names_all_views(void **state)
{
    char names[1000] = "";
    const char *name;
    for (int i = 0; (name = browser_view_name(i)); i++) {
        strcat(strcat(names, i > 0 ? " " : ""), name);
        assert_non_null(strstr(tui_command_line.options[TUI_OPTION_VIEW].help, name));
    }
    char choices[1000], *rest = choices;
    snprintf(choices, sizeof(choices), "%s", tui_command_line.options[TUI_OPTION_VIEW].choices);
    size_t count = 0;
    for (char *word; (word = strsep(&rest, " ")); count++)
        assert_non_null(strstr(names, word));
    for (int i = 0; (name = browser_view_name(i)); i++)
        count--;
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_of_the_help_parse),
        cmocka_unit_test(the_option_names_all_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
