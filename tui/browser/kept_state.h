/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the state of a session's views from one run to the next: view, filter, colouring, moment,
 * range, selected allocation, the choice of each view that has one (view_ops.chosen), and the order
 * and selected row of each list. It lies in the user's folder, in a file of text that is named
 * after the session's identity: a copy of a session, and one that is ingested again, go on where
 * the first one was left.
 *
 * Call kept_state_read() before browser_new(), which gets it in its options, and kept_state_write()
 * at the end.
 */
#ifndef MPROF_TUI_BROWSER_KEPT_STATE_H
#define MPROF_TUI_BROWSER_KEPT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "tui/keys/view_number.h"
#include "tui/widget/table.h"

struct browser;

struct kept_state {
    bool found;
    char *filter;     /* parses in the session, or NULL */
    const char *view; /* a view's name, or NULL */
    enum session_color_by color_by;
    bool has_moment, has_range;
    uint64_t moment_ns, from_ns, to_ns;
    uint64_t allocation; /* 0: none */
    struct {
        bool known;
        struct table_order order;
        char *choice; /* or NULL */
    } lists[VIEWS];
};

#define KEPT_STATE_NOTE 256

/*
 * Reads the state. Without a file `found` stays false. A file that is damaged, or of another
 * version, gives no state and one line in `note`; so does a filter that does not parse any more,
 * and the rest counts. kept_state_clear() it.
 */
void kept_state_read(struct session *session, struct kept_state *state, char note[KEPT_STATE_NOTE]);
void kept_state_clear(struct kept_state *state);
/* Puts all but view and filter in force in a browser that has shown nothing so far. */
void kept_state_apply(const struct kept_state *state, struct browser *browser);
/* Writes the browser's state. Returns false with one line in `note` if that is impossible. */
bool kept_state_write(const struct browser *browser, char note[KEPT_STATE_NOTE]);

#endif
