/* SPDX-License-Identifier: BSD-2-Clause */
/* A view: update() changes its state and asks for its data, render() only writes cells. Data that
 * have not come yet are missing from the screen; update() is called again when they have come.
 *
 * The browser calls update() with ACTION_REFRESH before the first render(), and whenever something
 * has changed that a view may show (size, filter, colouring, moment).
 *
 * The functions after render() are about what the view shows. They ask no question of the engine:
 * they use the data that have come. NULL: the view has none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/screen/cells.h"
#include "tui/screen/keys.h"
#include "tui/screen/table.h"
#include "tui/view/common/browse.h"

/* A step that narrows the filter to the selected thing: the menus of `w` and `x` are made of it. */
struct view_offer {
    char label[128]; /* "this function: parse_expr" */
    char *step;      /* "where type == \"Node\"", malloc()ed; only a `where` can be excluded */
};
#define VIEW_OFFERS 16

struct table_view_kind;

struct view_ops {
    const char *name;       /* for --view and `:` */
    const char *alias;      /* another name, or NULL */
    const char *title;      /* for the title line */
    const char *asks;       /* prompt of ACTION_GOTO; NULL: the view has none */
    bool asks_first;        /* an ACTION_FOLLOW that the view does not use opens that prompt */
    const char *asks_range; /* prompt of ACTION_RANGE; NULL: the action comes without a text */
    const char *help;       /* a sentence or two that begin the view's help, or NULL */
    struct key_table keys;  /* its own, and shared ones that it explains itself */
    const struct table_view_kind *rows; /* of a view that is a list, or NULL */
    size_t size;                        /* of its state, which is 0 at first; or create() */
    void *(*create)(void);              /* NULL if memory is exhausted */
    void (*destroy)(void *view, struct browse *browse);
    /* Another view is shown from now on: gives up questions that take long. NULL: there are none.
     */
    void (*leave)(void *view, struct browse *browse);
    /* Returns false if the action means nothing here (ACTION_BACK then leaves the view). */
    bool (*update)(void *view, struct browse *browse, const struct view_input *input);
    void (*render)(const void *view, const struct browse *browse, const struct area *area);

    /* Writes what the selected thing offers, the step that names exactly it first: `l` lists its
     * allocations. Returns the number, at most `capacity`. */
    size_t (*offers)(void *view, struct browse *browse, struct view_offer *out, size_t capacity);
    /* Writes the selected thing as text, for `y`: whole names, whole stacks. Returns false if
     * nothing is selected. */
    bool (*copy)(void *view, struct browse *browse, FILE *out);
    /* Stores the order of the rows and the selected one or, with `set`, takes them from there
     * before the first update(). Returns false if that is not an order of the view. */
    bool (*order)(void *view, struct table_order *order, bool set);
    /* Returns as one line what the user has chosen beside the order, "" for nothing, and chooses it
     * again in the next run. NULL: there is no such thing. */
    const char *(*chosen)(const void *view);
    void (*choose)(void *view, struct browse *browse, const char *text);
    /* Writes all rows that the view shows, for `:w`. Returns false if it shows none now. */
    bool (*table)(void *view, struct browse *browse, FILE *out, enum table_format format);
};

extern const struct view_ops overview_view, timeline_view, memory_view, tree_view, functions_view,
    types_view, leaks_view, allocations_view, sizes_view, rss_view, retained_view, lifetimes_view,
    threads_view, arenas_view, source_view, diff_view, graphs_view, sql_view, detail_view;
