/* SPDX-License-Identifier: BSD-2-Clause */
/* A file with the text that was copied last: not every terminal lets programs fill its clipboard.
 */
#ifndef MPROF_TUI_BROWSER_COPIED_FILE_H
#define MPROF_TUI_BROWSER_COPIED_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the text to $XDG_STATE_HOME/mprof/copied.txt (~/.local/state/mprof/copied.txt), in place
 * of what was there. Stores the path as a message shows it, with ~ for the home folder. Returns
 * false if there is no such folder, or it cannot be written.
 */
bool copied_file_write(const char *text, char *path, size_t size);

#endif
