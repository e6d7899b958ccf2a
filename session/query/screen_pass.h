/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the rows of a selection finds all that a screen shows of it: the sums by stack, the
 * legend, the timeline of the whole session, and the first pass of the peak. Each chunk is read
 * once.
 *
 * A screen asks for these one after another. The first question makes the pass, for the timeline
 * that was asked for last: a new selection is shown by the same screen.
 */
#ifndef MPROF_SESSION_QUERY_SCREEN_PASS_H
#define MPROF_SESSION_QUERY_SCREEN_PASS_H

#include "session/query/selection_state.h"

/*
 * Makes the pass if it can tell the timeline and has not been made yet: a timeline of the whole
 * session, of a whole recording on one machine, whose peak is not known. `stacks`: with the sums by
 * stack, which the legend may need anyway. Returns false with `error` set.
 */
bool screen_pass(struct selection *selection, const struct session_timeline *timeline, bool stacks,
                 struct session_error *error);
/* Does so with the timeline that was asked for last and the sums by stack, if there was one. */
bool screen_pass_expected(struct selection *selection, struct session_error *error);

/* Returns true if selection->slots are those of the timeline. */
bool screen_pass_knows(const struct selection *selection, const struct session_timeline *timeline);

#endif
