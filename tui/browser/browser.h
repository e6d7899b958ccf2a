/* SPDX-License-Identifier: BSD-2-Clause */
/* The browser without a terminal: events in, cells out.
 *
 * Call browser_new(), then browser_event() for each event and browser_render() to show the screen,
 * until browser_finished(); then browser_free(). */
#pragma once

#include <stdbool.h>

#include "session/session.h"
#include "tui/screen/cells.h"
#include "tui/screen/input.h"

struct browser;
struct kept_state;

struct browser_options {
    const char *filter;             /* the first filter, or NULL */
    const char *view;               /* name of the first view; NULL: the overview */
    const struct kept_state *state; /* of the last run, for what is not named here, or NULL */
    const char *other; /* path of the session to compare with, or NULL. Outlives the browser */
    int width, height;
    bool hint;   /* begin with a line that says which keys answer which question */
    int wait_ms; /* events wait so long for the engine's answers; -1: until they have come */
};

/* Makes a browser on an open session, which it closes at its end. Returns NULL with `error` set on
 * a bad filter (with its column), an unknown view, or if memory is exhausted. The session then
 * still belongs to the caller. */
struct browser *browser_new(struct session *session, const struct browser_options *options,
                            struct session_error *error);
void browser_free(struct browser *browser);
/* Handles an event. Waits for data at most as long as the options say; later EVENT_TICKs bring the
 * rest. After an event with `more` set some may be missing until the next event without it. */
void browser_event(struct browser *browser, const struct event *event);
void browser_render(const struct browser *browser, struct grid *grid);
/* Returns the milliseconds without an event after which it wants EVENT_TICK; -1: never. */
int browser_patience(const struct browser *browser);
bool browser_finished(const struct browser *browser);
/* Returns once the file to edit, for free(), and stores the line, or NULL. */
char *browser_takes_edit(struct browser *browser, uint32_t *line);
/* Say something in the footer: as an error, or not. */
void browser_complain(struct browser *browser, const char *message);
void browser_say(struct browser *browser, const char *message);
/* Returns true once after a key that asks to draw the whole screen again. */
bool browser_takes_redraw(struct browser *browser);
/* Returns the text that the user has copied since the last call, or NULL. Free it. */
char *browser_takes_copy(struct browser *browser);
/* Returns the name of the n-th view that exists, NULL after the last. */
const char *browser_view_name(int n);
