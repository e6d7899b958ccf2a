/* SPDX-License-Identifier: BSD-2-Clause */
/* The events that come from the user or from a script. */
#ifndef MPROF_TUI_INPUT_H
#define MPROF_TUI_INPUT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_NONE,
    EVENT_KEY,
    EVENT_CLICK,
    EVENT_WHEEL_UP,
    EVENT_WHEEL_DOWN,
    EVENT_RESIZE,
    EVENT_TICK, /* time has passed: a session that is being recorded may have a newer state */
};

struct event {
    enum event_kind kind;
    uint32_t key;      /* EVENT_KEY: see tui/keys.h */
    int x, y;          /* mouse: cell of the screen */
    int width, height; /* EVENT_RESIZE */
    bool more;         /* another event waits: show nothing in between */
};

#endif
