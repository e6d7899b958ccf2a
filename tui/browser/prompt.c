/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles the lines that the user types: filter, search, command, place to go to. */
#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/browser/help.h"
#include "tui/screen/input.h"

void prompt_open(struct browser *browser, enum browser_mode mode)
{
    if (mode == MODE_GOTO && !browser_view(browser->current)->asks)
        return;
    completion_clear(&browser->completion);
    browser->mode = mode;
    browser->prompt_behind = MODE_VIEW;
    if (mode == MODE_GOTO)
        browser->editors[MODE_GOTO] = browser->places[browser->current];
    browser->filter_error = (struct session_error){.message = ""};
    line_editor_set(browser->editors[mode], mode == MODE_FILTER ? browser->exploration.filter : "");
}

void prompt_ask(struct browser *browser)
{
    struct exploration *exploration = &browser->exploration;
    browser->asked = exploration->wish_ask;
    browser->asked_before = exploration->wish_before;
    prompt_open(browser, MODE_ASK);
    line_editor_set(browser->editors[MODE_ASK],
                    exploration->wish_answer ? exploration->wish_answer : "");
    free(exploration->wish_answer);
    exploration->wish_answer = NULL;
    exploration->wish_ask = NULL;
}

static void take_filter(struct browser *browser, const char *text)
{
    struct session_error error = {.message = ""};
    if (!browser_filter(browser, text, &error)) {
        browser->filter_error = error;
        return; /* the editor stays open: the user can correct the filter */
    }
    browser->mode = MODE_VIEW;
}

static void take(struct browser *browser, enum browser_mode mode, const char *text)
{
    switch (mode) {
    case MODE_FILTER:
        take_filter(browser, text);
        break;
    case MODE_SEARCH:
        if (browser->prompt_behind == MODE_HELP) {
            help_search(browser, text);
            break;
        }
        browser->mode = MODE_VIEW;
        if (*text)
            browser_search(browser, text);
        break;
    case MODE_GOTO:
        browser->mode = MODE_VIEW;
        if (*text)
            browser_act(browser, &(struct view_input){.action = ACTION_GOTO, .text = text});
        break;
    case MODE_ASK:
        browser->mode = MODE_VIEW;
        browser_act(browser, &(struct view_input){.action = ACTION_ANSWER, .text = text});
        break;
    case MODE_RANGE:
        browser->mode = MODE_VIEW;
        browser_act(browser, &(struct view_input){.action = ACTION_RANGE, .text = text});
        break;
    default:
        browser->mode = MODE_VIEW;
        command_run(browser, text);
        break;
    }
}

/* A key that moves ends the prompt of a range with nothing typed: the range begins at the cursor.
 */
static bool begins_range(struct browser *browser, uint32_t key)
{
    const char *text = line_editor_text(browser->editors[browser->mode]);
    if (browser->mode != MODE_RANGE || *text)
        return false;
    const enum action action =
        key_action(&browser_view(browser->current)->keys, browser->current, key);
    if (action != ACTION_LEFT && action != ACTION_RIGHT && action != ACTION_PAGE_UP &&
        action != ACTION_PAGE_DOWN && action != ACTION_HOME && action != ACTION_END)
        return false;
    browser->mode = MODE_VIEW;
    browser_act(browser, &(struct view_input){.action = ACTION_RANGE});
    browser_act(browser, &(struct view_input){.action = action});
    return true;
}

/* Shows at once where the filter in the editor is wrong. */
static void check(struct browser *browser)
{
    struct session_error error = {.message = ""};
    if (browser->mode != MODE_FILTER)
        return;
    session_filter_check(browser->exploration.session,
                         line_editor_text(browser->editors[MODE_FILTER]), &error);
    browser->filter_error = error;
}

void prompt_key(struct browser *browser, uint32_t key)
{
    enum browser_mode mode = browser->mode;
    struct line_editor *editor = browser->editors[mode];
    if (begins_range(browser, key))
        return;
    if (key == KEYCODE_TAB) {
        complete(browser);
        check(browser);
        return;
    }
    completion_clear(&browser->completion);
    switch (line_editor_key(editor, key)) {
    case LINE_DONE: {
        const char *text = line_editor_text(editor);
        take(browser, mode, text);
        if (browser->mode != mode)
            line_editor_remember(editor, text);
        break;
    }
    case LINE_CANCELLED:
        browser->mode = browser->prompt_behind;
        break;
    case LINE_CHANGED:
        check(browser);
        break;
    default:
        break;
    }
}
