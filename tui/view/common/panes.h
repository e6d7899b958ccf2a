/* SPDX-License-Identifier: BSD-2-Clause */
/* The places of a view's parts: a line of totals, the main table, and a pane about its selected row
 * beside it or below. */
#ifndef MPROF_TUI_VIEW_COMMON_PANES_H
#define MPROF_TUI_VIEW_COMMON_PANES_H

#include <stdbool.h>

#include "tui/widget/table.h"

struct panes {
    struct table_place main;
    struct table_place side; /* with a line for its title; height 0: there is no room for it */
    bool beside;
};

/* Lays out an area. The first `lines` rows are the view's own. If the main table has few rows, the
 * pane below it gets what it does not need. */
struct panes panes_lay_out(int width, int height, int lines, size_t rows);
/* Returns the place of the table in the side pane: without the line of its title. */
struct table_place panes_side_table(const struct panes *panes);
struct area panes_area(const struct area *area, const struct table_place *place);
/* Draws the line that parts the pane, and its title. */
void panes_render_title(const struct panes *panes, const struct area *area, const char *title,
                        bool focused);

#endif
