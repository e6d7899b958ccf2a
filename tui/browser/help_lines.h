/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of the help for a view, from the tables of keys and commands. */
#ifndef MPROF_TUI_BROWSER_HELP_LINES_H
#define MPROF_TUI_BROWSER_HELP_LINES_H

#include <stddef.h>

#include "tui/keys/view_number.h"

enum help_line_kind {
    HELP_HEADING,
    HELP_TEXT,   /* from the left margin */
    HELP_KEYS,   /* `left`: keys or a command; `text`: what they do, or the rest of that */
    HELP_FILTER, /* `left`: a filter; `text`: what it means */
};

/* The heading of the user's own keys; it is missing if there are none. */
#define HELP_USERS_KEYS "Your keys, from tui.conf"

struct help_line {
    enum help_line_kind kind;
    char left[80];
    char text[240];
};

/*
 * Makes the lines for columns of this width, of which the keys take `keys`; longer explanations go
 * on in the next line. The caller frees them. Returns NULL if memory is exhausted.
 */
struct help_line *help_lines(enum view_number view, int width, int keys, size_t *count);

#endif
