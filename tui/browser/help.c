/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/help.h"

#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/help_lines.h"
#include "tui/screen/theme.h"

static const struct filter_example examples[] = {
    {.text = "leaked", .meaning = "never freed, except by design of the runtime"},
    {.text = "live at peak", .meaning = "live at the program's peak"},
    {.text = "all | where size >= 4K", .meaning = "by size"},
    {.text = "all | where lifetime < 1ms and not function == \"main\"", .meaning = "short-lived"},
    {.text = "all | where stack has \"main\" | color by thread", .meaning = "made below main"},
    {.text = "all | where alloc_time in 1s .. 2s", .meaning = "made in that second"},
    {.text = "all | sort size desc | top 100", .meaning = "the hundred largest"},
};

const struct filter_example *help_filter_examples(size_t *count)
{
    *count = sizeof(examples) / sizeof(examples[0]);
    return examples;
}

/* ---- layout ----------------------------------------------------------------------------- */

struct layout {
    int columns, width, keys; /* the columns of a screen, their width, that of the keys in them */
};

static struct layout lay_out(int width)
{
    const int columns = width >= 120 ? 2 : 1;
    return (struct layout){
        .columns = columns, .width = width / columns, .keys = width / columns >= 70 ? 21 : 15};
}

/* Returns the lines for the present view; the caller frees them. `*rows`: of each column. */
static struct help_line *present_lines(const struct browser *browser, size_t *count, int *rows)
{
    const struct layout layout = lay_out(browser->width);
    struct help_line *lines = help_lines(browser->current, layout.width, layout.keys, count);
    *rows = ((int)*count + layout.columns - 1) / layout.columns;
    return lines;
}

static bool matches(const struct help_line *line, const char *search)
{
    return *search && (strcasestr(line->left, search) || strcasestr(line->text, search));
}

static void render_line(const struct area *column, int y, int keys, const struct help_line *line,
                        bool match)
{
    const struct cell_style text = theme_style(match ? THEME_MATCH : THEME_PLAIN);
    const int width = column->width;
    switch (line->kind) {
    case HELP_HEADING:
        area_field(column, 1, y, width - 2, theme_style(THEME_HEADING), line->text);
        break;
    case HELP_TEXT:
        area_field(column, 2, y, width - 3, text, line->text);
        break;
    case HELP_KEYS:
        area_field(column, 2, y, keys - 1, theme_style(THEME_KEY), line->left);
        area_field(column, 2 + keys, y, width - keys - 3, text, line->text);
        break;
    case HELP_FILTER:
        area_field(column, 2, y, width - 3, theme_style(THEME_FILTER), line->left);
        const int end = 4 + text_width(line->left);
        if (end + text_width(line->text) < width)
            area_text(column, end, y, match ? text : theme_style(THEME_FAINT), line->text);
        break;
    }
}

void help_render(const struct browser *browser, const struct area *area)
{
    const struct layout layout = lay_out(area->width);
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    for (int column = 0; column < layout.columns; column++) {
        const struct area part =
            area_part(area, column * layout.width, 0, layout.width, area->height);
        for (int y = 0; y < part.height && y + browser->help_scroll < rows; y++) {
            const int line = column * rows + y + browser->help_scroll;
            if ((size_t)line < count)
                render_line(&part, y, layout.keys, &lines[line],
                            matches(&lines[line], browser->help_search));
        }
    }
    free(lines);
}

/* ---- mode ------------------------------------------------------------------------------- */

void help_open(struct browser *browser)
{
    browser->mode = MODE_HELP;
    browser->help_scroll = 0;
    browser->help_search[0] = 0;
}

static void scroll_to(struct browser *browser, int row)
{
    size_t count;
    int rows;
    free(present_lines(browser, &count, &rows));
    const int last = rows - (browser->height - FRAME_TOP - FRAME_BOTTOM);
    row = row < last ? row : last;
    browser->help_scroll = row > 0 ? row : 0;
}

bool help_open_keys(struct browser *browser)
{
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    size_t at = 0;
    while (at < count && strcmp(lines[at].text, HELP_USERS_KEYS) != 0)
        at++;
    free(lines);
    if (at == count)
        return false;
    help_open(browser);
    scroll_to(browser, (int)at % rows);
    return true;
}

/* Scrolls to the next line that matches, from the present one on or after it. */
static void find(struct browser *browser, bool from_here, bool forwards)
{
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    const size_t at = browser->help_found < count ? browser->help_found : 0;
    for (size_t i = from_here ? 0 : 1; i <= count && count > 0; i++) {
        const size_t step = i % count, line = (at + (forwards ? step : count - step)) % count;
        if (!matches(&lines[line], browser->help_search))
            continue;
        browser->help_found = line;
        free(lines);
        scroll_to(browser, (int)line % rows);
        return;
    }
    free(lines);
    if (browser->help_search[0])
        exploration_complain(&browser->exploration, "the help has no \"%.100s\"",
                             browser->help_search);
    else
        exploration_say(&browser->exploration, "no search yet; / searches");
}

void help_search(struct browser *browser, const char *text)
{
    browser->mode = MODE_HELP;
    browser->help_found = 0;
    snprintf(browser->help_search, sizeof(browser->help_search), "%s", text);
    if (*text)
        find(browser, true, true);
}

/* Returns true if a key that closes the help also does what it does elsewhere: open a prompt, or a
 * view. */
static bool leads_elsewhere(enum action action)
{
    return action == ACTION_COMMAND || action == ACTION_FILTER ||
           (action >= ACTION_VIEW_1 && action <= ACTION_VIEW_9);
}

void help_mode_key(struct browser *browser, uint32_t key)
{
    /* The keys that move have the same meaning as in a list. */
    static const struct key_table none = {NULL, 0};
    const int page = browser->height - FRAME_TOP - FRAME_BOTTOM, at = browser->help_scroll;
    const enum action action = key_action(&none, VIEW_FUNCTIONS, key);
    switch (action) {
    case ACTION_DOWN:
        scroll_to(browser, at + 1);
        break;
    case ACTION_UP:
        scroll_to(browser, at - 1);
        break;
    case ACTION_PAGE_DOWN:
        scroll_to(browser, at + page);
        break;
    case ACTION_PAGE_UP:
        scroll_to(browser, at - page);
        break;
    case ACTION_HOME:
        scroll_to(browser, 0);
        break;
    case ACTION_END:
        scroll_to(browser, 10000);
        break;
    case ACTION_SEARCH:
        prompt_open(browser, MODE_SEARCH);
        browser->prompt_behind = MODE_HELP;
        break;
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        find(browser, false, action == ACTION_NEXT);
        break;
    default:
        browser->mode = MODE_VIEW;
        if (leads_elsewhere(action))
            browser_do(browser, action);
        break;
    }
}
