/* SPDX-License-Identifier: BSD-2-Clause */
/* Leaving a filter that is still being counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/screen/input.h"

#define PATH "undo.db"
#define SLOW "all | join stack, size, thread | where bytes > 3 | ungroup"

static struct session *session;
static struct browser *browser;

static void tick(void)
{
    usleep(2000);
    browser_event(browser, &(struct event){.kind = EVENT_TICK});
}

/* Begins a slow filter and waits for no answer. */
static void begin(void)
{
    struct session_error error;
    assert_true(browser_filter(browser, SLOW, &error));
    assert_non_null(browser->exploration.coming.job); /* it really is on its way */
    assert_string_equal(exploration_wanted_filter(&browser->exploration), SLOW);
}

static void settle(const char *expected)
{
    for (int i = 0; i < 10000 && exploration_waits(&browser->exploration); i++)
        tick();
    assert_false(exploration_waits(&browser->exploration));
    assert_string_equal(browser->exploration.filter, expected);
}

static void escape_gives_up_what_is_coming(void **state)
{
    (void)state;
    begin();
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = KEYCODE_ESCAPE});
    settle("");
}

static void the_active_filter_gives_up_what_is_coming(void **state)
{
    struct session_error error;
    (void)state;
    begin();
    assert_true(browser_filter(browser, "", &error));
    settle("");
    begin();
    assert_true(browser_filter(browser, SLOW, &error)); /* it is coming already */
    settle(SLOW);
}

static int open_browser(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    (void)state;
    options.allocations = 200000;
    if (!fixture_write(PATH, &options) || !(session = session_open(PATH, &error)))
        return 1;
    browser = browser_new(session, &(struct browser_options){.width = 80, .height = 24}, &error);
    for (int i = 0; browser && i < 10000 && exploration_waits(&browser->exploration); i++)
        tick();
    return browser ? 0 : 1;
}

static int close_browser(void **state)
{
    (void)state;
    browser_free(browser);
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escape_gives_up_what_is_coming),
        cmocka_unit_test(the_active_filter_gives_up_what_is_coming),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
