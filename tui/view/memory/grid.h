/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the memory view. memory.c changes it, draw.c places addresses in it and draws it.
 * Beside the cells there is a pane (panes.c): the allocation under the cursor, the list of holes,
 * or the use of memory over time.
 *
 * The regions of the address space lie below each other, each with a heading row, then rows of
 * `columns` cells. A row of cells begins at a multiple of its own bytes, so the first and the last
 * row of a region may reach beyond it. Rows are numbered from 0 over all regions ("row");
 * `first_row` is the one at the top of the screen. */
#pragma once

#include "session/holes.h"
#include "session/residency.h"
#include "tui/view/common/moments.h"
#include "tui/view/common/offers.h"
#include "tui/view/view.h"

#define MEMORY_ROWS_MOST 256
#define MEMORY_COLUMNS_MOST 512
#define MEMORY_FRAMES_MOST 512
#define MEMORY_MEMBERS_MOST 64
#define MEMORY_CELL_LEAST 8 /* bytes */

struct memory_map {
    const struct session_region *regions; /* ascending */
    size_t region_count;
    uint64_t bytes_per_cell; /* a power of two */
    int columns;
};

uint64_t memory_row_bytes(const struct memory_map *map);
/* Returns the address at which a region's first row of cells begins. */
uint64_t memory_region_base(const struct memory_map *map, size_t region);
uint64_t memory_region_rows(const struct memory_map *map, size_t region); /* of cells */
/* Returns the rows of all regions, with headings. */
uint64_t memory_rows(const struct memory_map *map);
/* Returns the region that holds an address or is nearest to it, region_count if there is none. */
size_t memory_region_of(const struct memory_map *map, uint64_t address);
/* Returns the row of an address in a region. */
uint64_t memory_row_of(const struct memory_map *map, size_t region, uint64_t address);
/* The content of a row: its region, and a heading or the address of its first cell. */
struct memory_row {
    size_t region; /* region_count: after the last row */
    bool heading;
    uint64_t address;
};
struct memory_row memory_row_at(const struct memory_map *map, uint64_t row);
/* Returns the smallest cell size with which everything takes at most `rows` rows. */
uint64_t memory_fitting_cell(const struct memory_map *map, uint64_t rows);

#define MEMORY_HOLES_NAMED 500 /* of the largest holes the blocks on both sides are loaded */
#define MEMORY_MOMENTS 64      /* columns of the use over time */

/* A hole with the blocks that pin it, if they have been loaded. */
struct memory_hole {
    struct session_hole hole;
    struct session_allocation below, above; /* id 0: not loaded */
};

/* The parts beside the cells. */
enum memory_pane { MEMORY_DETAILS, MEMORY_HOLES, MEMORY_OVER_TIME };

struct memory_details {
    uint64_t address, ns; /* of the request */
    bool found;
    struct session_allocation allocation;
    struct session_frame frames[MEMORY_FRAMES_MOST];
    size_t frame_count;
    size_t call_site;          /* index of its frame */
    bool unknown_gap;          /* if nothing was found: what lies there is not known */
    bool has_below, has_above; /* neighbours, of the allocation or of the hole */
    struct session_allocation below, above;
    uint64_t used_before, last_free_ns;
    uint32_t user; /* the function of the user's own code that allocated it; 0: none */
    struct session_member members[MEMORY_MEMBERS_MOST]; /* of the allocation's type */
    size_t member_count;
    uint64_t type_size; /* 0: not known */
};

/* Returns the rows of the layout of the allocation's type, with a heading and each padding. */
int memory_members_rows(const struct memory_details *details);

/* The pages in memory at the moment. */
struct memory_pages {
    bool read; /* around that moment */
    struct session_page_run *runs;
    size_t count;
};

/* The part of one moment that the screen shows. */
struct memory_frame_loads {
    struct load regions, cells, use, details, pages;
};

/* A play through time, or a step. */
struct memory_play {
    bool playing;
    int speed;                   /* power of two */
    bool wanted;                 /* the screen must show wanted_ns as soon as all of it is there, */
    uint64_t wanted_ns, from_ns; /* unless the moment is another one than from_ns by then */
    int64_t chosen_ms, shown_ms; /* of the clock: wanted_ns was chosen; the last frame was shown */
    struct memory_grid *ahead;   /* loads it. Has a frame and nothing else of its own */
};

struct memory_grid {
    struct memory_map map;
    struct memory_frame_loads frame;
    struct load gaps_load, holes_load, moment_load, now_load, block_load;
    struct function_matchers matchers; /* of the block under the cursor */
    bool regions_known;
    bool zoom_chosen; /* by the user; otherwise everything fits the screen */
    uint64_t cursor;  /* an address */
    bool exact;       /* the cursor means this very address, not its whole cell */
    uint64_t first_row;
    int rows; /* of the screen */
    bool alternate;

    const struct memory_pages *pages; /* NULL: not known, or not read at this moment */

    const struct session_cell *cells;     /* rows × columns; NULL: not known yet */
    const struct session_use *use;        /* of the cursor's region; NULL: not known yet */
    const struct memory_details *details; /* of the cursor's cell; memory_no_details(): none */
    bool details_known;

    bool seeking; /* the next hole is being looked for */
    struct {
        uint64_t generation, ns, address, up;
    } seek;

    enum memory_pane pane;
    const struct memory_hole *holes;  /* the largest first; NULL: not known yet */
    const struct session_use *around; /* of all memory at that moment; NULL: not known yet */
    size_t hole_count, hole;          /* the selected one */
    bool peak_asked;                  /* by the user, who has gone to the peak */
    bool worst_wanted; /* go to the moment with the most holes, unless the user leaves worst_from */
    uint64_t worst_from; /* the moment at which the list was opened */

    struct session_use moments[MEMORY_MOMENTS]; /* of the whole memory, at equal steps of time */
    bool moment_known[MEMORY_MOMENTS];
    const struct session_use *now; /* at the moment itself; NULL: not known yet */
    uint64_t moments_generation, moments_from, moments_to;

    struct memory_play play;

    bool members;     /* show them instead of the stack */
    bool stack_focus; /* keys scroll the stack, or the members */
    int stack_scroll;
};

/* Returns the details of no cell: all are zero. A constant of them would be 27 KB of zeros in the
 * program's file. */
const struct memory_details *memory_no_details(void);

/* Asks for the regions at the moment. The map has none while they are not known. */
void memory_load_regions(struct memory_grid *grid, struct browse *browse);
/* Asks for the cells of the screen, the use of the cursor's region and the cursor's allocation. */
void memory_load(struct memory_grid *grid, struct browse *browse);

/* Begins to look for the next hole above or below the cursor. */
void memory_seek_hole(struct memory_grid *grid, const struct browse *browse, bool up);
/* Goes to the hole that is looked for, once it is found. */
void memory_take_hole(struct memory_grid *grid, struct browse *browse);
/* Loads the list of holes, and moves the cursor to the selected one once it is known. */
void memory_load_holes(struct memory_grid *grid, struct browse *browse);
/* Acts on the list. Returns false if the action means nothing there. */
bool memory_act_on_holes(struct memory_grid *grid, const struct view_input *input);
/* The list was opened. If the user has chosen no moment, it opens at the one with the most
 * holes, which the overview names. */
void memory_open_holes(struct memory_grid *grid, const struct browse *browse);
void memory_holes_render(const struct memory_grid *grid, const struct browse *browse,
                         const struct area *area);

/* Tells how the holes are written to a file. */
void memory_holes_write(const struct memory_grid *grid, FILE *out, enum table_format format);

/* Goes to the block that another view has selected, and tells about the one here. */
bool memory_copy(void *view, struct browse *browse, FILE *out);

/* Loads the use at one more moment after the other, coarse steps first. */
void memory_load_over_time(struct memory_grid *grid, struct browse *browse);
/* Returns the moment of a column of the use over time: the first one is the run's beginning, the
 * last one its end. */
uint64_t memory_moment_of(const struct memory_grid *grid, size_t column);
void memory_over_time_render(const struct memory_grid *grid, const struct browse *browse,
                             const struct area *area);

/* Writes the speed of a play, such as "×2" or "×1/4". Returns `out`. */
#define MEMORY_SPEED_SIZE 16
char *memory_speed(const struct memory_grid *grid, char *out);

void memory_loads_clear(struct memory_grid *grid, struct browse *browse);

struct memory_layout {
    int columns, rows;  /* of the grid */
    int grid_x, grid_y; /* its first cell */
    int legend_y, legend_width, legend_rows, details_x, details_y, details_width, details_height;
};
/* Computes the layout. If the pane lies below the cells, `tall` gives it more room. */
struct memory_layout memory_lay_out(int width, int height, bool tall);
/* Returns true if the pane needs more room. */
bool memory_is_tall(const struct memory_grid *grid);

/* Returns the entry at a place of the legend, SIZE_MAX if there is none. */
size_t memory_legend_at(const struct memory_grid *grid, const struct browse *browse,
                        const struct memory_layout *layout, int x, int y);

void memory_grid_render(const void *view, const struct browse *browse, const struct area *area);
