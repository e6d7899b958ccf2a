/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that most views with a table share. */
#ifndef MPROF_TUI_VIEW_COMMON_LIST_H
#define MPROF_TUI_VIEW_COMMON_LIST_H

#include <stdbool.h>

#include "tui/explore/explore.h"
#include "tui/widget/alike.h"
#include "tui/widget/table.h"

/* Does table_update(), and says in the footer what it did. */
enum table_answer list_update(struct exploration *exploration, struct table *table,
                              const struct table_source *source, const struct view_input *input,
                              const struct table_place *place);
/* Returns the name of a function, with what tells it from another one of this name. */
struct alike_name list_function_name(const struct session *session, uint32_t function);
/* Writes this to a cell. */
void list_function_cell(const struct session *session, uint32_t function, struct table_cell *cell);
/* Returns what a filter by the name of a function takes, for the labels of view_offer: "this
 * function", or "each function of this name" if others have it, too. */
const char *list_named(const struct session *session, uint32_t function);
/* The names of a legend for alike_rewrite(): the context is a struct legend_names. */
struct legend_names {
    const struct session *session;
    const struct session_legend *legend;
};
struct alike_name list_legend_name(void *context, size_t entry);
/*
 * Draws the words that take the place of rows: how far the engine is if they are not `known` yet,
 * otherwise why there are none.
 */
void list_render_empty(const struct exploration *exploration, const struct area *area, int y,
                       bool known);

#endif
