/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/keys/keys.h"

#include <stdbool.h>

#include "tui/keys/user_keys.h"

/* The shared keys in the order of the help screen, and of the footer as far as there is room. */
static const struct key_binding bindings[] = {
    {.keys = {KEYCODE_UP, 'k'},
     .action = ACTION_UP,
     .views = IN_LISTS | IN(VIEW_MEMORY),
     .description = "up one row"},
    {.keys = {KEYCODE_DOWN, 'j'},
     .action = ACTION_DOWN,
     .views = IN_LISTS | IN(VIEW_MEMORY),
     .description = "down one row"},
    {.keys = {KEYCODE_PAGE_UP},
     .action = ACTION_PAGE_UP,
     .views = IN_ALL,
     .description = "up one page"},
    {.keys = {KEYCODE_PAGE_DOWN},
     .action = ACTION_PAGE_DOWN,
     .views = IN_ALL,
     .description = "down one page"},
    {.keys = {KEYCODE_HOME},
     .action = ACTION_HOME,
     .views = IN_ALL,
     .description = "to the beginning"},
    {.keys = {KEYCODE_END}, .action = ACTION_END, .views = IN_ALL, .description = "to the end"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .views = IN_ALL,
     .footer = "deeper",
     .description = "deeper: show what the selected line counts"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .views = IN_ALL,
     .description = "to the next part of the view"},
    {.keys = {KEYCODE_BACKTAB},
     .action = ACTION_PREVIOUS_PANE,
     .views = IN_ALL,
     .description = "to the previous part of the view"},
    {.keys = {'s'},
     .action = ACTION_SORT,
     .views = IN_SORTED,
     .footer = "sort",
     .description = "sort by the next column"},
    {.keys = {'<'},
     .action = ACTION_SORT_LEFT,
     .views = IN_SORTED,
     .description = "sort by the column to the left"},
    {.keys = {'>'},
     .action = ACTION_SORT_RIGHT,
     .views = IN_SORTED,
     .description = "sort by the column to the right"},
    {.keys = {'r'},
     .action = ACTION_SORT_REVERSE,
     .views = IN_SORTED,
     .description = "sort the other way round"},
    {.keys = {'c'},
     .action = ACTION_COLOR_BY,
     .views = IN_COLORED,
     .footer = "colour",
     .description = "choose what the colours mean: function, thread, size, age, …"},
    {.keys = {'f'},
     .action = ACTION_FILTER,
     .views = IN_ALL,
     .footer = "filter",
     .description = "edit the filter"},
    {.keys = {'w'},
     .action = ACTION_NARROW,
     .views = IN_ALL,
     .footer = "narrow",
     .description = "narrow the filter to what is selected"},
    {.keys = {'x'},
     .action = ACTION_EXCLUDE,
     .views = IN_ALL,
     .description = "filter out what is selected"},
    {.keys = {'l'},
     .action = ACTION_LIST,
     .views = IN_ALL,
     .footer = "list",
     .description = "list the allocations behind what is selected"},
    {.keys = {'u'},
     .action = ACTION_UNDO,
     .views = IN_ALL,
     .description = "undo the last change of the filter"},
    {.keys = {'U'}, .action = ACTION_REDO, .views = IN_ALL, .description = "do it again"},
    {.keys = {'P'},
     .action = ACTION_PAUSE,
     .views = IN_ALL,
     .description = "live: hold still to look around; the recording goes on; and follow again"},
    {.keys = {'y'},
     .action = ACTION_COPY,
     .views = IN_ALL,
     .description = "copy what is selected: whole names, the whole stack"},
    {.keys = {'/'},
     .action = ACTION_SEARCH,
     .views = IN_ALL,
     .footer = "search",
     .description = "search for a part of a name"},
    {.keys = {'n'},
     .action = ACTION_NEXT,
     .views = IN_ALL,
     .description = "to the next match of the search"},
    {.keys = {'N'},
     .action = ACTION_PREVIOUS,
     .views = IN_ALL,
     .description = "to the previous match"},
    {.keys = {':'}, .action = ACTION_COMMAND, .views = IN_ALL, .description = "type a command"},
    {.keys = {'1'}, .action = ACTION_VIEW_1, .views = IN_ALL, .description = "overview"},
    {.keys = {'2'}, .action = ACTION_VIEW_1 + 1, .views = IN_ALL, .description = "timeline"},
    {.keys = {'3'}, .action = ACTION_VIEW_1 + 2, .views = IN_ALL, .description = "memory"},
    {.keys = {'4'}, .action = ACTION_VIEW_1 + 3, .views = IN_ALL, .description = "tree"},
    {.keys = {'5'}, .action = ACTION_VIEW_1 + 4, .views = IN_ALL, .description = "functions"},
    {.keys = {'6'}, .action = ACTION_VIEW_1 + 5, .views = IN_ALL, .description = "types"},
    {.keys = {'7'}, .action = ACTION_VIEW_1 + 6, .views = IN_ALL, .description = "leaks"},
    {.keys = {'8'}, .action = ACTION_VIEW_1 + 7, .views = IN_ALL, .description = "allocations"},
    {.keys = {'9'}, .action = ACTION_VIEW_1 + 8, .views = IN_ALL, .description = "sizes"},
    {.keys = {KEYCODE_CONTROL('N')},
     .action = ACTION_VIEW_NEXT,
     .views = IN_ALL,
     .description = "next view"},
    {.keys = {KEYCODE_CONTROL('P')},
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
    {.keys = {'?', KEYCODE_F1},
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

const struct key_table shared_keys = KEY_TABLE(bindings);

static const struct key_binding *find(const struct key_table *table, uint32_t key)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t k = 0; k < KEYS_MOST && table->bindings[i].keys[k]; k++)
            if (table->bindings[i].keys[k] == key)
                return &table->bindings[i];
    return NULL;
}

/* Returns true if the view's own table explains a shared binding itself. */
static bool is_explained(const struct key_table *own, const struct key_binding *shared)
{
    return find(own, shared->keys[0]) != NULL;
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
        if ((next->views & IN(view)) && !is_explained(own, next))
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

const struct key_binding *key_binding_of(const struct key_table *own, enum view_number view,
                                         uint32_t key)
{
    const struct user_key *user = users_key(own, view, key);
    return user ? binding_of_action(own, view, user->action) : built_in(own, view, key);
}

enum action key_action(const struct key_table *own, enum view_number view, uint32_t key)
{
    const struct key_binding *found = key_binding_of(own, view, key);
    return found ? found->action : ACTION_NONE;
}

/* Adds a key to the list if it asks for the binding and is not there yet. */
static size_t add_key(const struct key_table *own, enum view_number view,
                      const struct key_binding *binding, uint32_t key, uint32_t out[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (out[i] == key)
            return count;
    if (count < KEYS_SHOWN && key_binding_of(own, view, key) == binding)
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
