/* SPDX-License-Identifier: BSD-2-Clause */
/* A selection stacked by any field, or by its groups: what a timeline draws one above the other.
 *
 * The rules of session.h hold: selection_stacking() blocks. */
#pragma once

#include "session/session.h"
#include "session/words.h"

/* The word that stacks by the groups of the selection's own filter graph. */
#define SESSION_STACKING_GROUPS "groups"

/* The sign between the keys of several fields in the label of a layer. */
#define SESSION_STACKING_BETWEEN " \u00b7 "

/* The arguments with which selection_timeline(), selection_births() and selection_legend() give
 * the layers. The legend names the largest ones, as that of a colouring does. */
struct session_stacking {
    struct selection *selection; /* belongs to the one that was asked */
    enum session_color_by by;
};

/* Stacks a selection. `by` has the fields as a `join` writes them ("caller", "type, thread", "frame
 * 2"), or SESSION_STACKING_GROUPS. A field that is also a colouring gives that colouring: sizes and
 * lifetimes then have classes. Anything else takes two or three passes over the rows and a byte for
 * each row of the session; the selection keeps the last one. Returns false with `error` set: no
 * such field, no groups. */
bool selection_stacking(struct selection *selection, const char *by,
                        struct session_stacking *stacking, struct session_error *error);

/* Returns true if selection_stacking() would know what `by` means, for a selection of `filter`.
 * Returns false with `error` set if not. */
bool session_stacking_check(const struct session *session, const char *filter, const char *by,
                            struct session_error *error);

/* Visits the single fields that selection_stacking() takes, but stack frames by number. */
void session_stacking_fields(session_visit_word *visit, void *context);
