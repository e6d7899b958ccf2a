/* SPDX-License-Identifier: BSD-2-Clause */
/* The events that come from the user or from a script. */
#ifndef MPROF_TUI_SCREEN_INPUT_H
#define MPROF_TUI_SCREEN_INPUT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
