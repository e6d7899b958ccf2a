/* SPDX-License-Identifier: BSD-2-Clause */
/* A view that is a list, with lines above it and maybe a pane about its selected row, which is a
 * list, too. A view of this kind describes its lists, its lines and what is its own; the rest is
 * here: loading, focus, mouse, search, order, drawing, `l`, `w`, `x`, `y` and `:w`. */
#pragma once

#include "tui/view/common/list.h"
#include "tui/view/view.h"

/* The functions get the state of the view, and its selected row. NULL: there is nothing to do. */
struct table_view_kind {
    size_t size; /* of the state, which begins with a struct table_view */
    const struct list_kind *list;
    const struct list_kind *side; /* in the pane; NULL: there is none */
    int lines, side_lines;        /* above the list, and above that in the pane */
    int foot_lines;               /* below the list, if there is no pane */
    /* Draws these lines. The rows may not be there yet (view->list.data NULL). */
    void (*head)(const void *view, const struct browse *browse, const struct area *area);
    void (*side_head)(const void *view, const void *row, const struct browse *browse,
                      const struct area *area);
    void (*foot)(const void *view, const void *row, const struct browse *browse,
                 const struct area *area);
    /* Returns the words in place of no rows, NULL for those of all lists. */
    const char *(*none)(const void *view);
    /* Writes the title of the pane. */
    void (*title)(const void *view, const void *row, char *out, size_t size);
    /* Returns the words in place of the list, one line or several, NULL to show it. */
    const char *(*instead)(const void *view);
    /* The rows are about to be asked for, and have been. */
    void (*prepare)(void *view, struct browse *browse);
    void (*loaded)(void *view, struct browse *browse);
    /* Returns the list that the pane shows; without it that is `side`. */
    const struct list_kind *(*choose)(void *view, const void *row);
    /* The pane shows another thing: selects the row at which it begins. */
    void (*begin)(void *view);
    /* Does an action of the view's own, or returns false. It gets ACTION_REFRESH, too. */
    bool (*act)(void *view, struct browse *browse, const struct view_input *input);
    /* The rows of the pane have been asked for. */
    void (*side_loaded)(void *view, struct browse *browse);
    /* Offers more than the steps of the selected rows. */
    size_t (*offers)(void *view, struct browse *browse, struct view_offer *out, size_t capacity);
    /* Writes more about the selected row, for `y`. */
    void (*copy)(const void *view, FILE *out);
    void (*close)(void *view, struct browse *browse);
};

struct table_view {
    const struct table_view_kind *kind;
    struct list list, side;
    bool in_side;   /* the pane has the keys */
    uint64_t begun; /* side.about of what the pane shows */
    const struct session *session;
    const struct browse *browse;
};

/* Makes the state of a view. NULL if memory is exhausted. */
void *table_view_new(const struct table_view_kind *kind);

/* Functions of struct view_ops. */
void table_view_destroy(void *view, struct browse *browse);
bool table_view_update(void *view, struct browse *browse, const struct view_input *input);
void table_view_render(const void *view, const struct browse *browse, const struct area *area);
size_t table_view_offers(void *view, struct browse *browse, struct view_offer *out,
                         size_t capacity);
bool table_view_copy(void *view, struct browse *browse, FILE *out);
bool table_view_order(void *view, struct table_order *order, bool set);
bool table_view_write(void *view, struct browse *browse, FILE *out, enum table_format format);
#define TABLE_VIEW_OPS                                                                             \
    .destroy = table_view_destroy, .update = table_view_update, .render = table_view_render,       \
    .offers = table_view_offers, .copy = table_view_copy, .order = table_view_order,               \
    .table = table_view_write

/* ---- breakdowns ------------------------------------------------------------------------- */

/* The blocks of the selected row by one field: lists for panes. */
struct breakdown_row {
    const char *name; /* NULL: the field is null. As long as the session */
    uint64_t allocations, bytes, live_bytes, at_peak_bytes;
};
#define BREAKDOWN_MOST 1000 /* rows, the largest */
extern const struct list_kind breakdown_by_type, breakdown_by_user, breakdown_by_owner;
/* Returns how many rows there are, with those that are left out. */
size_t breakdown_count(const struct list *list);
