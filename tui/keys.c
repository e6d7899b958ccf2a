/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/cells.h"

/* The bindings in the order of the help screen, and of the footer as far as there is room. */
static const struct key_binding bindings[] = {
    {.keys = {KEYCODE_LEFT, 'h'},
     .action = ACTION_LEFT,
     .views = IN_TIMELINE,
     .description = "one slot earlier"},
    {.keys = {KEYCODE_RIGHT, 'l'},
     .action = ACTION_RIGHT,
     .views = IN_TIMELINE,
     .description = "one slot later"},
    {.keys = {KEYCODE_LEFT, 'h'},
     .action = ACTION_LEFT,
     .views = IN_GRID,
     .description = "one cell down in memory"},
    {.keys = {KEYCODE_RIGHT, 'l'},
     .action = ACTION_RIGHT,
     .views = IN_GRID,
     .description = "one cell up in memory"},
    {.keys = {KEYCODE_LEFT, 'h'},
     .action = ACTION_LEFT,
     .views = IN_FUNCTIONS,
     .description = "to the callers"},
    {.keys = {KEYCODE_RIGHT, 'l'},
     .action = ACTION_RIGHT,
     .views = IN_FUNCTIONS,
     .description = "to the callees"},
    {.keys = {KEYCODE_UP, 'k'},
     .action = ACTION_UP,
     .views = IN_OVERVIEW | IN_GRID | IN_FUNCTIONS,
     .description = "up one row"},
    {.keys = {KEYCODE_DOWN, 'j'},
     .action = ACTION_DOWN,
     .views = IN_OVERVIEW | IN_GRID | IN_FUNCTIONS,
     .description = "down one row"},
    {.keys = {KEYCODE_PAGE_UP},
     .action = ACTION_PAGE_UP,
     .views = IN_ALL,
     .description = "up one page (timeline: earlier)"},
    {.keys = {KEYCODE_PAGE_DOWN},
     .action = ACTION_PAGE_DOWN,
     .views = IN_ALL,
     .description = "down one page (timeline: later)"},
    {.keys = {KEYCODE_HOME},
     .action = ACTION_HOME,
     .views = IN_ALL,
     .description = "to the beginning"},
    {.keys = {KEYCODE_END}, .action = ACTION_END, .views = IN_ALL, .description = "to the end"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .views = IN_OVERVIEW,
     .footer = "follow",
     .description = "show what the selected line counts"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .views = IN_TIMELINE,
     .footer = "memory",
     .description = "memory as it was at the cursor"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .views = IN_GRID,
     .footer = "stack",
     .description = "into the stack or the members, to scroll them"},
    {.keys = {'m'},
     .action = ACTION_MEMBERS,
     .views = IN_GRID,
     .footer = "members",
     .description = "members of the type and padding instead of the stack, and back"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .views = IN_FUNCTIONS,
     .footer = "follow",
     .description = "into the callers and callees, then to the selected one"},
    {.keys = {'+', '='},
     .action = ACTION_ZOOM_IN,
     .views = IN_TIMELINE,
     .footer_keys = "+ -",
     .footer = "zoom",
     .description = "zoom in around the cursor"},
    {.keys = {'-'}, .action = ACTION_ZOOM_OUT, .views = IN_TIMELINE, .description = "zoom out"},
    {.keys = {'+', '='},
     .action = ACTION_ZOOM_IN,
     .views = IN_GRID,
     .footer_keys = "+ -",
     .footer = "zoom",
     .description = "half the bytes per cell"},
    {.keys = {'-'},
     .action = ACTION_ZOOM_OUT,
     .views = IN_GRID,
     .description = "twice the bytes per cell"},
    {.keys = {'0'},
     .action = ACTION_ZOOM_ALL,
     .views = IN_TIMELINE | IN_GRID,

     .description = "zoom to show everything"},
    {.keys = {'v'},
     .action = ACTION_RANGE,
     .views = IN_TIMELINE,
     .footer = "range",
     .description = "begin a range of time; again: filter by allocations made in it"},
    {.keys = {'['},
     .action = ACTION_STEP_BACK,
     .views = IN_TIMELINE | IN_GRID,
     .footer_keys = "[ ]",
     .footer = "time",
     .description = "one step back in time"},
    {.keys = {']'},
     .action = ACTION_STEP_FORWARD,
     .views = IN_TIMELINE | IN_GRID,
     .description = "one step forward in time"},
    {.keys = {'n'},
     .action = ACTION_NEXT,
     .views = IN_GRID,
     .footer = "hole",
     .description = "to the next hole"},
    {.keys = {'N'},
     .action = ACTION_PREVIOUS,
     .views = IN_GRID,
     .description = "to the previous hole"},
    {.keys = {'s'},
     .action = ACTION_SORT,
     .views = IN_FUNCTIONS,
     .footer = "sort",
     .description = "sort by the next column"},
    {.keys = {'<'},
     .action = ACTION_SORT_LEFT,
     .views = IN_FUNCTIONS,
     .description = "sort by the column to the left"},
    {.keys = {'>'},
     .action = ACTION_SORT_RIGHT,
     .views = IN_FUNCTIONS,
     .description = "sort by the column to the right"},
    {.keys = {'r'},
     .action = ACTION_SORT_REVERSE,
     .views = IN_FUNCTIONS,
     .description = "sort the other way round"},
    {.keys = {'c'},
     .action = ACTION_COLOR_BY,
     .views = IN_TIMELINE | IN_GRID,
     .footer = "colour",
     .description = "colour by the next field: function, thread, size, age, …"},
    {.keys = {'f'},
     .action = ACTION_FILTER,
     .views = IN_ALL,
     .footer = "filter",
     .description = "edit the filter"},
    {.keys = {'w'},
     .action = ACTION_NARROW,
     .views = IN_ALL,
     .footer = "as filter",
     .description = "make a filter of what is selected"},
    {.keys = {'a'},
     .action = ACTION_ALTERNATE,
     .views = IN_GRID,
     .footer = "alternate",
     .description = "colours that only tell neighbours apart, and back"},
    {.keys = {'p'},
     .action = ACTION_PEAK,
     .views = IN_TIMELINE | IN_GRID,
     .footer = "peak",
     .description = "to the moment of the peak"},
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .views = IN_GRID,
     .footer = "go to",
     .description = "go to an address"},
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .views = IN_TIMELINE,
     .footer = "go to",
     .description = "go to a time, such as 2.5s or 300ms"},
    {.keys = {'{'},
     .action = ACTION_SECTION_BACK,
     .views = IN_GRID,
     .description = "to the previous region"},
    {.keys = {'}'},
     .action = ACTION_SECTION_FORWARD,
     .views = IN_GRID,
     .footer = "region",
     .description = "to the next region"},
    {.keys = {'H'},
     .action = ACTION_PAN_LEFT,
     .views = IN_TIMELINE,
     .description = "move the window to earlier times"},
    {.keys = {'L'},
     .action = ACTION_PAN_RIGHT,
     .views = IN_TIMELINE,
     .description = "move the window to later times"},
    {.keys = {'/'},
     .action = ACTION_SEARCH,
     .views = IN_ALL,
     .footer = "search",
     .description = "find a function by a part of its name"},
    {.keys = {'n'},
     .action = ACTION_NEXT,
     .views = IN_FUNCTIONS,
     .description = "to the next match of the search"},
    {.keys = {'N'},
     .action = ACTION_PREVIOUS,
     .views = IN_FUNCTIONS,
     .description = "to the previous match"},
    {.keys = {':'}, .action = ACTION_COMMAND, .views = IN_ALL, .description = "type a command"},
    {.keys = {'1'}, .action = ACTION_VIEW_1, .views = IN_ALL, .description = "overview"},
    {.keys = {'2'}, .action = ACTION_VIEW_2, .views = IN_ALL, .description = "timeline"},
    {.keys = {'3'}, .action = ACTION_VIEW_3, .views = IN_ALL, .description = "memory grid"},
    {.keys = {'4'}, .action = ACTION_VIEW_4, .views = IN_ALL, .description = "functions"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_VIEW_NEXT,
     .views = IN_ALL,
     .description = "next view"},
    {.keys = {KEYCODE_BACKTAB},
     .action = ACTION_VIEW_PREVIOUS,
     .views = IN_ALL,
     .description = "previous view"},
    {.keys = {KEYCODE_CONTROL('L')},
     .action = ACTION_REDRAW,
     .views = IN_ALL,
     .description = "draw the screen again"},
    {.keys = {KEYCODE_ESCAPE},
     .action = ACTION_BACK,
     .views = IN_ALL,
     .footer = "back",
     .description = "go back: close, leave, undo the filter"},
    {.keys = {'?'},
     .action = ACTION_HELP,
     .views = IN_ALL,
     .footer = "help",
     .description = "this help"},
    {.keys = {'q'},
     .action = ACTION_QUIT,
     .views = IN_ALL,
     .footer = "quit",
     .description = "quit"},
};

const struct key_binding *key_bindings(size_t *count)
{
    *count = sizeof(bindings) / sizeof(bindings[0]);
    return bindings;
}

enum action key_action(uint32_t key, unsigned view)
{
    for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++)
        for (size_t k = 0; k < 3 && bindings[i].keys[k]; k++)
            if (bindings[i].keys[k] == key && (bindings[i].views & view))
                return bindings[i].action;
    return ACTION_NONE;
}

static const struct {
    uint32_t key;
    const char *name, *symbol;
} key_names[] = {
    {KEYCODE_ESCAPE, "Esc", "Esc"},
    {KEYCODE_ENTER, "Enter", "Enter"},
    {KEYCODE_TAB, "Tab", "Tab"},
    {KEYCODE_BACKTAB, "Shift-Tab", "Shift-Tab"},
    {KEYCODE_BACKSPACE, "Backspace", "Backspace"},
    {KEYCODE_LEFT, "Left", "←"},
    {KEYCODE_RIGHT, "Right", "→"},
    {KEYCODE_UP, "Up", "↑"},
    {KEYCODE_DOWN, "Down", "↓"},
    {KEYCODE_PAGE_UP, "PgUp", "PgUp"},
    {KEYCODE_PAGE_DOWN, "PgDn", "PgDn"},
    {KEYCODE_HOME, "Home", "Home"},
    {KEYCODE_END, "End", "End"},
    {KEYCODE_DELETE, "Delete", "Delete"},
    {' ', "Space", "Space"},
};
#define KEY_NAMES (sizeof(key_names) / sizeof(key_names[0]))

static char *copy(char *out, const char *name)
{
    snprintf(out, KEY_NAME_SIZE, "%s", name);
    return out;
}

char *key_spelling(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return copy(out, key_names[i].name);
    if (key < 32)
        snprintf(out, KEY_NAME_SIZE, "Ctrl-%c", (char)(key + 64));
    else if (key < KEYCODE_FIRST)
        text_encode(key, out);
    else
        copy(out, "?");
    return out;
}

char *key_symbol(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return copy(out, key_names[i].symbol);
    return key_spelling(key, out);
}

uint32_t key_from_name(const char *name)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (strcmp(key_names[i].name, name) == 0)
            return key_names[i].key;
    if (strncmp(name, "Ctrl-", 5) == 0 && name[5] >= '@' && name[5] <= '_' && name[6] == 0)
        return KEYCODE_CONTROL(name[5]);
    const char *rest = name;
    uint32_t glyph = text_next(&rest);
    return *rest == 0 ? glyph : 0;
}
