/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of text that is being typed: keys in, cells out. Positions count code points from 0.
 * Used for the filter, searches, commands and addresses; each use keeps its own history.
 */
#ifndef MPROF_TUI_LINE_EDITOR_H
#define MPROF_TUI_LINE_EDITOR_H

#include "tui/cells.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_MOST 1000 /* code points */

struct line_editor;

enum line_result {
    LINE_IGNORED, /* not a key of the editor's */
    LINE_MOVED,   /* the cursor moved */
    LINE_CHANGED, /* the text changed */
    LINE_DONE,    /* Enter: take the text */
    LINE_CANCELLED,
};

/* NULL where memory is short. */
struct line_editor *line_editor_new(void);
void line_editor_free(struct line_editor *editor);

/* Replaces the text (cut at LINE_MOST) and puts the cursor at its end. */
void line_editor_set(struct line_editor *editor, const char *text);
/* The text as UTF-8; lives until the next key. */
const char *line_editor_text(struct line_editor *editor);
enum line_result line_editor_key(struct line_editor *editor, uint32_t key);
/* Puts the cursor at column `x` of a row of `width` columns that shows the text. */
void line_editor_click(struct line_editor *editor, int width, int x);
/* Remembers a text for Up and Down; the same text twice in a row once. */
void line_editor_remember(struct line_editor *editor, const char *text);

/*
 * Draws the text in one row, scrolled so that the cursor is seen, the cursor reversed, and from
 * code point `error` on (-1: none) in the error style. Returns the column of code point
 * `error`, -1 where it is not seen.
 */
int line_editor_render(const struct line_editor *editor, const struct area *area, int error,
                       struct cell_style style, struct cell_style error_style);

#endif
