/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the timeline. view_timeline.c changes it, timeline_render.c draws it.
 *
 * The window [from, to) is split into as many slots as the chart has columns. The cursor is a slot;
 * the moment that all views share lies in it.
 */
#ifndef MPROF_TUI_TIMELINE_H
#define MPROF_TUI_TIMELINE_H

#include "tui/explore.h"

#define TIMELINE_SLOTS_MOST 600
#define TIMELINE_SHARES_MOST 8

struct timeline {
    uint64_t from, to; /* the window; 0, 0 before it is first shown */
    uint64_t end;      /* end of the session when the window was set */
    int slot_count, cursor;
    bool ranging;
    uint64_t start;    /* start of the session or process, with `end` */
    uint64_t range_ns; /* beginning of the range */

    unsigned loaded_generation; /* 0: nothing is loaded */
    uint64_t loaded_from, loaded_to;
    int loaded_count;
    struct session_slot slots[TIMELINE_SLOTS_MOST];

    int shares_slot; /* -1: not loaded */
    struct session_share shares[TIMELINE_SHARES_MOST];
    size_t share_count;
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
