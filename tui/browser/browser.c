/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/browser.h"
#include "tui/screen/format.h"

#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/help.h"
#include "tui/browser/kept_state.h"
#include "tui/browser/save_session.h"
#include "tui/keys/keys.h"
#include "tui/screen/input.h"
#include "tui/screen/key_names.h"
#include "tui/screen/theme.h"

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
    char *path = browser->exploration.edit_path;
    *line = browser->exploration.edit_line;
    browser->exploration.edit_path = NULL;
    return path;
}

void browser_complain(struct browser *browser, const char *message)
{
    exploration_complain(&browser->exploration, "%s", message);
}

void browser_say(struct browser *browser, const char *message)
{
    exploration_say(&browser->exploration, "%s", message);
}

bool browser_takes_redraw(struct browser *browser)
{
    bool redraw = browser->redraw;
    browser->redraw = false;
    return redraw;
}

static bool too_small(const struct browser *browser)
{
    return browser->width < FRAME_WIDTH_LEAST || browser->height < FRAME_HEIGHT_LEAST;
}

/* ---- views -------------------------------------------------------------------------------- */

static bool send(struct browser *browser, const struct view_input *given)
{
    const struct view_ops *ops = browser_view(browser->current);
    void *view = browser->views[browser->current];
    struct view_input input = *given;
    browser->exploration.wake_ms = 0;
    input.more = browser->more && input.action != ACTION_REFRESH;
    input.width = browser->width;
    input.height = browser->height - FRAME_TOP - FRAME_BOTTOM;
    if (input.height < 1)
        input.height = 1;
    /* Names get their colours in the order of the legends. That of the whole session comes first:
     * the sums of ingest have it. */
    if (!browser->exploration.filter[0])
        exploration_load_legend(&browser->exploration);
    const bool used = ops->update(view, &browser->exploration, &input);
    input.action = ACTION_REFRESH;
    if (exploration_load_peak(&browser->exploration))
        ops->update(view, &browser->exploration, &input);
    return used;
}

void browser_refresh(struct browser *browser)
{
    if (!too_small(browser))
        send(browser, &(struct view_input){.action = ACTION_REFRESH});
}

bool browser_select_process(struct browser *browser, const char *word, struct session_error *error)
{
    struct exploration *exploration = &browser->exploration;
    uint32_t id;
    if (browser->writing) { /* the engine would have to end that before */
        *error = (struct session_error){.message = "a session is being written; Esc gives it up"};
        return false;
    }
    if (!session_find_process(exploration->session, word, &id, error) ||
        !exploration_select_process(exploration, id, error))
        return false;
    browser_refresh(browser);
    return true;
}

static void grant_wishes(struct browser *browser)
{
    struct exploration *exploration = &browser->exploration;
    enum view_number view = exploration->wish_view;
    char *filter = exploration->wish_filter;
    exploration->wish_view = VIEW_SAME;
    exploration->wish_filter = NULL;
    struct session_error error = {.message = ""};
    if (filter && !browser_filter(browser, filter, &error))
        exploration_complain(exploration, "%s", error.message);
    free(filter);
    if (view != VIEW_SAME)
        browser_go(browser, view, true);
    if (exploration->wish_ask)
        prompt_ask(browser);
}

bool browser_act(struct browser *browser, const struct view_input *input)
{
    bool used = send(browser, input);
    grant_wishes(browser);
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

/* ---- answers and newer states ----------------------------------------------------------- */

enum {
    PROGRESS_MS = 100,   /* between two looks at how far an answer is */
    WRITING_MS = 200,    /* between two looks at a session that is being written */
    RENEWAL_LEAST = 100, /* ms between two looks for a newer state of the session */
    RENEWAL_SHARE = 2    /* a newer state that takes t ms is looked for again after this times t */
};

int browser_patience(const struct browser *browser)
{
    const struct exploration *exploration = &browser->exploration;
    if (exploration_waits(exploration))
        return PROGRESS_MS;
    if (browser->writing)
        return WRITING_MS;
    int64_t next = session_recording(exploration->session) && !browser->paused ? browser->renewal_ms
                                                                               : INT64_MAX;
    if (exploration->wake_ms > 0 && exploration->wake_ms < next)
        next = exploration->wake_ms;
    if (next == INT64_MAX)
        return -1;
    const int64_t left = next - loader_now_ms();
    return left < 0 ? 0 : (int)left;
}

/* Takes the answers that have come, and what the view makes of them. */
static void take_answers(struct browser *browser)
{
    struct exploration *exploration = &browser->exploration;
    struct session_error error = {.message = ""};
    const uint64_t renewals = exploration->renewals;
    loader_sweep(&exploration->loader);
    const bool failed = !exploration_update(exploration, &error);
    if (failed)
        steps_filter_failed(browser);
    if (failed && error.column > 0)
        exploration_complain(exploration, "column %d: %s", error.column, error.message);
    else if (error.message[0])
        exploration_complain(exploration, "%s", error.message);
    if (exploration->renewals != renewals) {
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
    struct exploration *exploration = &browser->exploration;
    struct session_error error = {.message = ""};
    const int64_t now = loader_now_ms();
    if (!session_recording(exploration->session) || browser->paused ||
        (browser->wait_ms >= 0 && now < browser->renewal_ms))
        return;
    browser->renewal_began_ms = now;
    browser->renewal_ms = now + RENEWAL_LEAST;
    if (!exploration_renew(exploration, &error))
        exploration_complain(exploration, "the newer state is not shown: %s", error.message);
}

/* Holds the state of a recording that is shown, or follows the recording again. */
static void pause_or_follow(struct browser *browser)
{
    struct exploration *exploration = &browser->exploration;
    char time[FORMAT_SIZE];
    if (!session_recording(exploration->session)) {
        exploration_say(exploration, "nothing is being recorded");
        return;
    }
    browser->paused = !browser->paused;
    browser->renewal_ms = 0;
    if (browser->paused)
        exploration_say(exploration, "paused at %s, the recording goes on; P follows it again",
                        format_instant(time, session_duration_ns(exploration->session)));
}

/* ---- events ----------------------------------------------------------------------------- */

/* Returns the view that is `step` places after another, without those that do not exist. */
static enum view_number view_beside(enum view_number view, int step)
{
    do
        view = (enum view_number)(((int)view + step) % VIEWS);
    while (!browser_view(view));
    return view;
}

static enum action action_of(const struct browser *browser, uint32_t key)
{
    return key_action(&browser_view(browser->current)->keys, browser->current, key);
}

/* Gives the view an action that is not the browser's. Returns false if it means nothing. */
static bool ask_view(struct browser *browser, enum action action)
{
    if (action == ACTION_BACK && save_session_give_up(browser))
        return true;
    if (browser_act(browser, &(struct view_input){.action = action}))
        return true;
    if (action == ACTION_FOLLOW && browser_view(browser->current)->asks_first) {
        prompt_open(browser, MODE_GOTO);
        return true;
    }
    if (action == ACTION_BACK)
        steps_back(browser);
    return action == ACTION_BACK || (action == ACTION_LIST && menus_list(browser));
}

/* Keeps what the view writes of the selected thing for the clipboard: it may be pasted into a
 * terminal. */
static void copy(struct browser *browser)
{
    const struct view_ops *view = browser_view(browser->current);
    char *text = NULL;
    size_t size = 0;
    free(browser->copied);
    browser->copied = NULL;
    FILE *out = view->copy ? open_memstream(&text, &size) : NULL;
    const bool good =
        out && view->copy(browser->views[browser->current], &browser->exploration, out);
    if (out && fclose(out) == 0 && good)
        browser->copied = text_clean_lines(text);
    free(text);
    if (!browser->copied)
        exploration_say(&browser->exploration, "nothing is selected that can be copied");
    else
        exploration_say(&browser->exploration, "copied: %.*s", (int)strcspn(browser->copied, "\n"),
                        browser->copied);
}

bool browser_do(struct browser *browser, enum action action)
{
    switch (action) {
    case ACTION_QUIT:
        browser->finished = true;
        break;
    case ACTION_HELP:
        help_open(browser);
        break;
    case ACTION_FILTER:
        prompt_open(browser, MODE_FILTER);
        break;
    case ACTION_SEARCH:
        prompt_open(browser, MODE_SEARCH);
        break;
    case ACTION_COMMAND:
        prompt_open(browser, MODE_COMMAND);
        break;
    case ACTION_GOTO:
        prompt_open(browser, MODE_GOTO);
        break;
    case ACTION_RANGE:
        if (browser_view(browser->current)->asks_range && !browser->exploration.marking)
            prompt_open(browser, MODE_RANGE);
        else
            browser_act(browser, &(struct view_input){.action = action});
        break;
    case ACTION_VIEW_NEXT:
        browser_go(browser, view_beside(browser->current, 1), false);
        break;
    case ACTION_VIEW_PREVIOUS:
        browser_go(browser, view_beside(browser->current, VIEWS - 1), false);
        break;
    case ACTION_REDRAW:
        browser->redraw = true;
        break;
    case ACTION_COLOR_BY:
        menus_open(browser, MENU_COLOR);
        break;
    case ACTION_STACK_BY:
        menus_open(browser, MENU_STACK);
        break;
    case ACTION_NARROW:
        menus_open(browser, MENU_NARROW);
        break;
    case ACTION_EXCLUDE:
        menus_open(browser, MENU_EXCLUDE);
        break;
    case ACTION_UNDO:
        steps_undo(browser);
        break;
    case ACTION_REDO:
        steps_redo(browser);
        break;
    case ACTION_COPY:
        copy(browser);
        break;
    case ACTION_PAUSE:
        pause_or_follow(browser);
        break;
    default:
        if (action < ACTION_VIEW_1 || action > ACTION_VIEW_9)
            return ask_view(browser, action);
        browser_go(browser, (enum view_number)(action - ACTION_VIEW_1), false);
        break;
    }
    return true;
}

/* Says that a key has no use in this view, unless something else was said. */
static void say_useless(struct browser *browser, uint32_t key)
{
    static const struct key_table none = {NULL, 0};
    char name[KEY_NAME_SIZE];
    if (browser->exploration.message[0])
        return;
    if (key_action(&none, VIEW_MEMORY, key) == ACTION_COLOR_BY)
        exploration_say(&browser->exploration,
                        "%s has no colours; 2 and 3 have: %s chooses there what they mean",
                        browser_view(browser->current)->title, key_spelling(key, name));
    else
        exploration_say(&browser->exploration, "%s does nothing in %s; ? lists the keys",
                        key_spelling(key, name), browser_view(browser->current)->title);
}

static void view_key(struct browser *browser, uint32_t key)
{
    const enum action action = action_of(browser, key);
    if (action == ACTION_NONE || !browser_do(browser, action))
        say_useless(browser, key);
}

void browser_event(struct browser *browser, const struct event *event)
{
    if (event->kind == EVENT_NONE)
        return;
    const int64_t wait = event->kind == EVENT_TICK ? 0 : browser->wait_ms;
    browser->exploration.loader.deadline_ms = browser->wait_ms < 0 ? -1 : loader_now_ms() + wait;
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
    browser->exploration.message[0] = 0;
    if (event->kind == EVENT_KEY && browser->hint > 0)
        browser->hint--;
    browser->more = event->more;
    if (too_small(browser)) {
        if (event->kind == EVENT_KEY && action_of(browser, event->key) == ACTION_QUIT)
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
    if (!exploration_init(&browser->exploration, session, error))
        return false;
    browser->exploration.other = options->other;
    *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    for (int i = 0; i < VIEWS; i++)
        if (browser_view((enum view_number)i) &&
            !(browser->views[i] = browser_view((enum view_number)i)->create()))
            return false;
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
    if (!exploration_filter(&browser->exploration, options->filter ? options->filter : "", error))
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
        browser->exploration.session = NULL; /* the caller still owns it */
        browser_free(browser);
        return NULL;
    }
    /* On a terminal its size comes next, as an event that waits for answers. */
    browser->exploration.loader.deadline_ms = browser->wait_ms < 0 ? -1 : loader_now_ms();
    browser_refresh(browser);
    return browser;
}

void browser_free(struct browser *browser)
{
    if (!browser)
        return;
    for (int i = 0; i < VIEWS; i++)
        if (browser->views[i])
            browser_view((enum view_number)i)->destroy(browser->views[i], &browser->exploration);
    browser->editors[MODE_GOTO] = NULL; /* one of these */
    for (int i = 0; i < VIEWS; i++)
        line_editor_free(browser->places[i]);
    for (int i = 0; i < MODES; i++)
        line_editor_free(browser->editors[i]);
    steps_free(browser);
    menus_forget(browser);
    free(browser->copied);
    completion_clear(&browser->completion);
    struct session *session = browser->exploration.session;
    exploration_close(&browser->exploration);
    session_close(session);
    free(browser);
}

void browser_render(const struct browser *browser, struct grid *grid)
{
    grid_allow_colors(grid, theme_in_use() != THEME_MONO);
    grid_clear(grid);
    struct area screen = area_whole(grid);
    if (too_small(browser)) {
        area_print(&screen, 0, 0, theme_style(THEME_WARNING), "terminal too small");
        area_print(&screen, 0, 1, theme_style(THEME_PLAIN), "mprof-tui needs %dx%d",
                   FRAME_WIDTH_LEAST, FRAME_HEIGHT_LEAST);
        area_print(&screen, 0, 2, theme_style(THEME_FAINT), "q quits");
        return;
    }
    struct area middle =
        area_part(&screen, 0, FRAME_TOP, screen.width, screen.height - FRAME_TOP - FRAME_BOTTOM);
    const bool prompt = browser->mode != MODE_VIEW && browser->mode != MODE_MENU;
    if (browser->mode == MODE_HELP || (prompt && browser->prompt_behind == MODE_HELP))
        help_render(browser, &middle);
    else
        browser_view(browser->current)
            ->render(browser->views[browser->current], &browser->exploration, &middle);
    if (browser->mode == MODE_MENU)
        menu_render(&browser->menu, &middle);
    frame_render(browser, &screen);
}
