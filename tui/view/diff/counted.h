/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks that a row of the diff counts, as a step of a filter. */
#ifndef MPROF_TUI_VIEW_DIFF_COUNTED_H
#define MPROF_TUI_VIEW_DIFF_COUNTED_H

#include "tui/view/diff/compare.h"

enum counted {
    COUNTED_CAME, /* live at B, not at A */
    COUNTED_WENT, /* live at A, not at B */
    COUNTED_LIVE, /* live at B */
};

struct counted_times {
    uint64_t before_ns, after_ns; /* A and B: either may be the later one */
    bool two_sessions;            /* A is in another one: all that is live at B is counted */
};

/* Returns the step that selects blocks of a row in the later session, malloc()ed, NULL if there is
 * no memory. */
char *counted_step(const struct compare_row *row, enum session_growth_by by, enum counted counted,
                   const struct counted_times *times);

#endif
