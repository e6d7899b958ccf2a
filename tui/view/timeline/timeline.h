/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the timeline. view_timeline.c changes it, timeline_render.c draws it.
 *
 * The window [from, to) is split into as many slots as the chart has columns. The cursor is a slot;
 * the moment that all views share lies in it.
 */
#ifndef MPROF_TUI_TIMELINE_H
#define MPROF_TUI_TIMELINE_H

#include "tui/explore/explore.h"

#define TIMELINE_SLOTS_MOST 600
#define TIMELINE_SHARES_MOST 8

struct timeline {
    uint64_t from, to; /* the window; 0, 0 before it is first shown */
    uint64_t end;      /* end of the session when the window was set */
    int slot_count, cursor;
    bool ranging;
    uint64_t start;    /* start of the session or process, with `end` */
    uint64_t range_ns; /* beginning of the range */

    struct load slots_load, shares_load;
    const struct session_slot *slots; /* slot_count of them; all 0 while they are not known */
    bool slots_known;
    const struct session_share *shares; /* of the slot under the cursor */
    size_t share_count;                 /* 0 while they are not known */
};

/* The positions of the parts in the view's area. */
struct timeline_layout {
    int axis_width;   /* to the left of the chart */
    int chart_width;  /* columns, one for each slot */
    int chart_height; /* rows */
    int legend_x;     /* -1: there is no legend */
    int legend_width;
    int details; /* first row below the chart's axis */
    int detail_rows;
};
struct timeline_layout timeline_lay_out(int width, int height);

/* Returns the time at which slot `slot` begins; slot_count gives the window's end. */
uint64_t timeline_edge(const struct timeline *timeline, int slot);

void timeline_render(const void *view, const struct exploration *exploration,
                     const struct area *area);

#endif
