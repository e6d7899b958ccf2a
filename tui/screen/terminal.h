/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal: cells out, events in. Only one can be open.
 *
 * It restores the terminal's modes and screen on terminal_close(), when a signal ends the program,
 * and around Ctrl-Z. */
#pragma once

#include <stdbool.h>

#include "tui/screen/cells.h"
#include "tui/screen/input.h"

struct terminal;

/* Returns NULL with one line for the user in `error` (256 bytes) if standard input or output is not
 * a terminal, or its type is unknown. `ascii` asks for ASCII; so does a locale without UTF-8.
 *
 * A terminal takes true colours if its kind in TERM has them (xterm-direct), or if COLORTERM is
 * "truecolor" or "24bit" and terminfo knows such a relative of its kind. Then the colours are those
 * of the theme, whatever the terminal's own 256 look like. */
struct terminal *terminal_open(bool ascii, char *error);
void terminal_close(struct terminal *terminal);
int terminal_width(const struct terminal *terminal);
int terminal_height(const struct terminal *terminal);
int terminal_colors(const struct terminal *terminal); /* 256, 16 or 0 */
bool terminal_ascii(const struct terminal *terminal);
/* Shows a grid. Cuts cells that do not fit the terminal. */
void terminal_show(struct terminal *terminal, const struct grid *grid);
/* Puts a text into the terminal's clipboard, if the terminal lets programs do that, which it does
 * not tell. Returns false if the text is too long (input.h). */
bool terminal_copy(struct terminal *terminal, const char *text);
/* Makes the next terminal_show() draw every cell again. */
void terminal_redraw(struct terminal *terminal);
/* Gives the terminal to another program, and takes it back. */
void terminal_pause(struct terminal *terminal);
void terminal_resume(struct terminal *terminal);
/* Returns true if an event is waiting. */
bool terminal_pending(const struct terminal *terminal);
/* Waits for an event. If `milliseconds` is not negative, it waits at most that long and then gives
 * EVENT_TICK. It also gives EVENT_TICK if `counter`, an eventfd, becomes readable, which it reads
 * then (-1: there is none). Returns false if there will be no more events (the terminal is
 * gone). */
bool terminal_wait(struct terminal *terminal, int milliseconds, int counter, struct event *event);
