/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways back: from filters that are still being counted, undo and redo, steps of Esc; menus. */
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
    assert_non_null(browser->browse.coming.job); /* it really is on its way */
    assert_string_equal(browse_wanted_filter(&browser->browse), SLOW);
}

static void settle(const char *expected)
{
    for (int i = 0; i < 4000 && browse_waits(&browser->browse); i++)
        tick();
    assert_false(browse_waits(&browser->browse));
    assert_string_equal(browser->browse.filter, expected);
}

static void escape_gives_up_what_is_coming(void **state)
{
    begin();
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = KEYCODE_ESCAPE});
    settle("");
}

static void the_active_filter_gives_up_what_is_coming(void **state)
{
    struct session_error error;
    begin();
    assert_true(browser_filter(browser, "", &error));
    settle("");
    begin();
    assert_true(browser_filter(browser, SLOW, &error)); /* it is coming already */
    settle(SLOW);
}

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
    for (int i = 0; i < 4000 && browse_waits(&browser->browse); i++)
        tick();
}

static void filter(const char *text)
{
    struct session_error error;
    assert_true(browser_filter(browser, text, &error));
    settle(text);
}

/* Goes back until there is no step left. */
static void leave_everything(void)
{
    browser->mode = MODE_VIEW;
    for (int i = 0; i < STEPS_MOST + 5; i++)
        press(KEYCODE_ESCAPE);
    assert_int_equal(browser->trail_length, 0);
}

static void undo_and_redo_go_through_the_filters(void **state)
{
    leave_everything();
    settle("");
    filter("all | where size > 10");
    filter("leaked");
    press('u');
    settle("all | where size > 10");
    press('u');
    settle("");
    press('u'); /* nothing left */
    assert_string_equal(browser->browse.message, "no filter to undo");
    settle("");
    press('U');
    press('U');
    settle("leaked");
    press('U');
    assert_string_equal(browser->browse.message, "no filter to do again");
    press('u');
    filter("live at peak"); /* instead of what could be done again */
    press('U');
    settle("live at peak");
    press('u');
    press('u');
    settle("");
}

static void escape_takes_back_one_step(void **state)
{
    leave_everything();
    settle("");
    press('5');
    assert_int_equal(browser->current, VIEW_FUNCTIONS);
    browse_replace(&browser->browse, "leaked");
    browse_show(&browser->browse, VIEW_MEMORY);
    browser_act(browser, &(struct view_input){.action = ACTION_REFRESH});
    settle("leaked");
    assert_int_equal(browser->current, VIEW_MEMORY);
    press(KEYCODE_ESCAPE); /* the view */
    assert_int_equal(browser->current, VIEW_FUNCTIONS);
    settle("leaked");
    press(KEYCODE_ESCAPE); /* the filter */
    settle("");
    press(KEYCODE_ESCAPE);
    assert_string_equal(browser->browse.message, "nothing to go back to; q quits");
    /* A filter that was undone is not a step of Esc any more. */
    filter("leaked");
    press('u');
    press(KEYCODE_ESCAPE);
    assert_string_equal(browser->browse.message, "nothing to go back to; q quits");
    /* Done again, it is one. */
    press('U');
    settle("leaked");
    press(KEYCODE_ESCAPE);
    settle("");
}

/* A view that is left before its answers have come does not keep the browser awake. */
static void views_that_are_left_are_not_waited_for(void **state)
{
    leave_everything();
    settle("");
    /* Until the view is left really before its answer has come. */
    char text[64] = "";
    bool left = false;
    for (int size = 1; size < 200 && !left; size++) {
        press('1');
        snprintf(text, sizeof(text), "all | where size > %d", size);
        filter(text);
        browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = '5'});
        left = browser->browse.loader.waiting != NULL;
        browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = '1'});
    }
    assert_true(left);
    settle(text);
    press('5'); /* the answers are there */
    assert_int_equal(browser_patience(browser), -1);
    leave_everything();
}

static void a_filter_that_fails_leaves_no_step(void **state)
{
    struct session_error error;
    leave_everything();
    /* It fails now, or when the engine has tried. */
    (void)browser_filter(browser, "session \"nothing.db\"", &error);
    for (int i = 0; i < 4000 && browse_waits(&browser->browse); i++)
        tick();
    settle("");
    assert_int_equal(browser->trail_length, 0);
    press('u');
    assert_string_equal(browser->browse.message, "no filter to undo");
}

static void offers_narrow_and_exclude(void **state)
{
    leave_everything();
    press('5');
    press('w');
    assert_int_equal(browser->mode, MODE_MENU);
    press(KEYCODE_DOWN);
    press(KEYCODE_ESCAPE);
    assert_int_equal(browser->mode, MODE_VIEW);
    settle("");
    press('w');
    press('1');
    settle("all | where stack has \"main\"");
    press('u');
    press('x');
    press(KEYCODE_ENTER);
    settle("all | where not (stack has \"main\")");
    press('u');
    settle("");
    press(KEYCODE_HOME);
    press('y');
    char *copied = browser_takes_copy(browser);
    assert_non_null(copied);
    assert_true(strncmp(copied, "main", 4) == 0);
    free(copied);
    assert_null(browser_takes_copy(browser));
}

static void colours_have_a_preview(void **state)
{
    leave_everything();
    press('2');
    const enum session_color_by before = browser->browse.color_by;
    press('c');
    press(KEYCODE_DOWN);
    assert_int_equal(browser->browse.color_by, before + 1);
    press(KEYCODE_ESCAPE);
    assert_int_equal(browser->browse.color_by, before);
    press('c');
    press(KEYCODE_DOWN);
    press(KEYCODE_ENTER);
    assert_int_equal(browser->browse.color_by, before + 1);
}

static void says_which_keys_do_nothing(void **state)
{
    leave_everything();
    press('5');
    press('%');
    assert_string_equal(browser->browse.message, "% does nothing in Functions; ? lists the keys");
    press(KEYCODE_DOWN);
    assert_string_equal(browser->browse.message, "");
}

static int open_browser(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    options.allocations = 200000;
    if (!fixture_write(PATH, &options) || !(session = session_open(PATH, &error)))
        return 1;
    browser = browser_new(session, &(struct browser_options){.width = 80, .height = 24}, &error);
    for (int i = 0; browser && i < 4000 && browse_waits(&browser->browse); i++)
        tick();
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
        cmocka_unit_test(escape_gives_up_what_is_coming),
        cmocka_unit_test(the_active_filter_gives_up_what_is_coming),
        cmocka_unit_test(undo_and_redo_go_through_the_filters),
        cmocka_unit_test(escape_takes_back_one_step),
        cmocka_unit_test(views_that_are_left_are_not_waited_for),
        cmocka_unit_test(a_filter_that_fails_leaves_no_step),
        cmocka_unit_test(offers_narrow_and_exclude),
        cmocka_unit_test(colours_have_a_preview),
        cmocka_unit_test(says_which_keys_do_nothing),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
