/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the overview. overview.c changes it, and asks for its data one after another so that
 * other views need not wait for all of them; render.c draws it.
 *
 * The lines that the user can select are, in this order: the ranked findings, the facts about
 * session and recording, what the user's functions held at the peak, and the types, or the sizes if
 * hardly any type is known. */
#pragma once

#include "session/holes.h"
#include "tui/view/common/moments.h"
#include "tui/view/overview/findings.h"
#include "tui/view/view.h"

#define OVERVIEW_SLOTS_MOST 400
#define OVERVIEW_HELD_MOST 200 /* rows of functions, and of types or sizes */

/* The first data: the request and what the engine finds. */
struct overview_data {
    struct overview_request {
        uint64_t selections, start, end, slot_count, filtered;
    } request;
    struct finding findings[FINDINGS_MOST];
    size_t finding_count;
    struct session_slot slots[OVERVIEW_SLOTS_MOST];
};

enum overview_held { HELD_BY_USER, HELD_BY_WHAT, HELD_WAYS };

struct overview {
    struct load load, user_load, what_loads[2], use_load, ranked_load, once_load;
    const struct overview_data *data;          /* NULL: not known yet */
    const struct growth_data *held[HELD_WAYS]; /* at the peak; NULL: not known yet */
    enum session_growth_by held_by[HELD_WAYS];
    size_t held_counts[HELD_WAYS]; /* the rows with any bytes */
    const struct session_use *use; /* of memory at the peak; NULL: not known yet */
    struct ranked_finding ranked[RANKED_MOST];
    size_t ranked_count;
    size_t kinds_done;          /* so many kinds have been looked for */
    bool holes_done;            /* holes have been looked for */
    bool unranked;              /* the filter is too long */
    struct finding once;        /* blocks that stay from the start; no text: none are known */
    uint64_t ranked_selections; /* the selection that they are about */
    int selected;               /* line */
};

/* The lines of each part. */
int overview_fact_lines(const struct overview *overview);
const struct finding *overview_fact(const struct overview *overview, size_t at);

enum overview_line_kind { LINE_RANKED, LINE_FACT, LINE_HELD, LINE_NONE };

/* The content of a line. */
struct overview_line {
    enum overview_line_kind kind;
    enum overview_held way;
    size_t at; /* of the part */
};

/* The rows of the screen, from top to bottom; a part without rows is not shown. */
struct overview_layout {
    int ranked, ranked_rows, facts, fact_rows, totals, total_rows, outside, chart, chart_height;
    int held, held_rows;
    int columns; /* of what was held: 1 to 3 */
};
/* Returns the line at a position of the screen, -1 if there is none. */
int overview_line_at(const struct overview *overview, int width, int height, int x, int y);

void overview_render(const void *view, const struct browse *browse, const struct area *area);
