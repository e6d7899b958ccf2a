/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The moment at which memory is most fragmented, found in the background. The overview names it and
 * the list of holes opens at it, so both tell the same numbers.
 *
 * WORST_HOLES_STEPS moments at equal distances are looked at, and the peak of the session. Moments
 * with more bytes in holes than in blocks go before others; among these the one with the most bytes
 * in holes is the worst. Holes belong to no filter.
 */
#ifndef MPROF_TUI_EXPLORE_WORST_HOLES_H
#define MPROF_TUI_EXPLORE_WORST_HOLES_H

#include "session/holes.h"
#include "tui/explore/explore.h"

#define WORST_HOLES_STEPS 12

/*
 * Looks on for the moment. Returns false while it is not known. Sets `*use` to the use of all
 * memory at `*ns`, or to NULL if there is no hole at any of the moments, or none can be known: the
 * blocks that a sample lacks would look like holes.
 */
bool worst_holes_get(struct exploration *exploration, uint64_t *ns, const struct session_use **use);
/* Returns true if more bytes lie in holes than in blocks. */
bool worst_holes_prevail(const struct session_use *use);
/* Gives up the question that is being answered. The next call asks it again. */
void worst_holes_leave(struct exploration *exploration);

#endif
