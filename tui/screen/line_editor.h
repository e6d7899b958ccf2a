/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits one line of text: keys in, cells out. Positions count code points from 0. The filter,
 * searches, commands and addresses each use one, with its own history. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/cells.h"

#define LINE_MOST 200000 /* code points: a filter may name ten thousand allocations */

struct line_editor;

enum line_result {
    LINE_IGNORED, /* not a key for the editor */
    LINE_MOVED,   /* the cursor moved */
    LINE_CHANGED, /* the text changed */
    LINE_DONE,    /* Enter: take the text */
    LINE_CANCELLED,
};

/* Returns NULL if memory is exhausted. */
struct line_editor *line_editor_new(void);
void line_editor_free(struct line_editor *editor);

/* Replaces the text (cut at LINE_MOST) and puts the cursor at its end. */
void line_editor_set(struct line_editor *editor, const char *text);
/* Returns the text as UTF-8, valid until the next key. */
const char *line_editor_text(struct line_editor *editor);
/* Does the same for the text before the cursor. */
const char *line_editor_before(struct line_editor *editor);
/* Replaces the last `count` code points before the cursor. Returns the number of new ones. */
int line_editor_replace(struct line_editor *editor, int count, const char *text);
enum line_result line_editor_key(struct line_editor *editor, uint32_t key);
/* Puts the cursor at column `x` of a row of `width` columns that shows the text. */
void line_editor_click(struct line_editor *editor, int width, int x);
/* Remembers a text for Up and Down, unless it is the same as the last one. */
void line_editor_remember(struct line_editor *editor, const char *text);

/* Draws the text in one row, scrolled so that the cursor is visible, with the cursor reversed. Code
 * points from `error` on (-1: none) have the error style. Returns the column of code point `error`,
 * -1 if it is not visible. */
int line_editor_render(const struct line_editor *editor, const struct area *area, int error,
                       struct cell_style style, struct cell_style error_style);

/* Runs the user's editor: $VISUAL, otherwise $EDITOR, otherwise vi. */

#define EDITOR_WORDS 16

/* Splits the words of `editor` at blanks and adds the line ("+12", "--goto" for those that want it)
 * and the file. `words` holds EDITOR_WORDS pointers, into `text` of `size` bytes; the last one is
 * NULL. No shell sees them. Returns false if they do not fit. */
bool editor_words(const char *editor, const char *path, uint32_t line, char **words, char *text,
                  size_t size);

/* Runs the editor and waits for its end. Returns false with one line in `error`. The terminal must
 * be free for it. */
bool editor_run(const char *path, uint32_t line, char *error, size_t error_size);
