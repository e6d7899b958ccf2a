/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out if this user meets the browser for the first time. */
#ifndef MPROF_TUI_BROWSER_FIRST_RUN_H
#define MPROF_TUI_BROWSER_FIRST_RUN_H

#include <stdbool.h>

/*
 * Returns true if this is the first run: there is no file $XDG_STATE_HOME/mprof/browsed
 * (~/.local/state/mprof/browsed). Makes it. Without a folder that can be written, no run is the
 * first one.
 */
bool first_run(void);

#endif
