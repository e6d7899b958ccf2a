/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal: cells out, events in. One at a time.
 *
 * Restores the terminal's modes and screen on terminal_close(), when a signal ends the program,
 * and around Ctrl-Z.
 */
#ifndef MPROF_TUI_TERMINAL_H
#define MPROF_TUI_TERMINAL_H

#include "tui/cells.h"
#include "tui/input.h"

#include <stdbool.h>

struct terminal;

/*
 * NULL with one line for a person in `error` (256 bytes) where standard input or output is no
 * terminal, or its kind is unknown. `ascii` asks for ASCII; so does a locale without UTF-8.
 * NO_COLOR in the environment, not empty, asks for no colour.
 */
struct terminal *terminal_open(bool ascii, char *error);
void terminal_close(struct terminal *terminal);
int terminal_width(const struct terminal *terminal);
int terminal_height(const struct terminal *terminal);
int terminal_colors(const struct terminal *terminal); /* 256, 16 or 0 */
bool terminal_ascii(const struct terminal *terminal);
/* Shows a grid of the terminal's size (what does not fit is cut). */
void terminal_show(struct terminal *terminal, const struct grid *grid);
/* Forgets what the terminal shows, so that all of it is drawn again. */
void terminal_redraw(struct terminal *terminal);
/* True where an event waits already. */
bool terminal_pending(const struct terminal *terminal);
/*
 * Waits for an event; where `milliseconds` is not negative, at most so long, and then it is
 * EVENT_TICK. False when there will be none any more (the terminal is gone).
 */
bool terminal_wait(struct terminal *terminal, int milliseconds, struct event *event);

#endif
