/* SPDX-License-Identifier: BSD-2-Clause */
/* A click on a legend selects what the entry counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "session/stacks.h"
#include "tui/view/common/offers.h"

#define PATH "test_legend.db"

/* Counts in `*shared` the entries whose name other functions have. */
static void check(struct session *session, enum session_color_by by, size_t *shared)
{
    static struct session_legend legend;
    static struct browse browse;
    struct session_error error = {.message = ""};
    char all[] = "";
    struct selection *selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    selection_legend(selection, by, &legend);
    const bool named =
        by != SESSION_COLOR_SIZE && by != SESSION_COLOR_AGE && by != SESSION_COLOR_LIFETIME;
    assert_true(legend.count > 1);
    for (size_t i = 0; i < legend.count; i++) {
        browse = (struct browse){.session = session, .filter = all};
        legend_follow(&browse, &legend, color_by_name(by), i);
        const uint32_t function = legend.entry[i].function;
        const bool alone = function == 0 || session_function_is_alone(session, function);
        assert_int_equal(browse.request_filter != NULL, named && alone && i < SESSION_COLORS - 1);
        *shared += !alone;
        assert_int_equal(browse.message[0] != 0, !browse.request_filter);
        if (!browse.request_filter)
            continue;
        struct selection *narrow = selection_new(session, browse.request_filter, &error);
        if (!narrow)
            fail_msg("%s: %s", browse.request_filter, error.message);
        if (selection_allocations(narrow) != legend.entry[i].allocations)
            fail_msg("%s selects %u of %u", browse.request_filter,
                     (unsigned)selection_allocations(narrow),
                     (unsigned)legend.entry[i].allocations);
        selection_free(narrow);
        free(browse.request_filter);
    }
    selection_free(selection);
}

static void an_entry_selects_what_it_counts(void **state)
{
    const struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    size_t shared = 0;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH, "UPDATE thread SET name = 'same' WHERE id IN (2, 3)"));
    assert_true(fixture_sql(PATH, "UPDATE thread SET name = '#3 of a kind' WHERE id = 1"));
    assert_true(fixture_sql(PATH, "UPDATE function SET name = 'make(int)' WHERE id % 3 = 0;"
                                  "UPDATE function SET name = name || printf('%.*c', 5000, 'n')"
                                  " WHERE id % 3 = 1"));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    for (int by = SESSION_COLOR_NONE + 1; by <= SESSION_COLOR_KIND; by++)
        check(session, (enum session_color_by)by, &shared);
    assert_true(shared >= 2);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_selects_what_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
