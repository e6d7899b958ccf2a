/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways back. Each change of the view or of the filter is a step, and Esc takes back one after
 * another. Undo and redo go through the filters alone.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser_state.h"

/* ---- the filters ------------------------------------------------------------------------ */

/* Forgets the filters after the present one. */
static void cut(struct filter_history *history)
{
    while (history->count > history->at + 1)
        free(history->texts[--history->count]);
}

/* Puts a filter after the present one. Without memory for it, the history stays as it is. */
static void push_filter(struct filter_history *history, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return;
    cut(history);
    if (history->count == STEPS_MOST) {
        free(history->texts[0]);
        memmove(history->texts, history->texts + 1, sizeof(history->texts[0]) * (STEPS_MOST - 1));
        history->count--;
    }
    history->texts[history->count++] = copy;
    history->at = history->count - 1;
}

/* Asks for a filter, unless it is coming already. The active one only ends what is coming. */
static bool set_filter(struct exploration *exploration, const char *text,
                       struct session_error *error)
{
    if (strcmp(text, exploration_wanted_filter(exploration)) == 0)
        return true;
    if (strcmp(text, exploration->filter) != 0)
        return exploration_filter(exploration, text, error);
    exploration_keep_filter(exploration);
    return true;
}

/* Goes to a filter of the history. */
static bool go_to_filter(struct browser *browser, int at)
{
    struct session_error error = {.message = ""};
    browser->filters.at = at;
    if (!set_filter(&browser->exploration, browser->filters.texts[at], &error)) {
        exploration_complain(&browser->exploration, "%s", error.message);
        return false;
    }
    browser_refresh(browser);
    return true;
}

/* ---- the trail -------------------------------------------------------------------------- */

static void push_step(struct browser *browser, enum view_number view)
{
    if (browser->trail_length == STEPS_MOST) {
        memmove(browser->trail, browser->trail + 1, sizeof(browser->trail[0]) * (STEPS_MOST - 1));
        browser->trail_length--;
    }
    browser->trail[browser->trail_length++] = view;
}

/* Takes the last change of the filter out of the trail. */
static void drop_filter_step(struct browser *browser)
{
    for (int i = browser->trail_length - 1; i >= 0; i--) {
        if (browser->trail[i] != STEP_FILTER)
            continue;
        memmove(browser->trail + i, browser->trail + i + 1,
                sizeof(browser->trail[0]) * (size_t)(browser->trail_length - i - 1));
        browser->trail_length--;
        return;
    }
}

/* ---- interface -------------------------------------------------------------------------- */

void steps_begin(struct browser *browser)
{
    push_filter(&browser->filters, exploration_wanted_filter(&browser->exploration));
}

void steps_free(struct browser *browser)
{
    browser->filters.at = -1;
    cut(&browser->filters);
}

void browser_go(struct browser *browser, enum view_number number, bool keep)
{
    if (!browser_view(number)) {
        exploration_complain(&browser->exploration, "there is no such view yet");
        return;
    }
    if (keep && number != browser->current)
        push_step(browser, browser->current);
    const struct view_ops *before = browser_view(browser->current);
    if (number != browser->current && before->leave)
        before->leave(browser->views[browser->current], &browser->exploration);
    browser->current = number;
    browser_refresh(browser);
}

bool browser_filter(struct browser *browser, const char *text, struct session_error *error)
{
    if (strcmp(text, exploration_wanted_filter(&browser->exploration)) == 0)
        return true;
    if (!set_filter(&browser->exploration, text, error))
        return false;
    push_filter(&browser->filters, text);
    push_step(browser, STEP_FILTER);
    browser_refresh(browser);
    return true;
}

void steps_back(struct browser *browser)
{
    if (browser->trail_length == 0) {
        exploration_say(&browser->exploration, "nothing to go back to; q quits");
        return;
    }
    const enum view_number step = browser->trail[--browser->trail_length];
    if (step != STEP_FILTER)
        browser_go(browser, step, false);
    else if (browser->filters.at > 0)
        go_to_filter(browser, browser->filters.at - 1);
}

void steps_undo(struct browser *browser)
{
    if (browser->filters.at == 0) {
        exploration_say(&browser->exploration, "no filter to undo");
        return;
    }
    drop_filter_step(browser);
    go_to_filter(browser, browser->filters.at - 1);
}

void steps_redo(struct browser *browser)
{
    if (browser->filters.at + 1 >= browser->filters.count) {
        exploration_say(&browser->exploration, "no filter to do again");
        return;
    }
    if (go_to_filter(browser, browser->filters.at + 1))
        push_step(browser, STEP_FILTER);
}

void steps_filter_failed(struct browser *browser)
{
    struct filter_history *history = &browser->filters;
    const char *active = browser->exploration.filter;
    while (history->at > 0 && strcmp(history->texts[history->at], active) != 0) {
        history->at--;
        drop_filter_step(browser);
    }
    cut(history);
}
