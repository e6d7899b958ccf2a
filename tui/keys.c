#include "tui/keys.h"

#include "tui/cells.h"

#include <stdio.h>
#include <string.h>

/* The order is the order of the help screen, and of the footer as far as there is room. */
static const struct key_binding bindings[] = {
    {{KEYCODE_LEFT, 'h'}, ACTION_LEFT, IN_TIMELINE, NULL, "one slot earlier"},
    {{KEYCODE_RIGHT, 'l'}, ACTION_RIGHT, IN_TIMELINE, NULL, "one slot later"},
    {{KEYCODE_LEFT, 'h'}, ACTION_LEFT, IN_GRID, NULL, "one cell down in memory"},
    {{KEYCODE_RIGHT, 'l'}, ACTION_RIGHT, IN_GRID, NULL, "one cell up in memory"},
    {{KEYCODE_LEFT, 'h'}, ACTION_LEFT, IN_FUNCTIONS, NULL, "to the callers"},
    {{KEYCODE_RIGHT, 'l'}, ACTION_RIGHT, IN_FUNCTIONS, NULL, "to the callees"},
    {{KEYCODE_UP, 'k'}, ACTION_UP, IN_ALL, NULL, "up one row"},
    {{KEYCODE_DOWN, 'j'}, ACTION_DOWN, IN_ALL, NULL, "down one row"},
    {{KEYCODE_PAGE_UP}, ACTION_PAGE_UP, IN_ALL, NULL, "up one page (timeline: earlier)"},
    {{KEYCODE_PAGE_DOWN}, ACTION_PAGE_DOWN, IN_ALL, NULL, "down one page (timeline: later)"},
    {{KEYCODE_HOME}, ACTION_HOME, IN_ALL, NULL, "to the beginning"},
    {{KEYCODE_END}, ACTION_END, IN_ALL, NULL, "to the end"},

    {{KEYCODE_ENTER}, ACTION_FOLLOW, IN_OVERVIEW, "follow", "show what the selected line counts"},
    {{KEYCODE_ENTER}, ACTION_FOLLOW, IN_TIMELINE, "memory", "memory as it was at the cursor"},
    {{KEYCODE_ENTER}, ACTION_FOLLOW, IN_GRID, "stack", "into the stack, to scroll it"},
    {{KEYCODE_ENTER},
     ACTION_FOLLOW,
     IN_FUNCTIONS,
     "follow",
     "into the callers and callees, then to the selected one"},
    {{'+', '='}, ACTION_ZOOM_IN, IN_TIMELINE, "zoom", "zoom in around the cursor"},
    {{'-'}, ACTION_ZOOM_OUT, IN_TIMELINE, NULL, "zoom out"},
    {{'+', '='}, ACTION_ZOOM_IN, IN_GRID, "zoom", "half as many bytes a cell"},
    {{'-'}, ACTION_ZOOM_OUT, IN_GRID, NULL, "twice as many bytes a cell"},
    {{'0'}, ACTION_ZOOM_ALL, IN_TIMELINE | IN_GRID, "all", "zoom so that everything is seen"},
    {{'H'}, ACTION_PAN_LEFT, IN_TIMELINE, NULL, "move the window to earlier times"},
    {{'L'}, ACTION_PAN_RIGHT, IN_TIMELINE, NULL, "move the window to later times"},
    {{'p'}, ACTION_PEAK, IN_TIMELINE | IN_GRID, "peak", "to the moment of the peak"},
    {{'v'},
     ACTION_RANGE,
     IN_TIMELINE,
     "range",
     "begin a range of time; again: filter by allocations made in it"},
    {{'['}, ACTION_STEP_BACK, IN_TIMELINE | IN_GRID, "[] time", "one step back in time"},
    {{']'}, ACTION_STEP_FORWARD, IN_TIMELINE | IN_GRID, NULL, "one step forward in time"},
    {{'n'}, ACTION_NEXT, IN_GRID, "hole", "to the next hole"},
    {{'N'}, ACTION_PREVIOUS, IN_GRID, NULL, "to the hole before"},
    {{'{'}, ACTION_SECTION_BACK, IN_GRID, NULL, "to the region before"},
    {{'}'}, ACTION_SECTION_FORWARD, IN_GRID, "region", "to the next region"},
    {{'g'}, ACTION_GOTO, IN_GRID, "go to", "go to an address"},
    {{'g'}, ACTION_GOTO, IN_TIMELINE, "go to", "go to a time, such as 2.5s or 300ms"},
    {{'a'},
     ACTION_ALTERNATE,
     IN_GRID,
     "alternate",
     "colours that only tell neighbours apart, and back"},
    {{'s'}, ACTION_SORT, IN_FUNCTIONS, "sort", "sort by the next column"},
    {{'<'}, ACTION_SORT_LEFT, IN_FUNCTIONS, NULL, "sort by the column to the left"},
    {{'>'}, ACTION_SORT_RIGHT, IN_FUNCTIONS, NULL, "sort by the column to the right"},
    {{'w'}, ACTION_NARROW, IN_ALL, "as filter", "make a filter of what is selected"},
    {{'c'},
     ACTION_COLOR_BY,
     IN_TIMELINE | IN_GRID,
     "colour by",
     "colour by the next field: function, thread, size, age, …"},

    {{'/'}, ACTION_SEARCH, IN_ALL, "search", "find a function by a part of its name"},
    {{'n'}, ACTION_NEXT, IN_FUNCTIONS, NULL, "to the next match of the search"},
    {{'N'}, ACTION_PREVIOUS, IN_FUNCTIONS, NULL, "to the match before"},
    {{'f'}, ACTION_FILTER, IN_ALL, "filter", "edit the filter"},
    {{':'}, ACTION_COMMAND, IN_ALL, NULL, "type a command"},
    {{'1'}, ACTION_VIEW_1, IN_ALL, NULL, "overview"},
    {{'2'}, ACTION_VIEW_2, IN_ALL, NULL, "timeline"},
    {{'3'}, ACTION_VIEW_3, IN_ALL, NULL, "memory grid"},
    {{'4'}, ACTION_VIEW_4, IN_ALL, NULL, "functions"},
    {{KEYCODE_TAB}, ACTION_VIEW_NEXT, IN_ALL, NULL, "next view"},
    {{KEYCODE_BACKTAB}, ACTION_VIEW_PREVIOUS, IN_ALL, NULL, "view before"},
    {{KEYCODE_CONTROL('L')}, ACTION_REDRAW, IN_ALL, NULL, "draw the screen again"},
    {{KEYCODE_ESCAPE}, ACTION_BACK, IN_ALL, "back", "go back: close, leave, undo the filter"},
    {{'?'}, ACTION_HELP, IN_ALL, "help", "this help"},
    {{'q'}, ACTION_QUIT, IN_ALL, "quit", "quit"},
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

char *key_name(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return strcpy(out, key_names[i].name);
    if (key < 32)
        snprintf(out, 16, "Ctrl-%c", (char)(key + 64));
    else if (key < KEYCODE_FIRST)
        text_encode(key, out);
    else
        strcpy(out, "?");
    return out;
}

char *key_symbol(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return strcpy(out, key_names[i].symbol);
    return key_name(key, out);
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
