/* SPDX-License-Identifier: BSD-2-Clause */
/* A browser whose prompts a test types into. The test makes it and frees it. */
#ifndef MPROF_TESTS_TUI_TYPING_H
#define MPROF_TESTS_TUI_TYPING_H

#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"

static struct browser *browser;

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
}

static void type(const char *text)
{
    for (uint32_t key; (key = text_next(&text)) != 0;)
        press(key);
}

/* Returns the line of the prompt. */
static const char *typed(void)
{
    return line_editor_text(browser->editors[browser->mode]);
}

/* Leaves the prompt and all filters, before each test. */
static int leave(void **state)
{
    browser->mode = MODE_VIEW;
    for (int i = 0; i < STEPS_MOST; i++)
        press(KEYCODE_ESCAPE);
    return 0;
}

#endif
