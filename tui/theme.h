/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What things look like: roles and the categories of a colouring, as styles. Views name a role,
 * never a colour number, so that a category looks the same in every view of a session.
 */
#ifndef MPROF_TUI_THEME_H
#define MPROF_TUI_THEME_H

#include "tui/cells.h"

#include <stddef.h>

enum theme_role {
    THEME_PLAIN,
    THEME_TITLE,      /* the title line */
    THEME_TAB,        /* a view that could be chosen */
    THEME_TAB_ACTIVE, /* the view that is */
    THEME_HEADING,
    THEME_FAINT, /* units, axes, what matters less */
    THEME_STRONG,
    THEME_FILTER, /* the filter line */
    THEME_ERROR,
    THEME_WARNING,
    THEME_GOOD,
    THEME_CURSOR,   /* the selected row or cell */
    THEME_SELECTED, /* selected where another part has the keys */
    THEME_KEY,      /* a key in footer and help */
    THEME_MATCH,
    THEME_TRANSIENT, /* what was live inside a slot only */
    THEME_FILTERED,  /* memory in use that the filter leaves out */
    THEME_ROLES
};

struct cell_style theme_style(enum theme_role role);

/*
 * Style of a category by its position in the legend, with its colour as foreground. `fixed` is
 * a colour that a filter asked for, -1 for none; `rest` is the position of the last one, grey.
 */
struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed);
/* Glyph that tells categories apart without colour. */
uint32_t theme_pattern(size_t position);

#endif
