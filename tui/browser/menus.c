/* SPDX-License-Identifier: BSD-2-Clause */
/* The menus of `w`, `x`, `c` and `G`, and `l`, which lists what the first offer of `w` selects. */
#include <stdlib.h>
#include <string.h>

#include "session/stacking.h"
#include "tui/browser/browser_state.h"

static const char *offer_label(const void *context, size_t item)
{
    return ((const struct view_offer *)context)[item].label;
}

static const char *color_label(const void *context, size_t item)
{
    (void)context;
    return color_by_name((enum session_color_by)(item + 1));
}

static const char *stacking_label(const void *context, size_t item)
{
    const struct browser *browser = context;
    static char text[64]; /* only one thread draws */
    const char *name = browser->stackings[item];
    snprintf(text, sizeof(text), "%s%s",
             name[0] ? "" : color_by_name(browser->exploration.color_by),
             !name[0]                                     ? " (the colours)"
             : strcmp(name, SESSION_STACKING_GROUPS) == 0 ? "groups of the filter"
                                                          : name);
    return text;
}

static const char *step_of(const struct view_offer *offer)
{
    return offer->long_step ? offer->long_step : offer->step;
}

void menus_forget(struct browser *browser)
{
    for (size_t i = 0; i < browser->offer_count; i++)
        free(browser->offers[i].long_step);
    browser->offer_count = 0;
    free(browser->offers);
    browser->offers = NULL;
}

/* Keeps the offers whose step a `not` can turn round. */
static size_t keep_excludable(struct view_offer *offers, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(step_of(&offers[i]), "where ", 6) == 0)
            offers[kept++] = offers[i];
        else {
            free(offers[i].long_step);
            offers[i].long_step = NULL;
        }
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
        view->offers(browser->views[browser->current], &browser->exploration, offers, VIEW_OFFERS);
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
        asprintf(&excluded, "where not (%s)", step_of(offer) + 6) < 0)
        return;
    char *text = exploration_narrowed(&browser->exploration, excluded ? excluded : step_of(offer));
    if (text && !browser_filter(browser, text, &error))
        exploration_complain(&browser->exploration, "%s", error.message);
    free(excluded);
    free(text);
}

static void open_offers(struct browser *browser)
{
    const bool exclude = browser->menu_kind == MENU_EXCLUDE;
    if (!load_offers(browser, exclude)) {
        if (exclude || !browser_act(browser, &(struct view_input){.action = ACTION_NARROW}))
            exploration_say(&browser->exploration, "nothing is selected that a filter can name");
        return;
    }
    if (browser->offer_count == 0) {
        exploration_say(&browser->exploration, "nothing is selected that a filter can name");
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
    const enum session_color_by now = browser->exploration.color_by;
    browser->menu = (struct menu){.title = "colour by",
                                  .label = color_label,
                                  .count = SESSION_COLOR_KIND,
                                  .selected = now > 0 ? (size_t)now - 1 : 0};
    browser->color_before = now;
    browser->mode = MODE_MENU;
}

static bool keep_stacking(void *context, const char *word, bool name)
{
    struct browser *browser = context;
    (void)name;
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
    if (session_stacking_check(browser->exploration.session, browser->exploration.filter,
                               SESSION_STACKING_GROUPS, &error))
        keep_stacking(browser, SESSION_STACKING_GROUPS, false);
    session_stacking_fields(keep_stacking, browser);
    browser->menu = (struct menu){.title = "stack by",
                                  .label = stacking_label,
                                  .context = browser,
                                  .count = browser->stacking_count};
    browser->mode = MODE_MENU;
}

void menus_open(struct browser *browser, enum menu_kind kind)
{
    browser->menu_kind = kind;
    if (kind == MENU_COLOR)
        open_colors(browser);
    else if (kind == MENU_STACK)
        open_stackings(browser);
    else
        open_offers(browser);
}

bool menus_list(struct browser *browser)
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
    if (color_by == browser->exploration.color_by)
        return;
    exploration_color_by(&browser->exploration, color_by);
    browser_refresh(browser);
}

static void take_answer(struct browser *browser, enum menu_answer answer)
{
    const size_t item = browser->menu.selected;
    const bool colors = browser->menu_kind == MENU_COLOR;
    const bool stackings = browser->menu_kind == MENU_STACK;
    if (answer == MENU_CHOSEN || answer == MENU_CLOSED)
        browser->mode = MODE_VIEW;
    if (colors && (answer == MENU_MOVED || answer == MENU_CHOSEN))
        color_by(browser, (enum session_color_by)(item + 1)); /* the view is the preview */
    if (colors && answer == MENU_CLOSED)
        color_by(browser, browser->color_before);
    if (colors && answer == MENU_CHOSEN)
        exploration_say(&browser->exploration, "coloured by %s",
                        color_by_name(browser->exploration.color_by));
    if (stackings && answer == MENU_CHOSEN)
        browser_act(browser, &(struct view_input){.action = ACTION_STACK_BY,
                                                  .text = browser->stackings[item]});
    if (!colors && !stackings && answer == MENU_CHOSEN && item < browser->offer_count)
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
