/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion by Tab where a view asks: in the graph editor, and for times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "typing.h"

#define PATH "answers.db"

/* Types an answer and Tab; the prompt has `wanted` then. */
static void completes_answer(uint32_t key, const char *text, const char *wanted)
{
    press(key);
    assert_true(browser->mode == MODE_ASK || browser->mode == MODE_GOTO ||
                browser->mode == MODE_RANGE);
    line_editor_set(browser->editors[browser->mode], "");
    type(text);
    press(KEYCODE_TAB);
    assert_string_equal(typed(), wanted);
    press(KEYCODE_ESCAPE);
}

static void answers_to_views(void **state)
{
    press(':');
    type("filter all | where size > 1K");
    press(KEYCODE_ENTER);
    press(':');
    type("graphs");
    press(KEYCODE_ENTER);
    press(KEYCODE_TAB); /* to the boxes, the last of which is a step */
    completes_answer(KEYCODE_ENTER, "where thr", "where thread");
    completes_answer('A', "where thr", "where thread");
    completes_answer('A', "& live at p", "& live at peak");
    completes_answer('c', "by thr", "by thread");
    completes_answer('W', "kept_c", "kept_capacity");
    press(KEYCODE_HOME); /* a set */
    completes_answer(KEYCODE_ENTER, "live at pe", "live at peak");
}

static void both_times(void **state)
{
    press(':');
    type("diff");
    press(KEYCODE_ENTER);
    completes_answer('g', "pea", "peak");
    completes_answer('g', "start en", "start end");
    completes_answer('g', "start..pea", "start..peak");
    completes_answer('g', "start, pea", "start, peak");
    press('2');
    completes_answer('v', "1ms pea", "1ms peak");
}

static int open_browser(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    struct session *session;
    if (!fixture_write(PATH, &options) || !(session = session_open(PATH, &error)))
        return 1;
    browser = browser_new(
        session, &(struct browser_options){.width = 80, .height = 24, .wait_ms = -1}, &error);
    return browser ? 0 : 1;
}

static int close_browser(void **state)
{
    browser_free(browser);
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(answers_to_views, leave),
        cmocka_unit_test_setup(both_times, leave),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
