/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look of the screen: roles and the categories of a colouring, as styles. Views name a role,
 * never a colour number, so a category looks the same in every view of a session.
 */
#ifndef MPROF_TUI_THEME_H
#define MPROF_TUI_THEME_H

#include <stddef.h>

#include "tui/screen/cells.h"

enum theme_role {
    THEME_PLAIN,
    THEME_TITLE,      /* the title line */
    THEME_TAB,        /* the name of another view */
    THEME_TAB_ACTIVE, /* the name of the current view */
    THEME_HEADING,
    THEME_FAINT, /* units, axes, less important text */
    THEME_STRONG,
    THEME_FILTER, /* the filter line */
    THEME_ERROR,
    THEME_WARNING,
    THEME_GOOD,
    THEME_CURSOR,   /* the selected row or cell */
    THEME_SELECTED, /* selected, but keys go to another part */
    THEME_KEY,      /* a key in footer and help */
    THEME_MATCH,
    THEME_TRANSIENT, /* bytes that were live only inside a slot */
    THEME_FILTERED,  /* memory in use that the filter does not select */
    THEME_SHARE,     /* a bar behind a number */
    THEME_ROLES
};

struct cell_style theme_style(enum theme_role role);

/*
 * Returns the style of a category by its position in the legend, with its colour as foreground.
 * `fixed` is the colour that a filter gave it, -1: none. `rest` is the position of the last
 * category, which is grey.
 */
struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed);
/* Returns a glyph that tells categories apart without colours. */
uint32_t theme_pattern(size_t position);

#endif
