/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws title line, filter line and footer, which stay when the view changes. */
#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/help.h"
#include "tui/screen/format.h"
#include "tui/screen/keys.h"
#include "tui/screen/menu.h"
#include "tui/screen/theme.h"

/* ---- title line ------------------------------------------------------------------------- */

/* Returns true if a view has a tab: those with a key have one, and the current one. */
static bool has_tab(const struct browser *browser, int number)
{
    return browser_view((enum view_number)number) &&
           (number < VIEW_KEYED || number == (int)browser->current);
}

/* Returns the columns of " 1 ", or of the blank before a name without a key. */
static int digit_width(int number)
{
    return number < VIEW_KEYED ? 3 : 1;
}

static int named_width(int number)
{
    return digit_width(number) + text_width(browser_view((enum view_number)number)->title) + 1;
}

/* The tab of the menu of views comes last. */
static const char menu_tab[] = " V\u2026 ";
enum { MENU_TAB = 4 };

/* The part of the tabs that fits beside the program's name. */
enum tabs { TABS_NAMED, TABS_DIGITS, TABS_CURRENT };

static enum tabs tabs_fitting(const struct browser *browser)
{
    enum { PROGRAM = 12, STANDING = 28 };
    /* The delay of a recording matters more than the names of other views. */
    const int program = PROGRAM + (session_recording(browser->browse.session) ? STANDING : 0);
    int named = MENU_TAB, digits = MENU_TAB;
    for (int i = 0; i < VIEWS; i++) {
        if (!has_tab(browser, i))
            continue;
        named += named_width(i);
        digits += i == (int)browser->current ? named_width(i) : digit_width(i);
    }
    return named + program <= browser->width    ? TABS_NAMED
           : digits + program <= browser->width ? TABS_DIGITS
                                                : TABS_CURRENT;
}

/* Returns the width of " 1 Title " or " 1 ", 0 if there is no room for the tab. */
static int tab_width(const struct browser *browser, int number)
{
    if (!has_tab(browser, number))
        return 0;
    const enum tabs tabs = tabs_fitting(browser);
    if (number == (int)browser->current || tabs == TABS_NAMED)
        return named_width(number);
    return tabs == TABS_DIGITS ? digit_width(number) : 0;
}

static int tabs_start(const struct browser *browser)
{
    int width = MENU_TAB;
    for (int i = 0; i < VIEWS; i++)
        width += tab_width(browser, i);
    return browser->width - width;
}

bool frame_menu_at(const struct browser *browser, int x)
{
    return x >= browser->width - MENU_TAB && x < browser->width;
}

enum view_number frame_tab_at(const struct browser *browser, int x)
{
    int at = tabs_start(browser);
    for (int i = 0; i < VIEWS; i++) {
        int width = tab_width(browser, i);
        if (x >= at && x < at + width)
            return (enum view_number)i;
        at += width;
    }
    return VIEW_SAME;
}

static void render_tabs(const struct browser *browser, const struct area *screen)
{
    int x = tabs_start(browser);
    for (int i = 0; i < VIEWS; i++) {
        const int width = tab_width(browser, i), digit = digit_width(i);
        const struct cell_style style =
            theme_style(i == (int)browser->current ? THEME_TAB_ACTIVE : THEME_TAB);
        if (width == 0)
            continue;
        if (i < VIEW_KEYED)
            area_print(screen, x, 0, style, " %c ", VIEW_KEYS[i]);
        else
            area_text(screen, x, 0, style, " ");
        if (width > digit)
            area_print(screen, x + digit, 0, style, "%s ",
                       browser_view((enum view_number)i)->title);
        x += width;
    }
    area_text(screen, x, 0, theme_style(THEME_KEY), menu_tab);
}

static const char *program_name(const struct session *session)
{
    const char *program = session_meta(session, "program");
    if (!program)
        return "?";
    const char *slash = strrchr(program, '/');
    return slash && slash[1] ? slash + 1 : program;
}

enum { WORTH_SAYING_NS = 2000000000 };

/* Returns by how much the shown state is behind the program: what it said of itself when it came
 * and, if none has come since for a while, the time since then. A program that has ended goes no
 * further.
 */
static uint64_t behind_ns(const struct browse *browse, bool ended)
{
    const uint64_t lag = session_lag_ns(browse->session);
    if (ended || browse->renewed_ms == 0)
        return lag;
    const uint64_t since = (uint64_t)(loader_now_ms() - browse->renewed_ms) * 1000000;
    return lag + (since >= WORTH_SAYING_NS ? since : 0);
}

/* Draws "● recording, 12 s behind". The program may have ended before all of it is loaded. */
static void render_standing(const struct browse *browse, bool paused, const struct area *left,
                            int *x)
{
    char text[96], time[FORMAT_SIZE];
    const bool ended = session_program_ended(browse->session);
    const uint64_t behind = behind_ns(browse, ended);
    const char *what = paused ? "● not following" : ended ? "● ended, loading" : "● recording";
    if (!paused && behind >= WORTH_SAYING_NS)
        snprintf(text, sizeof(text), "%s, %s %s", what, format_duration(time, behind),
                 ended ? "to go" : "behind");
    else
        snprintf(text, sizeof(text), "%s", what);
    if (*x + 3 + text_width(text) >= left->width)
        snprintf(text, sizeof(text), "%s", what);
    if (*x + 3 + text_width(text) >= left->width)
        return;
    *x += area_text(left, *x, 0, theme_style(THEME_FAINT), " · ");
    *x += area_text(left, *x, 0, theme_style(THEME_WARNING), text);
}

/* Draws the number of processes of a run, and how many are selected. Returns the width. */
static int render_processes(const struct session *session, const struct area *left, int x)
{
    const struct session_process *processes;
    const size_t count = session_processes(session, &processes);
    char text[64];
    if (count < 2 || !session_meta(session, "selected_process"))
        return 0;
    if (session_selected_process(session) == 0)
        snprintf(text, sizeof(text), " · all of %zu", count);
    else
        snprintf(text, sizeof(text), " · 1 of %zu", count);
    return area_text(left, x, 0, theme_style(THEME_FAINT), text);
}

/* Draws the title. Its parts are in order of importance: those that do not fit are left out. */
static void render_title(const struct browser *browser, const struct area *screen)
{
    const struct session *session = browser->browse.session;
    char size[FORMAT_SIZE], time[FORMAT_SIZE], count[FORMAT_SIZE];
    char parts[5][96];
    bool sampled = session_sampled(session);
    const char *about = browser->browse.about;
    snprintf(parts[0], sizeof(parts[0]), "sampled, one in %s",
             format_size(size, (uint64_t)session_meta_number(session, "sample_interval")));
    snprintf(parts[1], sizeof(parts[1]), "peak %s%s at %s", about,
             format_size(size, session_peak_bytes(session)),
             format_duration(time, session_peak_ns(session)));
    snprintf(parts[2], sizeof(parts[2]), "%s%s allocations", about,
             format_count(count,
                          sampled ? (uint64_t)session_meta_number(session, "estimated_allocations")
                                  : session_allocation_count(session)));
    snprintf(parts[3], sizeof(parts[3]), "%s%s live %s", about,
             format_size(size,
                         (uint64_t)session_meta_number(session, sampled ? "estimated_live_bytes_end"
                                                                        : "live_bytes_end")),
             session_recording(session) ? "now"
             : session_stopped(session) ? "at stop"
                                        : "at end");
    snprintf(parts[4], sizeof(parts[4]), "pid %lld",
             (long long)session_meta_number(session, "pid"));
    int end = tabs_start(browser);
    area_fill(screen, 0, 0, screen->width, 1, ' ', theme_style(THEME_TITLE));
    struct area left = area_part(screen, 0, 0, end < 0 ? 0 : end, 1);
    int x = 1 + area_text(&left, 1, 0, theme_style(THEME_TITLE), program_name(session));
    x += render_processes(session, &left, x);
    if (session_recording(session))
        render_standing(&browser->browse, browser->paused, &left, &x);
    for (int i = !sampled; i < 5; i++) {
        if (x + 3 + text_width(parts[i]) >= left.width)
            continue;
        x += area_text(&left, x, 0, theme_style(THEME_FAINT), " · ");
        x += area_text(&left, x, 0, theme_style(THEME_PLAIN), parts[i]);
    }
    render_tabs(browser, screen);
}

/* ---- filter line ------------------------------------------------------------------------ */

/* Draws a mark in the row below the error's column, and the message. */
static void render_filter_error(const struct browser *browser, const struct area *screen, int x)
{
    const char *message = browser->filter_error.message;
    int width = text_width(message);
    area_fill(screen, 0, 2, screen->width, 1, ' ', theme_style(THEME_PLAIN));
    if (x < 0)
        x = 0;
    area_put(screen, x, 2, 0x25b2, theme_style(THEME_WARNING));
    if (x + 2 + width <= screen->width) {
        area_text(screen, x + 2, 2, theme_style(THEME_WARNING), message);
    } else if (x - 1 - width >= 0) {
        area_text(screen, x - 1 - width, 2, theme_style(THEME_WARNING), message);
    } else {
        /* Neither side has room for it: use the next row. */
        area_field(screen, 0, 3, screen->width, theme_style(THEME_WARNING), message);
    }
}

static void render_filter_editor(const struct browser *browser, const struct area *screen)
{
    struct line_editor *editor = browser->editors[MODE_FILTER];
    int error = -1;
    if (browser->filter_error.message[0])
        error = browser->filter_error.column > 0 ? browser->filter_error.column - 1 : 0;
    struct area line =
        area_part(screen, FRAME_FILTER_COLUMN, 1, screen->width - FRAME_FILTER_COLUMN, 1);
    int x = line_editor_render(editor, &line, error, theme_style(THEME_FILTER),
                               theme_style(THEME_ERROR));
    if (browser->filter_error.message[0])
        render_filter_error(browser, screen, x < 0 ? -1 : x + FRAME_FILTER_COLUMN);
}

/* Says how far the filter is that the engine runs, and what it is likely to select. */
static void describe_coming(const struct browse *browse, char *out, size_t size)
{
    char selected[FORMAT_SIZE], bytes[FORMAT_SIZE];
    struct session_progress progress;
    const struct session_answer *answer = session_job_answer(browse->coming.job);
    session_job_poll(browse->coming.job, &progress);
    const unsigned percent =
        progress.total ? (unsigned)((uint64_t)progress.done * 100 / progress.total) : 0;
    if (answer)
        snprintf(out, size, "counting … %u %%, about ~%s, ~%s", percent,
                 format_count(selected, answer->totals.count),
                 format_size(bytes, answer->totals.bytes));
    else
        snprintf(out, size, "counting … %u %%", percent);
}

static void render_filter(const struct browser *browser, const struct area *screen)
{
    const struct browse *browse = &browser->browse;
    area_fill(screen, 0, 1, screen->width, 1, ' ', theme_style(THEME_PLAIN));
    area_put(screen, 1, 1, grid_ascii(screen->grid) ? '>' : 0x25b8, theme_style(THEME_KEY));
    if (browser->mode == MODE_FILTER) {
        render_filter_editor(browser, screen);
        return;
    }
    char selected[FORMAT_SIZE], all[FORMAT_SIZE], size[FORMAT_SIZE], right[128];
    const char *what = session_sampled(browse->session) ? "recorded" : "allocations";
    const bool counting = browse->coming.job && !browse->coming.newer;
    const char *filter = counting ? browse->coming.text : browse->filter;
    filter = filter[0] ? filter : "all";
    if (counting) {
        describe_coming(browse, right, sizeof(right));
    } else {
        format_count(selected, selection_count(browse->selection));
        format_count(all, selection_chosen_from(browse->selection));
        if (browse->peak_known)
            format_size(size, browse->peak_bytes);
        else
            snprintf(size, sizeof(size), "…");
        snprintf(right, sizeof(right), "%s of %s %s · peak %s%s", selected, all, what,
                 browse->about, size);
        if (FRAME_FILTER_COLUMN + text_width(filter) + 2 + text_width(right) >= screen->width)
            snprintf(right, sizeof(right), "%s of %s %s", selected, all, what);
        if (screen->width < 56)
            snprintf(right, sizeof(right), "%s of %s", selected, all);
    }
    int start = screen->width - text_width(right) - 1;
    area_text(screen, start, 1, theme_style(THEME_PLAIN), right);
    area_field(screen, FRAME_FILTER_COLUMN, 1, start - FRAME_FILTER_COLUMN - 2,
               theme_style(THEME_FILTER), filter);
}

/* ---- footer ----------------------------------------------------------------------------- */

enum { HINT_KEYS = 64 }; /* bytes */

/* Writes the keys of a hint. Returns `out`, "" if the user has left it without a key. */
static char *hint_keys(enum view_number view, const struct key_binding *binding, char *out,
                       size_t size)
{
    const struct key_table *own = &browser_view(view)->keys;
    uint32_t keys[KEYS_SHOWN];
    char symbol[KEY_NAME_SIZE];
    if (binding->footer_keys && !key_binding_is_changed(own, view, binding))
        snprintf(out, size, "%s", binding->footer_keys);
    else
        snprintf(out, size, "%s",
                 key_binding_keys(own, view, binding, keys) > 0 ? key_symbol(keys[0], symbol) : "");
    return out;
}

static void put_hint(const struct area *footer, int x, enum view_number view,
                     const struct key_binding *binding)
{
    char keys[HINT_KEYS];
    x += area_text(footer, x, 0, theme_style(THEME_KEY),
                   hint_keys(view, binding, keys, sizeof(keys)));
    area_text(footer, x + 1, 0, theme_style(THEME_PLAIN), binding->footer);
}

static bool is_last_hint(enum action action)
{
    return action == ACTION_HELP || action == ACTION_QUIT;
}

enum { HINTS_MOST = 64 };

struct hint {
    const struct key_binding *binding;
    int width, column; /* the column is 0 if the footer has no room for it */
};

/* Lays out the hints of a view in a footer, help and quit always. Returns their number. */
static size_t lay_out_hints(enum view_number view, int width, struct hint hints[HINTS_MOST])
{
    const struct key_binding *binding = NULL;
    size_t count = 0;
    int reserved = 0, x = 1;
    while ((binding = key_binding_next(&browser_view(view)->keys, view, binding)) &&
           count < HINTS_MOST) {
        char keys[HINT_KEYS];
        if (!binding->footer || !*hint_keys(view, binding, keys, sizeof(keys)))
            continue;
        const int columns = text_width(keys) + 1 + text_width(binding->footer);
        hints[count++] = (struct hint){.binding = binding, .width = columns};
        if (is_last_hint(binding->action))
            reserved += columns + 2;
    }
    for (struct hint *hint = hints; hint < hints + count; hint++) {
        if (is_last_hint(hint->binding->action))
            reserved -= hint->width + 2;
        if (x + hint->width + reserved >= width)
            continue;
        hint->column = x;
        x += hint->width + 2;
    }
    return count;
}

enum action frame_hint_at(const struct browser *browser, int x)
{
    struct hint hints[HINTS_MOST];
    const size_t count = lay_out_hints(browser->current, browser->width, hints);
    for (size_t i = 0; i < count; i++)
        if (hints[i].column > 0 && x >= hints[i].column && x < hints[i].column + hints[i].width)
            return hints[i].binding->action;
    return ACTION_NONE;
}

static void render_hints(const struct area *footer, enum view_number view)
{
    struct hint hints[HINTS_MOST];
    const size_t count = lay_out_hints(view, footer->width, hints);
    for (size_t i = 0; i < count; i++)
        if (hints[i].column > 0)
            put_hint(footer, hints[i].column, view, hints[i].binding);
}

static void render_typing(const struct browser *browser, const struct area *footer)
{
    const char *before = browser->mode == MODE_SEARCH    ? "/"
                         : browser->mode == MODE_COMMAND ? ":"
                         : browser->mode == MODE_ASK     ? browser->asked
                         : browser->mode == MODE_RANGE ? browser_view(browser->current)->asks_range
                                                       : browser_view(browser->current)->asks;
    int x = 1 + area_text(footer, 1, 0, theme_style(THEME_KEY), before);
    if (browser->mode == MODE_GOTO || browser->mode == MODE_RANGE || browser->mode == MODE_ASK)
        x++;
    struct area line = area_part(footer, x, 0, footer->width - x, 1);
    line_editor_render(browser->editors[browser->mode], &line, -1, theme_style(THEME_PLAIN),
                       theme_style(THEME_PLAIN));
}

static void render_footer(const struct browser *browser, const struct area *screen)
{
    struct area footer = area_part(screen, 0, screen->height - 1, screen->width, 1);
    area_fill(&footer, 0, 0, footer.width, 1, ' ', theme_style(THEME_PLAIN));
    const struct browse *browse = &browser->browse;
    if (browser->mode == MODE_HELP && browse->message[0])
        area_field(&footer, 1, 0, footer.width - 2, theme_style(THEME_WARNING), browse->message);
    else if (browser->mode == MODE_HELP)
        area_text(&footer, 1, 0, theme_style(THEME_PLAIN),
                  "↑↓ PgUp PgDn scroll · / n N search · any other key closes the help");
    else if (browser->mode == MODE_FILTER)
        area_text(&footer, 1, 0, theme_style(THEME_PLAIN),
                  "Enter apply · Esc leave · Tab complete · ↑↓ earlier filters · Ctrl-U clear");
    else if (browser->mode == MODE_MENU)
        area_text(&footer, 1, 0, theme_style(THEME_PLAIN),
                  "↑↓ move · Enter or a key choose · Esc close");
    else if (browser->mode != MODE_VIEW)
        render_typing(browser, &footer);
    else if (browse->message[0])
        area_field(&footer, 1, 0, footer.width - 2,
                   theme_style(browse->message_is_error ? THEME_WARNING : THEME_STRONG),
                   browse->message);
    else
        render_hints(&footer, browser->current);
}

/* Draws the questions that views answer with one key, as far as there is room. */
static void render_first_hint(const struct browser *browser, const struct area *row)
{
    static const struct {
        enum view_number view;
        const char *question;
    } questions[] = {
        {VIEW_TREE, "who holds the memory"}, {VIEW_LEAKS, "what leaks"},
        {VIEW_TIMELINE, "what grew"},        {VIEW_MEMORY, "holes"},
        {VIEW_ALLOCATIONS, "every block"},
    };
    const bool faint = browser->hint <= FRAME_HINT_FAINT;
    const struct cell_style key = theme_style(faint ? THEME_FAINT : THEME_KEY);
    const struct cell_style text = theme_style(faint ? THEME_FAINT : THEME_PLAIN);
    area_fill(row, 0, 0, row->width, 1, ' ', text);
    int x = 1 + area_text(row, 1, 0, text, "Ask: ");
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        const int width = text_width(questions[i].question) + 2;
        if (!browser_view(questions[i].view) || x + width >= row->width)
            continue;
        area_print(row, x, 0, key, "%d", (int)questions[i].view + 1);
        area_text(row, x + 2, 0, text, questions[i].question);
        x += width + 2;
    }
    if (x + 10 < row->width) {
        area_text(row, x, 0, key, "?");
        area_text(row, x + 2, 0, text, "all keys");
    }
}

static void frame_render(const struct browser *browser, const struct area *screen)
{
    render_title(browser, screen);
    render_filter(browser, screen);
    render_footer(browser, screen);
    const struct area above = area_part(screen, 0, screen->height - 2, screen->width, 1);
    if (browser->completion.count > 1)
        completion_render(&browser->completion, &above);
    else if (browser->hint > 0 && browser->mode == MODE_VIEW)
        render_first_hint(browser, &above);
}

void browser_render(const struct browser *browser, struct grid *grid)
{
    grid_allow_colors(grid, theme_in_use() != THEME_MONO);
    grid_clear(grid);
    struct area screen = area_whole(grid);
    if (browser_too_small(browser)) {
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
            ->render(browser->views[browser->current], &browser->browse, &middle);
    if (browser->mode == MODE_MENU)
        menu_render(&browser->menu, &middle);
    frame_render(browser, &screen);
}
