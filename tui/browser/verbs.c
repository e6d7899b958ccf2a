/* SPDX-License-Identifier: BSD-2-Clause */
/* The deeds of the browser, for keys, commands and the mouse alike: actions of the view, another
 * view, another filter and the ways back, a prompt.
 *
 * Each change of the view or of the filter is a step, and Esc takes back one after another. Undo
 * and redo go through the filters alone. */
#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"

/* ---- the views -------------------------------------------------------------------------- */

static const struct view_ops *const view_table[VIEWS] = {
    [VIEW_OVERVIEW] = &overview_view,   [VIEW_TIMELINE] = &timeline_view,
    [VIEW_MEMORY] = &memory_view,       [VIEW_TREE] = &tree_view,
    [VIEW_FUNCTIONS] = &functions_view, [VIEW_TYPES] = &types_view,
    [VIEW_LEAKS] = &leaks_view,         [VIEW_ALLOCATIONS] = &allocations_view,
    [VIEW_SIZES] = &sizes_view,         [VIEW_LIFETIMES] = &lifetimes_view,
    [VIEW_THREADS] = &threads_view,     [VIEW_ARENAS] = &arenas_view,
    [VIEW_SOURCE] = &source_view,       [VIEW_SQL] = &sql_view,
    [VIEW_DETAIL] = &detail_view,       [VIEW_DIFF] = &diff_view,
    [VIEW_GRAPHS] = &graphs_view,       [VIEW_RSS] = &rss_view,
    [VIEW_RETAINED] = &retained_view,
};

const struct view_ops *browser_view(enum view_number number)
{
    return view_table[number];
}

const char *browser_view_name(int n)
{
    for (int i = 0; i < VIEWS; i++)
        if (view_table[i] && n-- == 0)
            return view_table[i]->name;
    return NULL;
}

char *browser_view_names(char *out, size_t size)
{
    size_t length = 0;
    out[0] = 0;
    const char *name;
    for (int i = 0; (name = browser_view_name(i)) && length < size; i++) {
        const char *before = i == 0 ? "" : browser_view_name(i + 1) ? ", " : " and ";
        length += (size_t)snprintf(out + length, size - length, "%s%s", before, name);
    }
    return out;
}

enum view_number browser_find_view(const char *name, bool whole)
{
    const size_t length = strlen(name);
    for (int i = 0; length > 0 && i < VIEWS; i++) {
        const struct view_ops *view = view_table[i];
        if (view &&
            (strcmp(view->name, name) == 0 || (view->alias && strcmp(view->alias, name) == 0)))
            return (enum view_number)i;
    }
    for (int i = 0; length > 0 && !whole && i < VIEWS; i++) {
        const struct view_ops *view = view_table[i];
        if (view && (strncmp(view->name, name, length) == 0 ||
                     (view->alias && strncmp(view->alias, name, length) == 0)))
            return (enum view_number)i;
    }
    return VIEW_SAME;
}

bool browser_too_small(const struct browser *browser)
{
    return browser->width < FRAME_WIDTH_LEAST || browser->height < FRAME_HEIGHT_LEAST;
}

static bool send(struct browser *browser, const struct view_input *given)
{
    const struct view_ops *ops = browser_view(browser->current);
    void *view = browser->views[browser->current];
    struct view_input input = *given;
    browser->browse.wake_ms = 0;
    input.more = browser->more && input.action != ACTION_REFRESH;
    input.width = browser->width;
    input.height = browser->height - FRAME_TOP - FRAME_BOTTOM;
    if (input.height < 1)
        input.height = 1;
    /* Names get their colours in the order of the legends. That of the whole session comes first:
     * the sums of ingest have it. */
    if (!browser->browse.filter[0])
        browse_load_legend(&browser->browse);
    const bool used = ops->update(view, &browser->browse, &input);
    browser->behind = input.more;
    input.action = ACTION_REFRESH;
    if (browse_load_peak(&browser->browse))
        ops->update(view, &browser->browse, &input);
    return used;
}

void browser_refresh(struct browser *browser)
{
    if (!browser_too_small(browser))
        send(browser, &(struct view_input){.action = ACTION_REFRESH});
}

void browser_catch_up(struct browser *browser)
{
    if (browser->behind)
        browser_refresh(browser);
}

bool browser_select_process(struct browser *browser, const char *word, struct session_error *error)
{
    struct browse *browse = &browser->browse;
    uint32_t id;
    if (browser->writing) { /* the engine would have to end that before */
        *error = (struct session_error){.message = "a session is being written; Esc gives it up"};
        return false;
    }
    if (!session_find_process(browse->session, word, &id, error) ||
        !browse_select_process(browse, id, error))
        return false;
    browser_refresh(browser);
    return true;
}

static void prompt_ask(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    browser->asked = browse->request_prompt;
    browser->asked_before = browse->request_before;
    prompt_open(browser, MODE_ASK);
    line_editor_set(browser->editors[MODE_ASK],
                    browse->request_answer ? browse->request_answer : "");
    free(browse->request_answer);
    browse->request_answer = NULL;
    browse->request_prompt = NULL;
}

static void fulfil_requests(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    enum view_number view = browse->request_view;
    char *filter = browse->request_filter;
    browse->request_view = VIEW_SAME;
    browse->request_filter = NULL;
    struct session_error error = {.message = ""};
    if (filter && !browser_filter(browser, filter, &error))
        browse_complain(browse, "%s", error.message);
    free(filter);
    if (view != VIEW_SAME)
        browser_go(browser, view, true);
    if (browse->request_prompt)
        prompt_ask(browser);
}

bool browser_act(struct browser *browser, const struct view_input *input)
{
    bool used = send(browser, input);
    fulfil_requests(browser);
    return used;
}

void browser_search(struct browser *browser, const char *text)
{
    const struct view_input input = {.action = ACTION_SEARCH, .text = text};
    if (browser_act(browser, &input))
        return;
    browser_go(browser, VIEW_FUNCTIONS, true);
    browser_act(browser, &input);
}

/* ---- prompts ---------------------------------------------------------------------------- */

void completion_clear(struct completion *completion)
{
    for (size_t i = 0; i < completion->count; i++)
        free(completion->words[i]);
    *completion = (struct completion){.at = -1};
}

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
    line_editor_set(browser->editors[mode], mode == MODE_FILTER ? browser->browse.filter : "");
}

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
static bool set_filter(struct browse *browse, const char *text, struct session_error *error)
{
    if (strcmp(text, browse_wanted_filter(browse)) == 0)
        return true;
    if (strcmp(text, browse->filter) != 0)
        return browse_filter(browse, text, error);
    browse_keep_filter(browse);
    return true;
}

static bool go_to_filter(struct browser *browser, int at)
{
    struct session_error error = {.message = ""};
    browser->filters.at = at;
    if (!set_filter(&browser->browse, browser->filters.texts[at], &error)) {
        browse_complain(&browser->browse, "%s", error.message);
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
    push_filter(&browser->filters, browse_wanted_filter(&browser->browse));
}

void steps_free(struct browser *browser)
{
    browser->filters.at = -1;
    cut(&browser->filters);
}

void browser_go(struct browser *browser, enum view_number number, bool keep)
{
    if (!browser_view(number)) {
        browse_complain(&browser->browse, "there is no such view yet");
        return;
    }
    if (keep && number != browser->current)
        push_step(browser, browser->current);
    const struct view_ops *before = browser_view(browser->current);
    if (number != browser->current && before->leave)
        before->leave(browser->views[browser->current], &browser->browse);
    browser->current = number;
    browser_refresh(browser);
}

bool browser_filter(struct browser *browser, const char *text, struct session_error *error)
{
    if (strcmp(text, browse_wanted_filter(&browser->browse)) == 0)
        return true;
    if (!set_filter(&browser->browse, text, error))
        return false;
    push_filter(&browser->filters, text);
    push_step(browser, STEP_FILTER);
    browser_refresh(browser);
    return true;
}

void steps_back(struct browser *browser)
{
    if (browser->trail_length == 0) {
        browse_say(&browser->browse, "nothing to go back to; q quits");
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
        browse_say(&browser->browse, "no filter to undo");
        return;
    }
    drop_filter_step(browser);
    go_to_filter(browser, browser->filters.at - 1);
}

void steps_redo(struct browser *browser)
{
    if (browser->filters.at + 1 >= browser->filters.count) {
        browse_say(&browser->browse, "no filter to do again");
        return;
    }
    if (go_to_filter(browser, browser->filters.at + 1))
        push_step(browser, STEP_FILTER);
}

void steps_filter_failed(struct browser *browser)
{
    struct filter_history *history = &browser->filters;
    const char *active = browser->browse.filter;
    while (history->at > 0 && strcmp(history->texts[history->at], active) != 0) {
        history->at--;
        drop_filter_step(browser);
    }
    cut(history);
}
