/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the timeline. timeline.c changes it and handles the marked range of time, load.c
 * knows the layers and asks for its data, render.c draws it.
 *
 * The window [from, to) is split into as many slots as the chart has columns. Slots have one
 * length, except that an idle gap of the window can be one slot: a run is a part of the window
 * whose slots have one length. The cursor is a slot; the moment that all views share lies in it. */
#pragma once

#include "session/stacking.h"
#include "session/time.h"
#include "tui/view/common/browse.h"
#include "tui/view/common/list.h"
#include "tui/view/common/moments.h"

#define TIMELINE_SLOTS_MOST 600
#define TIMELINE_SHARES_MOST 8
#define TIMELINE_RUNS_MOST 33
#define TIMELINE_WIDE 100 /* columns of a chart beside which there is room for a second pane */
#define TIMELINE_EVENTS_MOST 24 /* a slot with more events shows sums only */

enum timeline_mode {
    TIMELINE_LIVE, /* live bytes */
    TIMELINE_RATE, /* allocations a second */
    TIMELINE_NET,  /* bytes allocated less bytes freed in each slot */
    TIMELINE_RSS,  /* the resident set by its parts, where the pages in memory were read */
    TIMELINE_MODES,
};

struct timeline_run {
    uint64_t from, to, first, count; /* times; the first slot, and the number of slots */
    uint64_t gap;                    /* 1: nothing happens in it */
};

/* One event of the slot under the cursor. */
struct timeline_event {
    uint64_t ns, id, size;
    uint32_t type, function;
    bool is_free;
};

/* The layers of the chart. Part of requests: no padding, zeros after the text.
 */
struct timeline_stack {
    uint64_t color_by; /* the colouring of all views, if there is no text */
    char text[192];    /* for selection_stacking(); "": none */
};

/* The values that a mode shows of the colours of a slot, by legend position. */
struct timeline_colors {
    uint64_t up[SESSION_COLORS];   /* allocations, or bytes by which a colour has grown */
    uint64_t down[SESSION_COLORS]; /* bytes by which it has become less */
};

struct timeline {
    uint64_t from, to;      /* the window; 0, 0 before it is first shown */
    uint64_t start;         /* start of the session or process when the window was set */
    uint64_t end;           /* its end */
    int columns;            /* of the chart */
    int slot_count, cursor; /* with compressed gaps there may be fewer slots than columns */
    enum timeline_mode mode;
    bool compress; /* idle gaps take one slot each */
    struct timeline_run runs[TIMELINE_RUNS_MOST];
    size_t run_count;
    struct timeline_stack stack;
    enum session_color_by stacked_color_by; /* the colouring when stack.text was chosen */
    const struct session_legend *legend;    /* of the layers; empty while it is not known */
    uint8_t tones[SESSION_COLORS];          /* colour of each position of the legend */
    uint64_t range_ns;                      /* where the range begins that is being marked */
    uint64_t dragged_ns; /* where the mouse button went down; UINT64_MAX: not in the chart */

    struct load slots_load, shares_load, busy_load, at_load, events_load, colors_load, stack_load;
    struct load rss_load, users_load, types_loads[2]; /* of `held` */
    const struct growth_data *held; /* live at the moment; NULL: not shown, or not known yet */
    enum session_growth_by held_by;
    unsigned small; /* bits of the layers that are under 1 % everywhere: they join the rest */
    const struct session_slot *slots; /* slot_count of them; all 0 while they are not known */
    bool slots_known;
    const struct timeline_colors *colors; /* by slot; NULL: of another mode, or not known yet */
    const struct session_slot *at;        /* live at the moment itself; NULL: not known yet */
    const struct session_share *shares;   /* of the slot under the cursor */
    size_t share_count;                   /* 0 while they are not known */
    const struct timeline_event *events; /* of the slot under the cursor; NULL: unknown, too many */
    size_t event_count;

    struct list ranges[2]; /* what grew in the range, by type and by user */
    const struct session *session;
    int pane; /* which of these has the keys */
};

/* Returns true if the layers of the chart are bytes at the moments of its slots. */
static inline bool timeline_shows_bytes(const struct timeline *timeline)
{
    return timeline->mode == TIMELINE_LIVE || timeline->mode == TIMELINE_RSS;
}

/* The positions of the parts in the view's area. */
struct timeline_layout {
    int axis_width;   /* to the left of the chart */
    int chart_width;  /* columns, one for each slot */
    int chart_height; /* rows */
    int legend_x;     /* -1: there is no legend */
    int legend_width;
    int details; /* first row below the chart's axis */
    int detail_rows;
    int range_y, range_rows; /* what grew in the range; 0 rows: there is none */
};
struct timeline_layout timeline_lay_out(const struct timeline *timeline, int width, int height,
                                        bool range);

/* Returns the time at which slot `slot` begins; slot_count gives the window's end. */
uint64_t timeline_edge(const struct timeline *timeline, int slot);
/* Returns how many a second so many in a slot are. */
uint64_t timeline_rate(const struct timeline *timeline, int slot, uint64_t count);
/* Returns the slot that holds a time, the first or last one for a time outside of the window. */
int timeline_slot_of(const struct timeline *timeline, uint64_t ns);

/* Return the slots and the legend of a timeline that has none: all are zero. A constant of theirs
 * would be 130 KB of zeros in the program's file. */
const struct session_slot *timeline_no_slots(void);
const struct session_legend *timeline_no_legend(void);

/* Stacks by a text of the user, "" for the colouring; drops one that the filter or another
 * colouring has made meaningless; asks for the legend. */
void timeline_stack_by(struct timeline *timeline, struct browse *browse, const char *by);
void timeline_check_stack(struct timeline *timeline, struct browse *browse);
const char *timeline_chosen(const void *view);
void timeline_choose(void *view, struct browse *browse, const char *text);
const char *timeline_stack_name(const struct timeline *timeline, const struct browse *browse);
struct cell_style timeline_style(const struct timeline *timeline, const struct grid *grid,
                                 size_t position);
uint32_t timeline_pattern(const struct timeline *timeline, size_t position);

/* Writes the legend's positions of the layers from below, the rest last. Returns their number. */
size_t timeline_layers(const struct timeline *timeline, size_t positions[SESSION_COLORS]);
/* Returns the bytes of a layer; those that join the rest are in the rest. */
uint64_t timeline_layer_bytes(const struct timeline *timeline, const struct session_slot *slot,
                              size_t position);

/* Splits the window into runs, and asks for what the screen shows. */
void timeline_load_runs(struct timeline *timeline, struct browse *browse);
void timeline_load(struct timeline *timeline, struct browse *browse);
void timeline_loads_clear(struct timeline *timeline, struct browse *browse);

/* Marks a range by two actions or by text ("2s 5s"), and shows what grew in it. */
void timeline_load_range(struct timeline *timeline, struct browse *browse);
/* Returns false if the action means nothing to the tables of the range. */
void timeline_range_render(const struct timeline *timeline, const struct browse *browse,
                           const struct area *area);

/* Writes the slots of the chart. Returns false if they are not known. */
bool timeline_write_slots(const struct timeline *timeline, const struct session *session, FILE *out,
                          enum table_format format);

void timeline_render(const void *view, const struct browse *browse, const struct area *area);
