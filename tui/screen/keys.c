/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/cells.h"

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
    {KEYCODE_UNKNOWN, "that key", "that key"},
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
    else if (key >= KEYCODE_F1 && key <= KEYCODE_F12)
        snprintf(out, KEY_NAME_SIZE, "F%u", (unsigned)(key - KEYCODE_F1 + 1));
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
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        char *end;
        const unsigned long number = strtoul(name + 1, &end, 10);
        return *end == 0 && number <= 12 ? KEYCODE_F1 + (uint32_t)number - 1 : 0;
    }
    const char *rest = name;
    uint32_t glyph = text_next(&rest);
    return *rest == 0 ? glyph : 0;
}

static const char *const names[] = {
    [ACTION_NONE] = "none",
    [ACTION_LEFT] = "left",
    [ACTION_RIGHT] = "right",
    [ACTION_UP] = "up",
    [ACTION_DOWN] = "down",
    [ACTION_PAGE_UP] = "page-up",
    [ACTION_PAGE_DOWN] = "page-down",
    [ACTION_HOME] = "home",
    [ACTION_END] = "end",
    [ACTION_FOLLOW] = "deeper",
    [ACTION_BACK] = "back",
    [ACTION_NEXT_PANE] = "next-pane",
    [ACTION_PREVIOUS_PANE] = "previous-pane",
    [ACTION_ZOOM_IN] = "zoom-in",
    [ACTION_ZOOM_OUT] = "zoom-out",
    [ACTION_ZOOM_ALL] = "zoom-all",
    [ACTION_PAN_LEFT] = "pan-left",
    [ACTION_PAN_RIGHT] = "pan-right",
    [ACTION_STEP_BACK] = "step-back",
    [ACTION_STEP_FORWARD] = "step-forward",
    [ACTION_PLAY] = "play",
    [ACTION_SLOWER] = "slower",
    [ACTION_FASTER] = "faster",
    [ACTION_RANGE] = "range",
    [ACTION_DIFF] = "diff",
    [ACTION_STACK_BY] = "stack",
    [ACTION_COMPRESS] = "compress",
    [ACTION_SECTION_BACK] = "section-back",
    [ACTION_SECTION_FORWARD] = "section-forward",
    [ACTION_PEAK] = "peak",
    [ACTION_MODE] = "mode",
    [ACTION_HOLES] = "holes",
    [ACTION_OVER_TIME] = "over-time",
    [ACTION_ALTERNATE] = "alternate",
    [ACTION_BY_TYPE] = "by-type",
    [ACTION_BY_SITE] = "by-site",
    [ACTION_BY_USER] = "by-user",
    [ACTION_MEMBERS] = "members",
    [ACTION_SORT] = "sort",
    [ACTION_SORT_LEFT] = "sort-left",
    [ACTION_SORT_RIGHT] = "sort-right",
    [ACTION_SORT_REVERSE] = "sort-reverse",
    [ACTION_EXPAND_HOTTEST] = "hottest",
    [ACTION_FOCUS] = "focus",
    [ACTION_DIRECTION] = "direction",
    [ACTION_FLAME] = "flame",
    [ACTION_LIBRARIES] = "libraries",
    [ACTION_WRAPPER] = "wrapper",
    [ACTION_SUPPRESS] = "suppress",
    [ACTION_OPEN] = "open",
    [ACTION_TO_MEMORY] = "to-memory",
    [ACTION_ADD] = "add",
    [ACTION_REMOVE] = "remove",
    [ACTION_DISABLE] = "disable",
    [ACTION_PAINT] = "paint",
    [ACTION_SWAP] = "swap",
    [ACTION_WIRE] = "wire",
    [ACTION_SAVE] = "save",
    [ACTION_LIST] = "list",
    [ACTION_NEXT] = "next",
    [ACTION_PREVIOUS] = "previous",
    [ACTION_GOTO] = "go-to",
    [ACTION_SEARCH] = "search",
    [ACTION_NARROW] = "narrow",
    [ACTION_EXCLUDE] = "exclude",
    [ACTION_COLOR_BY] = "colour",
    [ACTION_COPY] = "copy",
    [ACTION_UNDO] = "undo",
    [ACTION_REDO] = "redo",
    [ACTION_PAUSE] = "pause",
    [ACTION_FILTER] = "filter",
    [ACTION_COMMAND] = "command",
    [ACTION_HELP] = "help",
    [ACTION_QUIT] = "quit",
    [ACTION_VIEWS] = "views",
    [ACTION_VIEW_1] = "view-1",
    [ACTION_VIEW_1 + 1] = "view-2",
    [ACTION_VIEW_1 + 2] = "view-3",
    [ACTION_VIEW_1 + 3] = "view-4",
    [ACTION_VIEW_1 + 4] = "view-5",
    [ACTION_VIEW_1 + 5] = "view-6",
    [ACTION_VIEW_1 + 6] = "view-7",
    [ACTION_VIEW_1 + 7] = "view-8",
    [ACTION_VIEW_1 + 8] = "view-9",
    [ACTION_VIEW_1 + VIEW_RSS] = "view-rss",
    [ACTION_VIEW_1 + VIEW_RETAINED] = "view-retained",
    [ACTION_VIEW_NEXT] = "view-next",
    [ACTION_VIEW_PREVIOUS] = "view-previous",
    [ACTION_REDRAW] = "redraw",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

const char *action_name(enum action action)
{
    return (size_t)action < NAMES ? names[action] : NULL;
}

bool action_from_name(const char *name, enum action *action)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i] && strcmp(names[i], name) == 0) {
            *action = (enum action)i;
            return true;
        }
    }
    return false;
}

static struct user_key user_keys[USER_KEYS_MOST];
static size_t user_key_count;

/* Returns the user's binding of a key for exactly this view, or VIEWS for all of them, or NULL. */
static const struct user_key *user_keys_find(enum view_number view, uint32_t key)
{
    for (size_t i = 0; i < user_key_count; i++)
        if (user_keys[i].key == key && user_keys[i].view == view)
            return &user_keys[i];
    return NULL;
}

bool user_keys_bind(const struct user_key *key)
{
    for (size_t i = 0; i < user_key_count; i++) {
        if (user_keys[i].key == key->key && user_keys[i].view == key->view) {
            user_keys[i] = *key;
            return true;
        }
    }
    if (user_key_count == USER_KEYS_MOST)
        return false;
    user_keys[user_key_count++] = *key;
    return true;
}

void user_keys_clear(void)
{
    user_key_count = 0;
}

const struct user_key *user_keys_at(size_t n)
{
    return n < user_key_count ? &user_keys[n] : NULL;
}

/* The shared keys in the order of the help screen, and of the footer as far as there is room. */
static const struct key_binding bindings[] = {
    {ACTION_UP, "up one row", .keys = {KEYCODE_UP, 'k'}, .views = IN_LISTS | IN(VIEW_MEMORY)},
    {ACTION_DOWN, "down one row", .keys = {KEYCODE_DOWN, 'j'}, .views = IN_LISTS | IN(VIEW_MEMORY)},
    {ACTION_PAGE_UP, "up one page", .keys = {KEYCODE_PAGE_UP}, .views = IN_ALL},
    {ACTION_PAGE_DOWN, "down one page", .keys = {KEYCODE_PAGE_DOWN}, .views = IN_ALL},
    {ACTION_HOME, "to the beginning", .keys = {KEYCODE_HOME}, .views = IN_ALL},
    {ACTION_END, "to the end", .keys = {KEYCODE_END}, .views = IN_ALL},
    {ACTION_FOLLOW, "deeper: show what the selected line counts", .keys = {KEYCODE_ENTER},
     .views = IN_ALL, .footer = "deeper"},
    {ACTION_NEXT_PANE, "to the next part of the view", .keys = {KEYCODE_TAB}, .views = IN_ALL},
    {ACTION_PREVIOUS_PANE, "to the previous part of the view", .keys = {KEYCODE_BACKTAB},
     .views = IN_ALL},
    {ACTION_SORT, "sort by the next column", .keys = {'s'}, .views = IN_SORTED, .footer = "sort"},
    {ACTION_SORT_LEFT, "sort by the column to the left", .keys = {'<'}, .views = IN_SORTED},
    {ACTION_SORT_RIGHT, "sort by the column to the right", .keys = {'>'}, .views = IN_SORTED},
    {ACTION_SORT_REVERSE, "sort the other way round", .keys = {'r'}, .views = IN_SORTED},
    {ACTION_COLOR_BY, "choose what the colours mean: function, thread, size, age, …", .keys = {'c'},
     .views = IN_COLORED, .footer = "colour"},
    {ACTION_FILTER, "edit the filter", .keys = {'f'}, .views = IN_ALL, .footer = "filter"},
    {ACTION_NARROW, "narrow the filter to what is selected", .keys = {'w'}, .views = IN_ALL,
     .footer = "narrow"},
    {ACTION_EXCLUDE, "filter out what is selected", .keys = {'x'}, .views = IN_ALL},
    {ACTION_LIST, "list the allocations behind what is selected", .keys = {'l'}, .views = IN_ALL,
     .footer = "list"},
    {ACTION_UNDO, "undo the last change of the filter", .keys = {'u'},
     .views = IN_ALL & ~IN(VIEW_RSS)},
    {ACTION_REDO, "do it again", .keys = {'U'}, .views = IN_ALL},
    {ACTION_PAUSE, "live: hold still to look around; the recording goes on; and follow again",
     .keys = {'P'}, .views = IN_ALL},
    {ACTION_COPY, "copy what is selected: whole names, the whole stack", .keys = {'y'},
     .views = IN_ALL},
    {ACTION_SEARCH, "search for a part of a name", .keys = {'/'}, .views = IN_ALL,
     .footer = "search"},
    {ACTION_NEXT, "to the next match of the search", .keys = {'n'}, .views = IN_ALL},
    {ACTION_PREVIOUS, "to the previous match", .keys = {'N'}, .views = IN_ALL},
    {ACTION_COMMAND, "type a command", .keys = {':'}, .views = IN_ALL},
    {ACTION_VIEW_1, "overview", .keys = {'1'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 1, "timeline", .keys = {'2'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 2, "memory", .keys = {'3'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 3, "tree", .keys = {'4'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 4, "functions", .keys = {'5'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 5, "types", .keys = {'6'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 6, "leaks", .keys = {'7'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 7, "allocations", .keys = {'8'}, .views = IN_ALL},
    {ACTION_VIEW_1 + 8, "sizes", .keys = {'9'}, .views = IN_ALL},
    {ACTION_VIEW_1 + VIEW_RSS, "resident set", .keys = {'R'}, .views = IN_ALL},
    {ACTION_VIEW_1 + VIEW_RETAINED, "who keeps memory alive", .keys = {'K'}, .views = IN_ALL},
    {ACTION_VIEWS, "all views and their keys, to choose one", .keys = {'V'}, .views = IN_ALL},
    {ACTION_VIEW_NEXT, "next view", .keys = {KEYCODE_CONTROL('N')}, .views = IN_ALL},
    {ACTION_VIEW_PREVIOUS, "previous view", .keys = {KEYCODE_CONTROL('P')}, .views = IN_ALL},
    {ACTION_REDRAW, "draw the screen again", .keys = {KEYCODE_CONTROL('L')}, .views = IN_ALL},
    {ACTION_BACK, "go back: close, leave, undo the filter", .keys = {KEYCODE_ESCAPE},
     .views = IN_ALL, .footer = "back"},
    {ACTION_HELP, "this help", .keys = {'?', KEYCODE_F1}, .views = IN_ALL, .footer = "help"},
    {ACTION_QUIT, "quit", .keys = {'q'}, .views = IN_ALL, .footer = "quit"},
};

const struct key_table shared_keys = KEY_TABLE(bindings);

static const struct key_binding *find(const struct key_table *table, uint32_t key)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t k = 0; k < KEYS_MOST && table->bindings[i].keys[k]; k++)
            if (table->bindings[i].keys[k] == key)
                return &table->bindings[i];
    return NULL;
}

const struct key_binding *key_binding_next(const struct key_table *own, enum view_number view,
                                           const struct key_binding *binding)
{
    const bool is_shared = binding && binding->views != 0;
    if (!is_shared) {
        const size_t n = binding ? (size_t)(binding - own->bindings) + 1 : 0;
        if (n < own->count)
            return &own->bindings[n];
    }
    const struct key_binding *next = is_shared ? binding + 1 : shared_keys.bindings;
    for (; next < shared_keys.bindings + shared_keys.count; next++)
        if ((next->views & IN(view)) && !find(own, next->keys[0]))
            return next;
    return NULL;
}

/* Returns the binding of an action in a view, NULL if the view does not know it. */
static const struct key_binding *binding_of_action(const struct key_table *own,
                                                   enum view_number view, enum action action)
{
    const struct key_binding *binding = NULL;
    while ((binding = key_binding_next(own, view, binding)))
        if (binding->action == action)
            break;
    return binding;
}

/* Returns the user's binding of a key that counts in a view, NULL if there is none. */
static const struct user_key *users_key(const struct key_table *own, enum view_number view,
                                        uint32_t key)
{
    const struct user_key *user = user_keys_find(view, key);
    if (!user)
        user = user_keys_find(VIEWS, key);
    if (!user || user->action == ACTION_NONE || binding_of_action(own, view, user->action))
        return user;
    return NULL;
}

static const struct key_binding *built_in(const struct key_table *own, enum view_number view,
                                          uint32_t key)
{
    const struct key_binding *found = find(own, key);
    if (found)
        return found;
    found = find(&shared_keys, key);
    return found && (found->views & IN(view)) ? found : NULL;
}

/* Returns the binding of a key in a view, NULL if it has none. The user's own keys come first. */
static const struct key_binding *binding_of(const struct key_table *own, enum view_number view,
                                            uint32_t key)
{
    const struct user_key *user = users_key(own, view, key);
    return user ? binding_of_action(own, view, user->action) : built_in(own, view, key);
}

enum action key_action(const struct key_table *own, enum view_number view, uint32_t key)
{
    const struct key_binding *found = binding_of(own, view, key);
    return found ? found->action : ACTION_NONE;
}

/* Adds a key to the list if it asks for the binding and is not there yet. */
static size_t add_key(const struct key_table *own, enum view_number view,
                      const struct key_binding *binding, uint32_t key, uint32_t out[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (out[i] == key)
            return count;
    if (count < KEYS_SHOWN && binding_of(own, view, key) == binding)
        out[count++] = key;
    return count;
}

size_t key_binding_keys(const struct key_table *own, enum view_number view,
                        const struct key_binding *binding, uint32_t out[KEYS_SHOWN])
{
    const struct user_key *user;
    size_t count = 0;
    for (size_t i = 0; (user = user_keys_at(i)); i++)
        if (user->view == VIEWS || user->view == view)
            count = add_key(own, view, binding, user->key, out, count);
    for (size_t i = 0; i < KEYS_MOST && binding->keys[i]; i++)
        count = add_key(own, view, binding, binding->keys[i], out, count);
    return count;
}

bool key_binding_is_changed(const struct key_table *own, enum view_number view,
                            const struct key_binding *binding)
{
    uint32_t keys[KEYS_SHOWN];
    size_t usual = 0;
    if (!user_keys_at(0))
        return false;
    while (usual < KEYS_MOST && binding->keys[usual])
        usual++;
    const size_t count = key_binding_keys(own, view, binding, keys);
    if (count != usual)
        return true;
    for (size_t i = 0; i < count; i++)
        if (keys[i] != binding->keys[i])
            return true;
    return false;
}
