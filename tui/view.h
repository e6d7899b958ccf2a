/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view: update() changes its state and loads what it shows, render() only writes cells.
 *
 * The browser calls update() with ACTION_REFRESH whenever something that a view may show has
 * changed (size, filter, colouring, moment) and before the first render(). The size in the
 * input is that of the area which render() will get.
 */
#ifndef MPROF_TUI_VIEW_H
#define MPROF_TUI_VIEW_H

#include "tui/action.h"
#include "tui/cells.h"
#include "tui/explore.h"

#include <stdbool.h>

struct view_input {
    enum action action;
    int width, height;
    int x, y;         /* ACTION_CLICK and the wheel: place in the view's area */
    const char *text; /* ACTION_SEARCH, ACTION_GOTO: what was typed */
    bool more;        /* another action waits: what is only shown need not be loaded yet */
};

struct view_ops {
    const char *name;      /* for --view and :view */
    const char *title;     /* for the title line */
    unsigned bit;          /* enum view_bit of its key bindings */
    const char *asks;      /* what ACTION_GOTO asks for, NULL: nothing */
    void *(*create)(void); /* NULL where memory is short */
    void (*destroy)(void *view);
    /* False where the action means nothing here (then ACTION_BACK leaves the view). */
    bool (*update)(void *view, struct exploration *exploration, const struct view_input *input);
    void (*render)(const void *view, const struct exploration *exploration,
                   const struct area *area);
};

extern const struct view_ops overview_view, timeline_view, grid_view, functions_view;

#endif
