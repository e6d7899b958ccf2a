/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The browser without a terminal: events in, cells out.
 *
 * browser_new(), then browser_event() for each event and browser_render() whenever the screen
 * shall be shown, until browser_finished(); then browser_free().
 */
#ifndef MPROF_TUI_BROWSER_H
#define MPROF_TUI_BROWSER_H

#include "session/session.h"
#include "tui/cells.h"
#include "tui/input.h"

#include <stdbool.h>

struct browser;

struct browser_options {
    const char *filter; /* to begin with; NULL: none */
    const char *view;   /* name of the view to begin with; NULL: the overview */
    int width, height;
};

/*
 * A browser on an open session, which it closes in the end. NULL with `error` set on a bad filter
 * (with its column), an unknown view, or where memory is short; the session is then the caller's.
 */
struct browser *browser_new(struct session *session, const struct browser_options *options,
                            struct session_error *error);
void browser_free(struct browser *browser);
/*
 * Does what the event asks for; returns when everything that it changes is loaded. After an
 * event with `more` set some of that may be missing until the next one without.
 */
void browser_event(struct browser *browser, const struct event *event);
void browser_render(const struct browser *browser, struct grid *grid);
/* After how many milliseconds without an event it wants EVENT_TICK; -1: never. */
int browser_patience(const struct browser *browser);
bool browser_finished(const struct browser *browser);
/* True once after a key that asks for the whole screen to be drawn again. */
bool browser_takes_redraw(struct browser *browser);
/* Names of the views, NULL after the last. */
const char *browser_view_name(int number);

#endif
