/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of views. */
#include <string.h>

#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"

static const struct view_ops *const view_table[VIEWS] = {
    [VIEW_OVERVIEW] = &overview_view,

    [VIEW_TIMELINE] = &timeline_view,

    [VIEW_MEMORY] = &memory_view,

    [VIEW_TREE] = &tree_view,

    [VIEW_FUNCTIONS] = &functions_view,

    [VIEW_TYPES] = &types_view,

    [VIEW_LEAKS] = &leaks_view,

    [VIEW_ALLOCATIONS] = &allocations_view,

    [VIEW_SIZES] = &sizes_view,

    [VIEW_LIFETIMES] = &lifetimes_view,

    [VIEW_THREADS] = &threads_view,

    [VIEW_ARENAS] = &arenas_view,

    [VIEW_SOURCE] = &source_view,

    [VIEW_SQL] = &sql_view,

    [VIEW_DETAIL] = &detail_view,

    [VIEW_DIFF] = &diff_view,

    [VIEW_GRAPHS] = &graphs_view,
};

const struct view_ops *browser_view(enum view_number number)
{
    return view_table[number];
}

const char *browser_view_name(int n)
{
    for (int i = 0; i < VIEWS; i++)
        if (view_table[i] && n-- == 0)
            return view_table[i]->name;
    return NULL;
}

char *browser_view_names(char *out, size_t size)
{
    size_t length = 0;
    out[0] = 0;
    const char *name;
    for (int i = 0; (name = browser_view_name(i)) && length < size; i++) {
        const char *before = i == 0 ? "" : browser_view_name(i + 1) ? ", " : " and ";
        length += (size_t)snprintf(out + length, size - length, "%s%s", before, name);
    }
    return out;
}

enum view_number browser_find_view(const char *name, bool whole)
{
    const size_t length = strlen(name);
    for (int i = 0; length > 0 && i < VIEWS; i++) {
        const struct view_ops *view = view_table[i];
        if (view &&
            (strcmp(view->name, name) == 0 || (view->alias && strcmp(view->alias, name) == 0)))
            return (enum view_number)i;
    }
    for (int i = 0; length > 0 && !whole && i < VIEWS; i++) {
        const struct view_ops *view = view_table[i];
        if (view && (strncmp(view->name, name, length) == 0 ||
                     (view->alias && strncmp(view->alias, name, length) == 0)))
            return (enum view_number)i;
    }
    return VIEW_SAME;
}
