/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view: update() changes its state and asks for its data, render() only writes cells. Data that
 * have not come yet are missing from the screen; update() is called again when they have come.
 *
 * The browser calls update() with ACTION_REFRESH before the first render(), and whenever something
 * has changed that a view may show (size, filter, colouring, moment). The size in the input is that
 * of the area that render() will get.
 */
#ifndef MPROF_TUI_VIEW_H
#define MPROF_TUI_VIEW_H

#include <stdbool.h>

#include "tui/keys/action.h"
#include "tui/screen/cells.h"
#include "tui/explore/explore.h"

struct view_input {
    enum action action;
    int width, height;
    int x, y;         /* ACTION_CLICK and the wheel: position in the view's area */
    const char *text; /* ACTION_SEARCH, ACTION_GOTO: the typed text */
    bool more;        /* another action waits: data that is only shown can load later */
};

struct view_ops {
    const char *name;      /* for --view and :view */
    const char *title;     /* for the title line */
    unsigned bit;          /* enum view_bit of its key bindings */
    const char *asks;      /* prompt of ACTION_GOTO; NULL: the view has none */
    void *(*create)(void); /* NULL if memory is exhausted */
    void (*destroy)(void *view, struct exploration *exploration);
    /* Returns false if the action means nothing here (ACTION_BACK then leaves the view). */
    bool (*update)(void *view, struct exploration *exploration, const struct view_input *input);
    void (*render)(const void *view, const struct exploration *exploration,
                   const struct area *area);
};

extern const struct view_ops overview_view, timeline_view, grid_view, functions_view;

#endif
