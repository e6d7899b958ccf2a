/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/help.h"

#include <string.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/keys/keys.h"
#include "tui/screen/key_names.h"
#include "tui/screen/theme.h"

#define KEYS_WIDTH 15

static const struct filter_example examples[] = {
    {.text = "leaked", .meaning = "never freed, except by design of the runtime"},
    {.text = "live at peak", .meaning = "live at the peak"},
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

/* One row of help: a heading (text only), or keys and their action. */
struct row {
    bool heading;
    char keys[64];
    const char *text;
    const char *meaning; /* of a filter example; NULL in other rows */
};

static void write_keys(const struct key_binding *binding, char *out, size_t size)
{
    size_t length = 0;
    out[0] = 0;
    for (size_t i = 0; i < KEYS_MOST && binding->keys[i]; i++) {
        char symbol[KEY_NAME_SIZE];
        length += (size_t)snprintf(out + length, size - length, "%s%s", i ? " " : "",
                                   key_symbol(binding->keys[i], symbol));
    }
}

/* Tells whether a binding belongs to the part of the help that is about the view alone. */
static bool is_about_view(const struct key_binding *binding)
{
    return binding->views != IN_ALL;
}

/* Gives row `n` for a view. Returns false after the last. */
static bool row_at(int n, enum view_number view, struct row *row)
{
    size_t count;
    const struct key_table *own = &browser_view(view)->keys;
    const struct key_binding *binding;
    *row = (struct row){.text = ""};
    for (int part = 0; part < 2; part++) {
        if (n-- == 0) {
            row->heading = true;
            row->text = part == 0 ? browser_view(view)->title : "Everywhere";
            return true;
        }
        for (size_t i = 0; (binding = key_binding_at(own, view, i)); i++) {
            if (is_about_view(binding) != (part == 0) || n-- != 0)
                continue;
            write_keys(binding, row->keys, sizeof(row->keys));
            row->text = binding->description;
            return true;
        }
    }
    const struct command *commands = command_table(&count);
    if (n-- == 0) {
        row->heading = true;
        row->text = "Commands, after :";
        return true;
    }
    if (n < (int)count) {
        snprintf(row->keys, sizeof(row->keys), "%s %s", commands[n].name, commands[n].argument);
        row->text = commands[n].description;
        return true;
    }
    n -= (int)count;
    if (n-- == 0) {
        row->heading = true;
        row->text = "Filters, after f";
        return true;
    }
    count = sizeof(examples) / sizeof(examples[0]);
    if (n < (int)count) {
        row->text = examples[n].text;
        row->meaning = examples[n].meaning;
        return true;
    }
    return false;
}

static int columns_for(int width)
{
    return width >= 120 ? 2 : 1;
}

static int row_count(enum view_number view)
{
    struct row row;
    int count = 0;
    while (row_at(count, view, &row))
        count++;
    return count;
}

int help_rows(enum view_number view, int width)
{
    int columns = columns_for(width);
    return (row_count(view) + columns - 1) / columns;
}

void help_render(const struct area *area, enum view_number view, int scroll)
{
    int columns = columns_for(area->width);
    int rows = help_rows(view, area->width);
    int column_width = area->width / columns;
    for (int column = 0; column < columns; column++) {
        struct area part = area_part(area, column * column_width, 0, column_width, area->height);
        for (int y = 0; y < part.height && y + scroll < rows; y++) {
            struct row row;
            if (!row_at(column * rows + y + scroll, view, &row))
                break;
            if (row.heading) {
                area_text(&part, 1, y, theme_style(THEME_HEADING), row.text);
            } else if (row.keys[0]) {
                area_field(&part, 2, y, KEYS_WIDTH - 1, theme_style(THEME_KEY), row.keys);
                area_field(&part, 2 + KEYS_WIDTH, y, part.width - KEYS_WIDTH - 3,
                           theme_style(THEME_PLAIN), row.text);
            } else {
                area_field(&part, 2, y, part.width - 3, theme_style(THEME_FILTER), row.text);
                int end = 4 + text_width(row.text);
                if (row.meaning && end + text_width(row.meaning) < part.width)
                    area_text(&part, end, y, theme_style(THEME_FAINT), row.meaning);
            }
        }
    }
}

void help_open(struct browser *browser)
{
    browser->mode = MODE_HELP;
    browser->help_scroll = 0;
}

void help_mode_key(struct browser *browser, uint32_t key)
{
    /* The keys that move have the same meaning as in a list. */
    static const struct key_table none = {NULL, 0};
    enum action action = key_action(&none, VIEW_FUNCTIONS, key);
    int page = browser->height - FRAME_TOP - FRAME_BOTTOM;
    int last = help_rows(browser->current, browser->width) - page;
    switch (action) {
    case ACTION_DOWN:
        browser->help_scroll++;
        break;
    case ACTION_UP:
        browser->help_scroll--;
        break;
    case ACTION_PAGE_DOWN:
        browser->help_scroll += page;
        break;
    case ACTION_PAGE_UP:
        browser->help_scroll -= page;
        break;
    case ACTION_HOME:
        browser->help_scroll = 0;
        break;
    case ACTION_END:
        browser->help_scroll = last;
        break;
    default:
        browser->mode = MODE_VIEW;
        break;
    }
    if (browser->help_scroll > last)
        browser->help_scroll = last;
    if (browser->help_scroll < 0)
        browser->help_scroll = 0;
}
