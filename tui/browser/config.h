/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's configuration of the browser: $XDG_CONFIG_HOME/mprof/tui.conf, or
 * ~/.config/mprof/tui.conf. It is text. Each line is empty, a comment that begins with '#', or one
 * of
 *
 *   theme NAME               the theme, unless --theme names another
 *   hide WORD                a namespace, class, module or function that is not the user's own code
 *   key KEY ACTION [VIEW]    binds a key, in all views or in one; the action none unbinds it
 *
 * docs/browser.md describes it for users.
 */
#ifndef MPROF_TUI_BROWSER_CONFIG_H
#define MPROF_TUI_BROWSER_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#define CONFIG_ERROR_SIZE 512

/*
 * Reads the file and puts it in force: theme, hidden words for the sessions that are opened later,
 * keys. `*themed` becomes true if it names a theme. A file that is not there is no error. Returns
 * false with one line in `error` (file, line, what was expected) about the first line that is
 * wrong; all other lines hold.
 */
bool config_load(bool *themed, char error[CONFIG_ERROR_SIZE]);

/* Writes a configuration that changes nothing: each line with what holds without it, as a comment.
 */
void config_print(FILE *out);

#endif
