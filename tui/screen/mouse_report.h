/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what a terminal reports of the mouse, in the form that xterm calls SGR (mode 1006):
 * "ESC [ < BUTTON ; COLUMN ; ROW M", with "m" at the end when a button goes up.
 */
#ifndef MPROF_TUI_SCREEN_MOUSE_REPORT_H
#define MPROF_TUI_SCREEN_MOUSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/screen/input.h"

/* The longest report, without "ESC [ <". */
#define MOUSE_REPORT_MOST 32
/* Two clicks on one cell within so many ms are a double click. */
#define MOUSE_DOUBLE_MS 400

struct mouse_state {
    int x, y; /* the cell of the last event */
    bool held;
    int64_t clicked_ms; /* the last click, 0: none that a second one could follow */
};

/*
 * Makes an event of a report without "ESC [ <", which came at `now_ms`. Returns false if it is not
 * a report, or tells the browser nothing: other buttons, and a move inside one cell.
 */
bool mouse_report_read(struct mouse_state *mouse, const char *report, int64_t now_ms,
                       struct event *event);

#endif
