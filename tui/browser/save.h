/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what the current view shows to a file. */
#ifndef MPROF_TUI_BROWSER_SAVE_H
#define MPROF_TUI_BROWSER_SAVE_H

#include <stdbool.h>

struct browser;

/*
 * Writes the rows of the current view (PATH.csv, PATH.json) or the screen (PATH.txt, PATH.svg). A
 * file that exists is replaced only with `replace`, and only a regular one; it gets its name when
 * it is whole. Says in the footer what became of it.
 */
void save_view(struct browser *browser, const char *path, bool replace);

#endif
