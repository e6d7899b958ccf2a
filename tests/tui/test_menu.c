/* SPDX-License-Identifier: BSD-2-Clause */
/* The menu widget: keys, clicks, and a box that is as small as its items need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "grid_text.h"
#include "tui/screen/input.h"
#include "tui/screen/menu.h"

static const char *label(const void *context, size_t item)
{
    static const char *const labels[] = {"one", "two", "three", "four"};
    return labels[item % 4];
}

static struct menu menu;

static int begin(void **state)
{
    menu = (struct menu){.title = "choose", .label = label, .count = 12};
    return 0;
}

static enum menu_answer press(uint32_t key)
{
    const struct menu_place place = menu_place(&menu, 40, 6);
    return menu_key(&menu, &place, key);
}

static void obeys_keys(void **state)
{
    assert_int_equal(press(KEYCODE_DOWN), MENU_MOVED);
    assert_int_equal(menu.selected, 1);
    press(KEYCODE_END);
    assert_int_equal(menu.selected, 11);
    assert_int_equal(menu.first, 8); /* four items are visible */
    press(KEYCODE_PAGE_UP);
    assert_int_equal(menu.selected, 7);
    press(KEYCODE_HOME);
    press(KEYCODE_UP);
    assert_int_equal(menu.selected, 0);
    assert_int_equal(press('4'), MENU_CHOSEN);
    assert_int_equal(menu.selected, 3);
    assert_int_equal(press(KEYCODE_ENTER), MENU_CHOSEN);
    assert_int_equal(press(KEYCODE_ESCAPE), MENU_CLOSED);
    assert_int_equal(press('%'), MENU_IGNORED);
    menu.count = 3;
    assert_int_equal(press('4'), MENU_IGNORED);
}

/* Keys of the items' own take the place of the digits. */
static void has_keys_of_its_own(void **state)
{
    menu.keys = "1RQ";
    assert_int_equal(press('Q'), MENU_CHOSEN);
    assert_int_equal(menu.selected, 2);
    assert_int_equal(press('R'), MENU_CHOSEN);
    assert_int_equal(menu.selected, 1);
    assert_int_equal(press('2'), MENU_IGNORED);
    menu.count = 2;
    assert_int_equal(press('Q'), MENU_IGNORED);
}

static void obeys_clicks(void **state)
{
    const struct menu_place place = menu_place(&menu, 40, 6);
    assert_int_equal(menu_click(&menu, &place, place.x + 3, 2), MENU_CHOSEN);
    assert_int_equal(menu.selected, 1);
    assert_int_equal(menu_click(&menu, &place, place.x, 0), MENU_IGNORED); /* the frame */
    assert_int_equal(menu_click(&menu, &place, place.x - 1, 2), MENU_CLOSED);
}

static void assert_draws(int width, int height, const char *expected)
{
    struct grid *grid = grid_new(width, height, 256, false);
    const struct area area = area_whole(grid);
    menu_render(&menu, &area);
    char *text = grid_text(grid);
    assert_string_equal(text, expected);
    free(text);
    grid_free(grid);
}

static void draws_a_box(void **state)
{
    menu.count = 2;
    assert_draws(16, 5,
                 "    ┌─choose───┐\n"
                 "    │ 1 one    │\n"
                 "    │ 2 two    │\n"
                 "    └──────────┘\n\n");
    menu.count = 12;
    assert_draws(9, 3, "┌─choo…─┐\n│ 1 one │\n└───────┘\n");
    for (int width = 1; width < 20; width++)
        for (int height = 1; height < 6; height++) {
            struct grid *grid = grid_new(width, height, 256, false);
            const struct area area = area_whole(grid);
            menu_render(&menu, &area);
            grid_free(grid);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(obeys_keys, begin),
        cmocka_unit_test_setup(has_keys_of_its_own, begin),
        cmocka_unit_test_setup(obeys_clicks, begin),
        cmocka_unit_test_setup(draws_a_box, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
