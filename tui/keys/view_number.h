/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of the views. The first nine have a digit; the others are reached by name. */
#ifndef MPROF_TUI_KEYS_VIEW_NUMBER_H
#define MPROF_TUI_KEYS_VIEW_NUMBER_H

enum view_number {
    VIEW_OVERVIEW,
    VIEW_TIMELINE,
    VIEW_MEMORY,
    VIEW_TREE,
    VIEW_FUNCTIONS,
    VIEW_TYPES,
    VIEW_LEAKS,
    VIEW_ALLOCATIONS,
    VIEW_SIZES,
    VIEW_LIFETIMES,
    VIEW_THREADS,
    VIEW_ARENAS,
    VIEW_SOURCE,
    VIEW_DIFF,
    VIEW_GRAPHS,
    VIEW_SQL,
    VIEW_DETAIL,
    VIEWS,
    VIEW_SAME = VIEWS, /* as a wish: stay */
};
#define VIEW_DIGITS 9 /* the views that have one */

/* Sets of views, for the bindings that views share. */
#define IN(view) (1u << (view))
enum view_set {
    IN_ALL = IN(VIEWS) - 1,
    /* The views whose main part is a table or an outline of rows. */
    IN_LISTS = IN_ALL & ~(IN(VIEW_TIMELINE) | IN(VIEW_MEMORY)),
    /* Those that sort their rows. */
    IN_SORTED =
        IN_LISTS & ~(IN(VIEW_OVERVIEW) | IN(VIEW_SOURCE) | IN(VIEW_DETAIL) | IN(VIEW_GRAPHS)),
    /* Those that show categories in colours. */
    IN_COLORED = IN(VIEW_TIMELINE) | IN(VIEW_MEMORY),
};

#endif
