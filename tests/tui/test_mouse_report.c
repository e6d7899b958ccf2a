/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of the mouse: clicks, double clicks, drags, the wheel, and other bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tui/screen/input.h"

static struct mouse_state mouse;
static struct event event;

static int begin(void **state)
{
    mouse = (struct mouse_state){.held = false};
    return 0;
}

static enum event_kind take(const char *report, int64_t now_ms)
{
    event = (struct event){.kind = EVENT_NONE, .x = -1, .y = -1};
    return mouse_report_read(&mouse, report, now_ms, &event) ? event.kind : EVENT_NONE;
}

static void counts_cells_from_zero(void **state)
{
    assert_int_equal(take("0;200;60M", 1), EVENT_CLICK);
    assert_int_equal(event.x, 199);
    assert_int_equal(event.y, 59);
    assert_int_equal(take("0;200;60m", 2), EVENT_RELEASE);
}

static void finds_double_clicks(void **state)
{
    assert_int_equal(take("0;5;5M", 1000), EVENT_CLICK);
    take("0;5;5m", 1010);
    assert_int_equal(take("0;5;5M", 1000 + MOUSE_DOUBLE_MS), EVENT_DOUBLE_CLICK);
    take("0;5;5m", 1410);
    assert_int_equal(take("0;5;5M", 1420), EVENT_CLICK); /* a third one begins again */
    take("0;5;5m", 1430);
    assert_int_equal(take("0;6;5M", 1440), EVENT_CLICK); /* another cell */
    take("0;6;5m", 1450);
    assert_int_equal(take("0;6;5M", 1441 + MOUSE_DOUBLE_MS), EVENT_CLICK); /* too late */
}

static void drags_from_cell_to_cell(void **state)
{
    assert_int_equal(take("32;9;9M", 1), EVENT_NONE); /* no button is held */
    assert_int_equal(take("0;5;5M", 1), EVENT_CLICK);
    assert_int_equal(take("32;5;5M", 2), EVENT_NONE);
    assert_int_equal(take("32;7;5M", 3), EVENT_DRAG);
    assert_int_equal(event.x, 6);
    assert_int_equal(take("0;7;5m", 4), EVENT_RELEASE);
    assert_int_equal(take("0;7;5m", 5), EVENT_NONE);
    assert_int_equal(take("0;7;5M", 6), EVENT_CLICK); /* a drag is not a first click */
}

static void turns_the_wheel(void **state)
{
    assert_int_equal(take("64;1;1M", 1), EVENT_WHEEL_UP);
    assert_int_equal(take("65;1;1M", 1), EVENT_WHEEL_DOWN);
    assert_int_equal(take("81;1;1M", 1), EVENT_WHEEL_DOWN); /* with Ctrl */
    assert_int_equal(take("66;1;1M", 1), EVENT_NONE);       /* sideways */
}

static void refuses_the_rest(void **state)
{
    static const char *const reports[] = {
        "",       "M",      "0;5M",     "0;0;5M",  "0;5;0M",        "0;5;5",  "0;5;5Mx",
        "2;5;5M", "1;5;5M", "128;5;5M", "0;-5;5M", "99999999;5;5M", "x;5;5M", "0;5;5X"};
    for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++)
        assert_int_equal(take(reports[i], 1), EVENT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counts_cells_from_zero, begin),
        cmocka_unit_test_setup(finds_double_clicks, begin),
        cmocka_unit_test_setup(drags_from_cell_to_cell, begin),
        cmocka_unit_test_setup(turns_the_wheel, begin),
        cmocka_unit_test_setup(refuses_the_rest, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
