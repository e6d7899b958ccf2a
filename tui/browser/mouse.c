/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles the mouse: tabs, the filter, hints of the footer, menus, the help, and the view. */
#include "tui/browser/browser_state.h"
#include "tui/browser/help.h"

static void in_help(struct browser *browser, const struct event *event)
{
    if (event->kind == EVENT_WHEEL_UP)
        help_mode_key(browser, KEYCODE_UP);
    else if (event->kind == EVENT_WHEEL_DOWN)
        help_mode_key(browser, KEYCODE_DOWN);
    else if (event->kind == EVENT_CLICK)
        help_mode_key(browser, KEYCODE_ESCAPE);
}

static void in_menu(struct browser *browser, const struct event *event)
{
    if (event->kind == EVENT_WHEEL_UP)
        menus_key(browser, KEYCODE_UP);
    else if (event->kind == EVENT_WHEEL_DOWN)
        menus_key(browser, KEYCODE_DOWN);
    else if (event->kind == EVENT_CLICK)
        menus_click(browser, event->x, event->y);
}

static void click_tab(struct browser *browser, int x)
{
    const enum view_number tab = frame_tab_at(browser, x);
    if (tab == VIEW_SAME)
        return;
    browser->mode = MODE_VIEW;
    browser_go(browser, tab, false);
}

static void click_filter(struct browser *browser, int x)
{
    if (browser->mode != MODE_FILTER)
        prompt_open(browser, MODE_FILTER);
    line_editor_click(browser->editors[MODE_FILTER], browser->width - FRAME_FILTER_COLUMN,
                      x - FRAME_FILTER_COLUMN);
}

static void in_view(struct browser *browser, const struct event *event)
{
    static const enum action actions[] = {
        [EVENT_CLICK] = ACTION_CLICK,       [EVENT_DOUBLE_CLICK] = ACTION_CLICK,
        [EVENT_DRAG] = ACTION_DRAG,         [EVENT_RELEASE] = ACTION_DROP,
        [EVENT_WHEEL_UP] = ACTION_WHEEL_UP, [EVENT_WHEEL_DOWN] = ACTION_WHEEL_DOWN,
    };
    browser_act(browser, &(struct view_input){.action = actions[event->kind],
                                              .twice = event->kind == EVENT_DOUBLE_CLICK,
                                              .x = event->x,
                                              .y = event->y - FRAME_TOP});
}

void mouse_event(struct browser *browser, const struct event *event)
{
    const bool click = event->kind == EVENT_CLICK;
    const int bottom = browser->height - FRAME_BOTTOM;
    if (event->x >= browser->width || event->y >= browser->height)
        return;
    if (browser->mode == MODE_HELP)
        in_help(browser, event);
    else if (browser->mode == MODE_MENU)
        in_menu(browser, event);
    else if (click && event->y == 0)
        click_tab(browser, event->x);
    else if (click && event->y == 1)
        click_filter(browser, event->x);
    else if (browser->mode != MODE_VIEW)
        return;
    else if (event->y >= FRAME_TOP && event->y < bottom)
        in_view(browser, event);
    else if (click && event->y >= bottom && !browser->exploration.message[0])
        browser_do(browser, frame_hint_at(browser, event->x));
}
