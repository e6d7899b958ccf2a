/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a row of a tree: its marks, then one function, or two that call each other. */
#ifndef MPROF_TUI_WIDGET_BRANCH_H
#define MPROF_TUI_WIDGET_BRANCH_H

#include <stdbool.h>

#include "tui/screen/cells.h"
#include "tui/widget/alike.h"

/*
 * Writes the text of a row into exactly `width` columns. The text before the name stays: a level,
 * spaces, the marks ▾ ▸ →. So does the text after it: ↺, "⇄ 3 more". The names are cut as
 * area_name() cuts them, both sides of a ⇄ alike.
 */
void branch_render(const struct area *area, int x, int y, int width, struct cell_style style,
                   const char *text);

/* Leaves of a row's field the part of its name. Returns false if there is no room for it. */
bool branch_field(const char *text, struct alike_field *field);

#endif
