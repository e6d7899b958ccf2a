/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds oddities of a session, as lines for the overview. */
#ifndef MPROF_TUI_VIEW_OVERVIEW_FINDINGS_H
#define MPROF_TUI_VIEW_OVERVIEW_FINDINGS_H

#include <stddef.h>

#include "tui/explore/explore.h"

#define FINDINGS_MOST 8

enum finding_gravity {
    FINDING_GOOD, /* looked for, and not found */
    FINDING_ODD,
    FINDING_BAD, /* the session does not show the whole truth */
};

struct finding {
    enum finding_gravity gravity;
    char text[256];
    char filter[64]; /* step that selects the blocks that it counts, "" for none */
    bool leaked;     /* it counts only those of the set `leaked` */
    const char *sql; /* gives the rows that it counts, if it counts other things than blocks */
    uint64_t kept;   /* only so many of these, the first ones, are in the session; 0: all */
    enum view_number view; /* the view that shows it best */
};

/*
 * Writes up to `capacity` findings about the selection, the gravest first. Returns their number, at
 * least one unless the user has `filtered` them. `rows` are the selection's functions;
 * `unread` tells why they could not be read, NULL: they are all there.
 */
size_t findings_collect(struct session *session, struct selection *selection, bool filtered,
                        const struct session_function_row *rows, size_t row_count,
                        const struct session_error *unread, struct finding *findings,
                        size_t capacity);

#endif
