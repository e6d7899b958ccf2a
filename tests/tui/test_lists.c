/* SPDX-License-Identifier: BSD-2-Clause */
/* The views that are lists sort their rows by each column, and write them in that order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "typing.h"

#define PATH "lists.db"

/* Writes the current view's rows as CSV. The caller frees them. */
static char *rows(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const struct view_ops *view = browser_view(browser->current);
    assert_true(view->table(browser->views[browser->current], &browser->browse, out, TABLE_CSV));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Returns a field of a line of CSV, whose fields have no commas, and moves to the next line. */
static char *field(char **line, size_t column)
{
    char *end = strstr(*line, "\r\n"), *at = *line;
    *end = 0;
    *line = end + 2;
    for (; column > 0; column--)
        at = strchr(at, ',') + 1;
    at[strcspn(at, ",")] = 0;
    return at;
}

static void check_order(enum view_number number)
{
    struct table_order order;
    char *text = rows(), *line = text;
    bool is_number = true;
    double before = 0;
    assert_true(browser_view(number)->order(browser->views[number], &order, false));
    assert_true(*field(&line, order.sort));
    for (bool first = true; *line; first = false) {
        char *end;
        const double now = fabs(strtod(field(&line, order.sort), &end)); /* a loss by its size */
        is_number = is_number && *end == 0;
        if (is_number && !first)
            assert_true(order.descending ? now <= before : now >= before);
        before = now;
    }
    free(text);
}

static void rows_sort_by_every_number(void **state)
{
    static const enum view_number views[] = {VIEW_SIZES, VIEW_LIFETIMES, VIEW_TYPES};
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        struct table_order first, now;
        const struct view_ops *view = browser_view(views[i]);
        press(':');
        type(view->name);
        assert_string_equal(typed(), view->name);
        press(KEYCODE_ENTER);
        assert_true(view->order(browser->views[views[i]], &first, false));
        do {
            check_order(views[i]);
            press('r');
            check_order(views[i]);
            press('>');
            assert_true(view->order(browser->views[views[i]], &now, false));
        } while (now.sort != first.sort);
    }
}

static int open_browser(void **state)
{
    const struct fixture_options options = {
        .seed = 3, .allocations = 3000, .stacks = 60, .functions = 30, .threads = 2};
    const struct browser_options how = {.width = 240, .height = 60, .wait_ms = -1};
    struct session_error error;
    struct session *session = fixture_write(PATH, &options) ? session_open(PATH, &error) : NULL;
    browser = session ? browser_new(session, &how, &error) : NULL;
    return browser ? 0 : -1;
}

static int close_browser(void **state)
{
    browser_free(browser);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rows_sort_by_every_number, leave),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
