/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions that keys ask for: those of the browser itself, the menus of `w`, `x`, `c` and `G`,
 * and `l`, which lists what the first offer of `w` selects. */
#include <stdlib.h>
#include <string.h>

#include "session/stacking.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/browser/help.h"
#include "tui/screen/format.h"
#include "tui/screen/keys.h"

/* ---- menus ------------------------------------------------------------------------------ */

static const char *offer_label(const void *context, size_t item)
{
    return ((const struct view_offer *)context)[item].label;
}

static const char *color_label(const void *context, size_t item)
{
    return color_by_name((enum session_color_by)(item + 1));
}

static const char *stacking_label(const void *context, size_t item)
{
    const struct browser *browser = context;
    static char text[64]; /* only one thread draws */
    const char *name = browser->stackings[item];
    snprintf(text, sizeof(text), "%s%s", name[0] ? "" : color_by_name(browser->browse.color_by),
             !name[0]                                     ? " (the colours)"
             : strcmp(name, SESSION_STACKING_GROUPS) == 0 ? "groups of the filter"
                                                          : name);
    return text;
}

void menus_forget(struct browser *browser)
{
    for (size_t i = 0; i < browser->offer_count; i++)
        free(browser->offers[i].step);
    browser->offer_count = 0;
    free(browser->offers);
    browser->offers = NULL;
}

/* Keeps the offers whose step a `not` can turn round. */
static size_t keep_excludable(struct view_offer *offers, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(offers[i].step, "where ", 6) == 0)
            offers[kept++] = offers[i];
        else
            free(offers[i].step);
    return kept;
}

/* Asks the view. Returns false if it has no offers at all, which is not the same as none now. */
static bool load_offers(struct browser *browser, bool excludable)
{
    const struct view_ops *view = browser_view(browser->current);
    menus_forget(browser);
    if (!view->offers)
        return false;
    struct view_offer *offers = calloc(VIEW_OFFERS, sizeof(*offers));
    if (!offers)
        return true;
    const size_t count =
        view->offers(browser->views[browser->current], &browser->browse, offers, VIEW_OFFERS);
    browser->offers = offers;
    browser->offer_count = excludable ? keep_excludable(offers, count) : count;
    return true;
}

/* Narrows the filter to an offer, or excludes it. */
static void take_offer(struct browser *browser, const struct view_offer *offer)
{
    struct session_error error = {.message = ""};
    char *excluded = NULL;
    if (browser->menu_kind == MENU_EXCLUDE &&
        asprintf(&excluded, "where not (%s)", offer->step + 6) < 0)
        return;
    char *text = browse_narrowed(&browser->browse, excluded ? excluded : offer->step);
    if (text && !browser_filter(browser, text, &error))
        browse_complain(&browser->browse, "%s", error.message);
    free(excluded);
    free(text);
}

static void open_offers(struct browser *browser)
{
    const bool exclude = browser->menu_kind == MENU_EXCLUDE;
    if (!load_offers(browser, exclude)) {
        if (exclude || !browser_act(browser, &(struct view_input){.action = ACTION_NARROW}))
            browse_say(&browser->browse, "nothing is selected that a filter can name");
        return;
    }
    if (browser->offer_count == 0) {
        browse_say(&browser->browse, "nothing is selected that a filter can name");
        return;
    }
    if (browser->offer_count == 1) {
        take_offer(browser, &browser->offers[0]);
        return;
    }
    browser->menu = (struct menu){.title = exclude ? "leave out" : "narrow to",
                                  .label = offer_label,
                                  .context = browser->offers,
                                  .count = browser->offer_count};
    browser->mode = MODE_MENU;
}

static void open_colors(struct browser *browser)
{
    const enum session_color_by now = browser->browse.color_by;
    browser->menu = (struct menu){.title = "colour by",
                                  .label = color_label,
                                  .count = SESSION_COLOR_KIND,
                                  .selected = now > 0 ? (size_t)now - 1 : 0};
    browser->color_before = now;
    browser->mode = MODE_MENU;
}

/* The purpose of each view, for the menu of views. */
static const char *const purposes[VIEWS] = {
    [VIEW_OVERVIEW] = "what is odd, and all in numbers",
    [VIEW_TIMELINE] = "live bytes over time, and what a moment holds",
    [VIEW_MEMORY] = "the map of addresses, and its holes",
    [VIEW_TREE] = "which path of calls holds how much",
    [VIEW_FUNCTIONS] = "each function with its callers and callees",
    [VIEW_TYPES] = "each type with its members",
    [VIEW_LEAKS] = "what was never freed, by path",
    [VIEW_ALLOCATIONS] = "the blocks one by one",
    [VIEW_SIZES] = "blocks by size",
    [VIEW_RSS] = "why the resident set is what it is",
    [VIEW_RETAINED] = "who keeps memory alive",
    [VIEW_LIFETIMES] = "how long blocks live",
    [VIEW_THREADS] = "who allocates, and who frees whose blocks",
    [VIEW_ARENAS] = "allocators of the program's own",
    [VIEW_SOURCE] = "source lines with their bytes",
    [VIEW_DIFF] = "two moments, or two sessions",
    [VIEW_GRAPHS] = "filters as drawings, and saved ones",
    [VIEW_SQL] = "any question, in SQL",
    [VIEW_DETAIL] = "all about the block that was selected last",
};

static const char *view_label(const void *context, size_t item)
{
    static char text[80]; /* only one thread draws */
    snprintf(text, sizeof(text), "%-12s %s", browser_view((enum view_number)item)->title,
             purposes[item]);
    return text;
}

static void open_views(struct browser *browser)
{
    browser->menu = (struct menu){.title = "views",
                                  .label = view_label,
                                  .keys = VIEW_MENU_KEYS,
                                  .count = VIEWS,
                                  .selected = browser->current};
    browser->mode = MODE_MENU;
}

static bool keep_stacking(void *context, const char *word, bool name)
{
    struct browser *browser = context;
    if (browser->stacking_count < STACKINGS_MOST)
        snprintf(browser->stackings[browser->stacking_count++], sizeof(browser->stackings[0]), "%s",
                 word);
    return true;
}

static void open_stackings(struct browser *browser)
{
    struct session_error error;
    browser->stacking_count = 0;
    keep_stacking(browser, "", false);
    if (session_stacking_check(browser->browse.session, browser->browse.filter,
                               SESSION_STACKING_GROUPS, &error))
        keep_stacking(browser, SESSION_STACKING_GROUPS, false);
    session_stacking_fields(keep_stacking, browser);
    browser->menu = (struct menu){.title = "stack by",
                                  .label = stacking_label,
                                  .context = browser,
                                  .count = browser->stacking_count};
    browser->mode = MODE_MENU;
}

static void menus_open(struct browser *browser, enum menu_kind kind)
{
    browser->menu_kind = kind;
    if (kind == MENU_COLOR)
        open_colors(browser);
    else if (kind == MENU_STACK)
        open_stackings(browser);
    else if (kind == MENU_VIEWS)
        open_views(browser);
    else
        open_offers(browser);
}

static bool menus_list(struct browser *browser)
{
    browser->menu_kind = MENU_NARROW;
    if (!load_offers(browser, false) || browser->offer_count == 0)
        return false;
    take_offer(browser, &browser->offers[0]);
    browser_go(browser, VIEW_ALLOCATIONS, true);
    return true;
}

/* ---- keys ------------------------------------------------------------------------------- */

static void color_by(struct browser *browser, enum session_color_by color_by)
{
    if (color_by == browser->browse.color_by)
        return;
    browse_color_by(&browser->browse, color_by);
    browser_refresh(browser);
}

static void take_answer(struct browser *browser, enum menu_answer answer)
{
    const size_t item = browser->menu.selected;
    const bool colors = browser->menu_kind == MENU_COLOR;
    const bool stackings = browser->menu_kind == MENU_STACK;
    const bool views = browser->menu_kind == MENU_VIEWS;
    if (answer == MENU_CHOSEN || answer == MENU_CLOSED)
        browser->mode = MODE_VIEW;
    if (colors && (answer == MENU_MOVED || answer == MENU_CHOSEN))
        color_by(browser, (enum session_color_by)(item + 1)); /* the view is the preview */
    if (colors && answer == MENU_CLOSED)
        color_by(browser, browser->color_before);
    if (colors && answer == MENU_CHOSEN)
        browse_say(&browser->browse, "coloured by %s", color_by_name(browser->browse.color_by));
    if (stackings && answer == MENU_CHOSEN)
        browser_act(browser, &(struct view_input){.action = ACTION_STACK_BY,
                                                  .text = browser->stackings[item]});
    if (views && answer == MENU_CHOSEN)
        browser_go(browser, (enum view_number)item, false);
    if (!colors && !stackings && !views && answer == MENU_CHOSEN && item < browser->offer_count)
        take_offer(browser, &browser->offers[item]);
}

static struct menu_place place_of(const struct browser *browser)
{
    return menu_place(&browser->menu, browser->width, browser->height - FRAME_TOP - FRAME_BOTTOM);
}

void menus_key(struct browser *browser, uint32_t key)
{
    const struct menu_place place = place_of(browser);
    take_answer(browser, menu_key(&browser->menu, &place, key));
}

void menus_click(struct browser *browser, int x, int y)
{
    const struct menu_place place = place_of(browser);
    take_answer(browser, menu_click(&browser->menu, &place, x, y - FRAME_TOP));
}

/* ---- actions ---------------------------------------------------------------------------- */

/* Holds the state of a recording that is shown, or follows the recording again. */
static void pause_or_follow(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    char time[FORMAT_SIZE];
    if (!session_recording(browse->session)) {
        browse_say(browse, "nothing is being recorded");
        return;
    }
    browser->paused = !browser->paused;
    browser->renewal_ms = 0;
    if (browser->paused)
        browse_say(browse, "paused at %s, the recording goes on; P follows it again",
                   format_instant(time, session_duration_ns(browse->session)));
}

/* Returns the view that is `step` places after another, without those that do not exist. */
static enum view_number view_beside(enum view_number view, int step)
{
    do
        view = (enum view_number)(((int)view + step) % VIEWS);
    while (!browser_view(view));
    return view;
}

enum action browser_action_of(const struct browser *browser, uint32_t key)
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

/* Keeps what the view writes for the clipboard: it may be pasted into a terminal. */
static void copy(struct browser *browser)
{
    const struct view_ops *view = browser_view(browser->current);
    char *text = NULL;
    size_t size = 0;
    free(browser->copied);
    browser->copied = NULL;
    FILE *out = view->copy ? open_memstream(&text, &size) : NULL;
    const bool good = out && view->copy(browser->views[browser->current], &browser->browse, out);
    if (out && fclose(out) == 0 && good)
        browser->copied = text_clean_lines(text);
    free(text);
    if (!browser->copied)
        browse_say(&browser->browse, "nothing is selected that can be copied");
    else
        browse_say(&browser->browse, "copied: %.*s", (int)strcspn(browser->copied, "\n"),
                   browser->copied);
}

/* Returns true if an action reads what is selected, and not only where. */
static bool reads_selected(enum action action)
{
    switch (action) {
    case ACTION_FOLLOW:
    case ACTION_OPEN:
    case ACTION_LIST:
    case ACTION_NARROW:
    case ACTION_EXCLUDE:
    case ACTION_COPY:
    case ACTION_TO_MEMORY:
    case ACTION_OVER_TIME:
    case ACTION_WRAPPER:
    case ACTION_SUPPRESS:
    case ACTION_COMMAND:
    case ACTION_VIEW_1 + VIEW_RETAINED:
        return true;
    default:
        return false;
    }
}

bool browser_do(struct browser *browser, enum action action)
{
    if (reads_selected(action))
        browser_catch_up(browser);
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
        if (browser_view(browser->current)->asks_range && !browser->browse.marking)
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
    case ACTION_VIEWS:
        menus_open(browser, MENU_VIEWS);
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
        if (action < ACTION_VIEW_1 || action > ACTION_VIEW_LAST)
            return ask_view(browser, action);
        /* A view of blocks goes there with the one that is selected. */
        if (action == ACTION_VIEW_1 + VIEW_RETAINED &&
            browser_act(browser, &(struct view_input){.action = action}))
            break;
        browser_go(browser, (enum view_number)(action - ACTION_VIEW_1), false);
        break;
    }
    return true;
}
