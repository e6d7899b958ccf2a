/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder for what a program leaves behind: $XDG_STATE_HOME/mprof, or ~/.local/state/mprof. */
#ifndef MPROF_TUI_BROWSER_STATE_PATH_H
#define MPROF_TUI_BROWSER_STATE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of a file of this folder. Returns false if the environment names no folder. */
bool state_path(char *out, size_t size, const char *name);
/* Makes the folders that the path lies in, for the user alone; the home folder is not made. */
void state_path_make(const char *path);

#endif
