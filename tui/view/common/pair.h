/* SPDX-License-Identifier: BSD-2-Clause */
/* A table with a pane beside or below it that has a table, too: focus, mouse, and who gets a key.
 */
#ifndef MPROF_TUI_VIEW_COMMON_PAIR_H
#define MPROF_TUI_VIEW_COMMON_PAIR_H

#include "tui/explore/explore.h"
#include "tui/view/common/panes.h"

struct pair {
    struct table main, side;
    bool in_side; /* the side has the keys */
};

/* The two tables now, and their places. */
struct pair_tables {
    struct table_source main, side;
    struct panes panes;
    int side_lines; /* of the pane, between its title and its table */
};

enum pair_answer {
    PAIR_IGNORED,
    PAIR_USED,
    PAIR_MAIN_SORTED, /* the view sorts these rows now, and calls pair_settle() */
    PAIR_SIDE_SORTED,
    PAIR_MAIN_FOLLOW, /* Enter or a double click in the table */
    PAIR_SIDE_FOLLOW,
};

/* Does an action on the table that has the keys. Tab and Esc change between them. */
enum pair_answer pair_update(struct pair *pair, struct exploration *exploration,
                             const struct pair_tables *tables, const struct view_input *input);
void pair_settle(struct pair *pair, const struct pair_tables *tables);
void pair_focus(struct pair *pair, const struct pair_tables *tables, bool side);
/* Returns the part of a view's area for the lines above the side's table. */
struct area pair_side_lines(const struct pair_tables *tables, const struct area *area);
/* Draws both tables and the title of the side. A side without rows stays empty. */
void pair_render(const struct pair *pair, const struct pair_tables *tables, const struct area *area,
                 const char *title);

#endif
