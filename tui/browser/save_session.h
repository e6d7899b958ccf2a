/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes what the active filter selects as a session of its own (:w FILE.db). The engine does it
 * while the keys go on. Views that lack something wait until it is done. Esc gives it up.
 */
#ifndef MPROF_TUI_BROWSER_SAVE_SESSION_H
#define MPROF_TUI_BROWSER_SAVE_SESSION_H

#include <stdbool.h>

struct browser;

/* Begins to write the file, after a message if it cannot. */
void save_session(struct browser *browser, const char *path);
/* Says how far it is, or that it has ended. */
void save_session_look(struct browser *browser);
/* Gives it up. Returns false if none is being written. */
bool save_session_give_up(struct browser *browser);

#endif
