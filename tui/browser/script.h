/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a script in place of a user. Each line has one command, '#' begins a comment:
 *
 *   key NAME…          keys by name: key 2 Right PgDn Ctrl-U Enter
 *   burst NAME…        the same keys as if they came faster than the screen can be drawn
 *   type TEXT          each character of the rest of the line as a key
 *   click X Y          mouse; positions count from 0
 *   doubleclick X Y
 *   drag X Y           the mouse moves there with its button held
 *   release X Y
 *   wheel up|down X Y
 *   resize WxH
 *   tick               looks for a newer state of a session that is being recorded
 *   dump [NAME]        writes the screen as text
 *   styles [NAME]      writes the screen's styles, one character for each cell, and their meanings
 *
 * Each command is complete, with all data loaded, before the next one is read. A script that dumps
 * nothing dumps the screen once at its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/browser/browser.h"

/* Reads "80x24" (1 to 1000 each). Returns false for anything else. */
bool script_size(const char *text, int *width, int *height);
/* Runs `script` (named `name` in messages) and writes dumps to `out`. Returns false with one line
 * in `error` at the first command that it cannot read. */
bool script_run(FILE *script, const char *name, struct browser *browser, struct grid *grid,
                FILE *out, char *error, size_t error_size);
