/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of users and scripts, and sequences of xterm that terminals take and give. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- events ------------------------------------------------------------------------------ */

/* The events that come from the user or from a script. */

/* A key is a Unicode code point, or one of these values above Unicode. */
enum keycode {
    KEYCODE_ESCAPE = 27,
    KEYCODE_ENTER = '\n',
    KEYCODE_TAB = '\t',
    KEYCODE_BACKSPACE = 8,
    KEYCODE_FIRST = 0x110000,
    KEYCODE_LEFT = KEYCODE_FIRST,
    KEYCODE_RIGHT,
    KEYCODE_UP,
    KEYCODE_DOWN,
    KEYCODE_PAGE_UP,
    KEYCODE_PAGE_DOWN,
    KEYCODE_HOME,
    KEYCODE_END,
    KEYCODE_DELETE,
    KEYCODE_BACKTAB,
    KEYCODE_UNKNOWN, /* a key of the terminal without a meaning here */
    KEYCODE_F1,      /* and the next: F2 to F12 */
    KEYCODE_F12 = KEYCODE_F1 + 11,
};
/* Ctrl with a letter. */
#define KEYCODE_CONTROL(letter) ((uint32_t)(letter)&31)

enum event_kind {
    EVENT_NONE,
    EVENT_KEY,
    EVENT_CLICK,
    EVENT_DOUBLE_CLICK, /* the second click; the first came as EVENT_CLICK */
    EVENT_DRAG,         /* the mouse moved with its button held */
    EVENT_RELEASE,
    EVENT_WHEEL_UP,
    EVENT_WHEEL_DOWN,
    EVENT_RESIZE,
    EVENT_TICK, /* time has passed: a session that is being recorded may have a newer state */
};

struct event {
    enum event_kind kind;
    uint32_t key;      /* EVENT_KEY: a code point or a keycode */
    int x, y;          /* mouse: cell of the screen */
    int width, height; /* EVENT_RESIZE */
    bool more;         /* another event waits: show nothing in between */
};

/* ---- the mouse --------------------------------------------------------------------------- */

/* Reads what a terminal reports of the mouse, in the form that xterm calls SGR (mode 1006):
 * "ESC [ < BUTTON ; COLUMN ; ROW M", with "m" at the end when a button goes up. */

/* The longest report, without "ESC [ <". */
#define MOUSE_REPORT_MOST 32
/* Two clicks on one cell within so many ms are a double click. */
#define MOUSE_DOUBLE_MS 400

struct mouse_state {
    int x, y; /* the cell of the last event */
    bool held;
    int64_t clicked_ms; /* the last click, 0: none that a second one could follow */
};

/* Makes an event of a report without "ESC [ <", which came at `now_ms`. Returns false if it is not
 * a report, or tells the browser nothing: other buttons, and a move inside one cell. */
bool mouse_report_read(struct mouse_state *mouse, const char *report, int64_t now_ms,
                       struct event *event);

/* ---- the clipboard ----------------------------------------------------------------------- */

/* Text for the clipboard of the user's terminal, also over ssh. */

/* The longest text: terminals ignore what is longer. */
#define CLIPBOARD_MOST 74000

/* Writes the sequence that puts a text into the clipboard: OSC 52 of xterm's control sequences,
 * with the text in base64, so that nothing in it reaches the terminal. Returns false if the text is
 * too long; nothing is written then. */
bool clipboard_write(FILE *out, const char *text);
