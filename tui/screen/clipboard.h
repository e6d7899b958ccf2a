/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for the clipboard of the user's terminal, also over ssh. */
#ifndef MPROF_TUI_SCREEN_CLIPBOARD_H
#define MPROF_TUI_SCREEN_CLIPBOARD_H

#include <stdbool.h>
#include <stdio.h>

/* The longest text: terminals ignore what is longer. */
#define CLIPBOARD_MOST 74000

/*
 * Writes the sequence that puts a text into the clipboard: OSC 52 of xterm's control sequences,
 * with the text in base64, so that nothing in it reaches the terminal. Returns false if the text is
 * too long; nothing is written then.
 */
bool clipboard_write(FILE *out, const char *text);

#endif
