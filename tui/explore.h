/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state that all views share: the session, the active filter and its selection, the colouring,
 * the current moment and function. Views also use it to ask the browser for something (another
 * filter, another view, a message).
 */
#ifndef MPROF_TUI_EXPLORE_H
#define MPROF_TUI_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "tui/category_colors.h"
#include "tui/cells.h"

enum view_number {
    VIEW_OVERVIEW,
    VIEW_TIMELINE,
    VIEW_GRID,
    VIEW_FUNCTIONS,
    VIEWS,
    VIEW_SAME = VIEWS, /* as a wish: stay */
};

struct exploration {
    struct session *session;
    struct selection *selection;
    char *filter;        /* its text; "" selects everything */
    unsigned generation; /* changes with each change of filter, colouring or session */
    unsigned renewals;   /* changes with each newer state of the session */
    enum session_color_by color_by;
    struct session_legend legend; /* of `color_by` */
    struct category_colors colors;
    uint8_t slots[SESSION_COLORS]; /* colour of each position of the legend */
    uint64_t moment_ns;            /* timeline's cursor, the grid's time */
    uint32_t function;             /* the last one that the user selected */
    bool has_function;
    const char *about; /* "~" before numbers that are estimates, otherwise "" */

    /* The wishes of a view; the browser fulfils them after update(). */
    char *wish_filter; /* owned; NULL: none */
    enum view_number wish_view;
    char message[320];
    bool message_is_error;
};

/* Takes an open session, which must outlive it. Runs no filter. */
void exploration_init(struct exploration *exploration, struct session *session);
void exploration_close(struct exploration *exploration);

/* Runs a filter. Returns false with `error` set; nothing has changed then. */
bool exploration_filter(struct exploration *exploration, const char *text,
                        struct session_error *error);
/*
 * Takes a newer state of the session. Filter, moment and function stay. Returns the old session,
 * for the caller to close, or NULL with nothing changed if the filter does not run.
 */
struct session *exploration_renew(struct exploration *exploration, struct session *newer,
                                  struct session_error *error);
/* Chooses the colouring and loads its legend. */
void exploration_color_by(struct exploration *exploration, enum session_color_by color_by);
/* Returns the name of a colouring, as in `color by NAME`; "filter's own" for SESSION_COLOR_NONE. */
const char *color_by_name(enum session_color_by color_by);
/* Finds the colouring with a name. Returns false if there is none. */
bool color_by_from_name(const char *name, enum session_color_by *color_by);
/* Returns the style of a legend position. */
struct cell_style exploration_category(const struct exploration *exploration,
                                       const struct grid *grid, size_t position);
/* Returns its glyph on a terminal without colours. */
uint32_t exploration_pattern(const struct exploration *exploration, size_t position);

/* Wishes for the active filter with one more step; `step` is the text after the bar. */
void exploration_narrow(struct exploration *exploration, const char *step);
/* Wishes for a filter that does not build on the active one. */
void exploration_replace(struct exploration *exploration, const char *filter);
void exploration_say(struct exploration *exploration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void exploration_complain(struct exploration *exploration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes `name` as a string of the filter language, "" if `size` is too small. */
char *filter_quote(char *out, size_t size, const char *name);

#endif
