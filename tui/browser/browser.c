/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/browser.h"

#include <stdlib.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/browser/help.h"
#include "tui/browser/user_files.h"
#include "tui/screen/keys.h"
#include "tui/view/common/table_view.h"

bool browser_finished(const struct browser *browser)
{
    return browser->finished;
}

char *browser_takes_copy(struct browser *browser)
{
    char *copied = browser->copied;
    browser->copied = NULL;
    return copied;
}

char *browser_takes_edit(struct browser *browser, uint32_t *line)
{
    char *path = browser->browse.edit_path;
    *line = browser->browse.edit_line;
    browser->browse.edit_path = NULL;
    return path;
}

void browser_complain(struct browser *browser, const char *message)
{
    browse_complain(&browser->browse, "%s", message);
}

void browser_say(struct browser *browser, const char *message)
{
    browse_say(&browser->browse, "%s", message);
}

bool browser_takes_redraw(struct browser *browser)
{
    bool redraw = browser->redraw;
    browser->redraw = false;
    return redraw;
}

/* ---- answers and newer states ----------------------------------------------------------- */

enum {
    PROGRESS_MS = 100,   /* between two looks at how far an answer is */
    WRITING_MS = 200,    /* between two looks at a session that is being written */
    RENEWAL_LEAST = 100, /* ms between two looks for a newer state of the session */
    RENEWAL_SHARE = 2    /* a newer state that takes t ms is looked for again after this times t */
};

int browser_patience(const struct browser *browser)
{
    const struct browse *browse = &browser->browse;
    if (browse_waits(browse))
        return PROGRESS_MS;
    if (browser->writing)
        return WRITING_MS;
    int64_t next =
        session_recording(browse->session) && !browser->paused ? browser->renewal_ms : INT64_MAX;
    if (browse->wake_ms > 0 && browse->wake_ms < next)
        next = browse->wake_ms;
    if (next == INT64_MAX)
        return -1;
    const int64_t left = next - loader_now_ms();
    return left < 0 ? 0 : (int)left;
}

/* Takes the answers that have come, and what the view makes of them. */
static void take_answers(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    struct session_error error = {.message = ""};
    const uint64_t renewals = browse->renewals;
    loader_sweep(&browse->loader);
    const bool failed = !browse_update(browse, &error);
    if (failed)
        steps_filter_failed(browser);
    if (failed && error.column > 0)
        browse_complain(browse, "column %d: %s", error.column, error.message);
    else if (error.message[0])
        browse_complain(browse, "%s", error.message);
    if (browse->renewals != renewals) {
        const int64_t took = loader_now_ms() - browser->renewal_began_ms;
        const int64_t pause = took * RENEWAL_SHARE;
        browser->renewal_ms = loader_now_ms() + (pause > RENEWAL_LEAST ? pause : RENEWAL_LEAST);
    }
    browser_refresh(browser);
    save_session_look(browser);
}

/* Looks for a newer state of a session that is being recorded. */
static void renew(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    struct session_error error = {.message = ""};
    const int64_t now = loader_now_ms();
    if (!session_recording(browse->session) || browser->paused ||
        (browser->wait_ms >= 0 && now < browser->renewal_ms))
        return;
    browser->renewal_began_ms = now;
    browser->renewal_ms = now + RENEWAL_LEAST;
    if (!browse_renew(browse, &error))
        browse_complain(browse, "the newer state is not shown: %s", error.message);
}

/* ---- typing ----------------------------------------------------------------------------- */

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
    const enum action action = browser_action_of(browser, key);
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
    session_filter_check(browser->browse.session, line_editor_text(browser->editors[MODE_FILTER]),
                         &error);
    browser->filter_error = error;
}

static void prompt_key(struct browser *browser, uint32_t key)
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

/* ---- the mouse -------------------------------------------------------------------------- */

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
    if (tab == VIEW_SAME && !frame_menu_at(browser, x))
        return;
    browser->mode = MODE_VIEW;
    if (tab == VIEW_SAME)
        browser_do(browser, ACTION_VIEWS);
    else
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

static void mouse_event(struct browser *browser, const struct event *event)
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
    else if (click && event->y >= bottom && !browser->browse.message[0])
        browser_do(browser, frame_hint_at(browser, event->x));
}

/* ---- events ----------------------------------------------------------------------------- */

/* Says that a key has no use in this view, unless something else was said. */
static void say_useless(struct browser *browser, uint32_t key)
{
    static const struct key_table none = {NULL, 0};
    char name[KEY_NAME_SIZE];
    if (browser->browse.message[0])
        return;
    if (key_action(&none, VIEW_MEMORY, key) == ACTION_COLOR_BY)
        browse_say(&browser->browse,
                   "%s has no colours; 2 and 3 have: %s chooses there what they mean",
                   browser_view(browser->current)->title, key_spelling(key, name));
    else
        browse_say(&browser->browse, "%s does nothing in %s; ? lists the keys",
                   key_spelling(key, name), browser_view(browser->current)->title);
}

static void view_key(struct browser *browser, uint32_t key)
{
    const enum action action = browser_action_of(browser, key);
    if (action == ACTION_NONE || !browser_do(browser, action))
        say_useless(browser, key);
}

void browser_event(struct browser *browser, const struct event *event)
{
    if (event->kind == EVENT_NONE)
        return;
    const int64_t wait = event->kind == EVENT_TICK ? 0 : browser->wait_ms;
    browser->browse.loader.deadline_ms = browser->wait_ms < 0 ? -1 : loader_now_ms() + wait;
    if (event->kind == EVENT_TICK) {
        renew(browser);
        take_answers(browser);
        return;
    }
    if (event->kind == EVENT_RESIZE) {
        browser->width = event->width;
        browser->height = event->height;
        browser_refresh(browser);
        return;
    }
    browser->browse.message[0] = 0;
    if (event->kind == EVENT_KEY && browser->hint > 0)
        browser->hint--;
    browser->more = event->more;
    if (browser_too_small(browser)) {
        if (event->kind == EVENT_KEY && browser_action_of(browser, event->key) == ACTION_QUIT)
            browser->finished = true;
    } else if (event->kind != EVENT_KEY) {
        mouse_event(browser, event);
    } else if (browser->mode == MODE_HELP) {
        help_mode_key(browser, event->key);
    } else if (browser->mode == MODE_MENU) {
        menus_key(browser, event->key);
    } else if (browser->mode != MODE_VIEW) {
        prompt_key(browser, event->key);
    } else {
        view_key(browser, event->key);
    }
    if (!event->more)
        browser_catch_up(browser);
}

/* ---- life ------------------------------------------------------------------------------- */

static bool choose_view(struct browser *browser, const char *name, struct session_error *error)
{
    if (!name)
        return true;
    enum view_number found = browser_find_view(name, true);
    if (found != VIEW_SAME) {
        browser->current = found;
        return true;
    }
    char names[200];
    snprintf(error->message, sizeof(error->message), "no view is called \"%.60s\"; there are %s",
             name, browser_view_names(names, sizeof(names)));
    return false;
}

static bool prepare(struct browser *browser, struct session *session,
                    const struct browser_options *options, struct session_error *error)
{
    if (!browse_init(&browser->browse, session, error))
        return false;
    browser->browse.other = options->other;
    *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        browser->views[i] = view->rows     ? table_view_new(view->rows)
                            : view->create ? view->create()
                                           : calloc(1, view->size);
        if (!browser->views[i])
            return false;
    }
    static const enum browser_mode typing[] = {MODE_FILTER, MODE_SEARCH, MODE_COMMAND, MODE_RANGE,
                                               MODE_ASK};
    for (int i = 0; i < VIEWS; i++)
        if (browser_view((enum view_number)i)->asks && !(browser->places[i] = line_editor_new()))
            return false;
    for (size_t i = 0; i < sizeof(typing) / sizeof(typing[0]); i++)
        if (!(browser->editors[typing[i]] = line_editor_new()))
            return false;
    const struct kept_state *state = options->state;
    if (!choose_view(browser, options->view ? options->view : state ? state->view : NULL, error))
        return false;
    if (!browse_filter(&browser->browse, options->filter ? options->filter : "", error))
        return false;
    steps_begin(browser);
    if (state)
        kept_state_apply(state, browser);
    /* Esc takes the filter of the last run back. */
    return !state || !state->filter || options->filter ||
           browser_filter(browser, state->filter, error);
}

struct browser *browser_new(struct session *session, const struct browser_options *options,
                            struct session_error *error)
{
    struct browser *browser = calloc(1, sizeof(*browser));
    if (!browser) {
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return NULL;
    }
    browser->wait_ms = options->wait_ms;
    browser->hint = options->hint ? FRAME_HINT_KEYS : 0;
    browser->width = options->width;
    browser->height = options->height;
    if (!prepare(browser, session, options, error)) {
        browser->browse.session = NULL; /* the caller still owns it */
        browser_free(browser);
        return NULL;
    }
    /* On a terminal its size comes next, as an event that waits for answers. */
    browser->browse.loader.deadline_ms = browser->wait_ms < 0 ? -1 : loader_now_ms();
    browser_refresh(browser);
    return browser;
}

void browser_free(struct browser *browser)
{
    if (!browser)
        return;
    for (int i = 0; i < VIEWS; i++)
        if (browser->views[i])
            browser_view((enum view_number)i)->destroy(browser->views[i], &browser->browse);
    browser->editors[MODE_GOTO] = NULL; /* one of these */
    for (int i = 0; i < VIEWS; i++)
        line_editor_free(browser->places[i]);
    for (int i = 0; i < MODES; i++)
        line_editor_free(browser->editors[i]);
    steps_free(browser);
    menus_forget(browser);
    free(browser->copied);
    completion_clear(&browser->completion);
    struct session *session = browser->browse.session;
    browse_close(&browser->browse);
    session_close(session);
    free(browser);
}
