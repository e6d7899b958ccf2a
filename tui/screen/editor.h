/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the user's editor: $VISUAL, otherwise $EDITOR, otherwise vi. */
#ifndef MPROF_TUI_SCREEN_EDITOR_H
#define MPROF_TUI_SCREEN_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDITOR_WORDS 16

/*
 * Splits the words of `editor` at blanks and adds the line ("+12", "--goto" for those that want it)
 * and the file. `words` holds EDITOR_WORDS pointers, into `text` of `size` bytes; the last one is
 * NULL. No shell sees them. Returns false if they do not fit.
 */
bool editor_words(const char *editor, const char *path, uint32_t line, char **words, char *text,
                  size_t size);

/* Runs the editor and waits for its end. Returns false with one line in `error`. The terminal must
 * be free for it. */
bool editor_run(const char *path, uint32_t line, char *error, size_t error_size);

#endif
