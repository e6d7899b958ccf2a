/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the functions view. functions.c changes it, render.c draws it, and columns.c is the
 * table of columns.
 */
#ifndef MPROF_TUI_VIEW_FUNCTIONS_FUNCTIONS_H
#define MPROF_TUI_VIEW_FUNCTIONS_FUNCTIONS_H

#include "tui/explore/explore.h"
#include "tui/widget/table.h"

enum function_column {
    COLUMN_TOTAL,
    COLUMN_SELF,
    COLUMN_COUNT,
    COLUMN_PEAK,
    COLUMN_TOTAL_PEAK,
    COLUMN_LIVE,
    COLUMN_SHORT,
    COLUMN_TOTAL_COUNT,
    COLUMN_LIVE_COUNT,
    COLUMN_NAME,
    COLUMN_PLACE,
    FUNCTION_COLUMNS
};

struct column {
    const char *title;
    int width;       /* 0: the rest of the screen */
    int least_width; /* of a screen that shows the column */
    bool text;
    bool bytes; /* a size, not a count */
};

const struct column *function_column(enum function_column column);
/* Returns the number that a column shows and sorts by, 0 for text columns. */
uint64_t function_column_value(enum function_column column, const struct session_function_row *row);
/* Stores the position of a column in a screen of this width. Returns false if it is not shown. */
bool function_column_place(enum function_column column, int screen_width, int *x, int *width);
/* Sorts rows, ties by name. `descending` for numbers means largest first. */
void function_rows_sort(const struct session *session, struct session_function_row *rows,
                        size_t count, enum function_column column, bool descending);

/* Writes all rows with all columns, as table_write() does. */
void function_rows_write(const struct session *session, const struct session_function_row *rows,
                         size_t count, FILE *out, enum table_format format);

enum functions_focus { FOCUS_LIST, FOCUS_CALLERS, FOCUS_CALLEES };

struct edge_list {
    const struct session_edge *edges;
    size_t count;
    int selected, first;
};

struct functions {
    struct load rows_load, edges_load, at_peak_load;
    bool known;                        /* the rows have come */
    uint64_t selections, renewals;     /* that they are of; 0: none have come so far */
    uint32_t kept;                     /* function of the selected row */
    bool keeps;                        /* it is known before the first rows */
    struct session_function_row *rows; /* of the load; sorted here */
    size_t count;
    const void *at_peak;  /* the data that gave the rows their bytes at the peak; NULL: none yet */
    uint64_t total_bytes; /* of the selection, for percentages */
    enum function_column sort;
    bool descending;
    int selected, first; /* rows */
    enum functions_focus focus;

    bool edges_known;
    uint32_t edges_function; /* that the lists are of, in this selection */
    uint64_t edges_selections;
    struct edge_list callers, callees;

    char search[200];
};

/* The rows of the parts of the view's area. */
struct functions_layout {
    int list, list_rows;  /* first row and number of the list's rows */
    int name;             /* the row of the selected function's whole name; -1: no room */
    int edges, edge_rows; /* the same for callers and callees; their heading is above */
};
struct functions_layout functions_lay_out(int height);

void functions_render(const void *view, const struct exploration *exploration,
                      const struct area *area);

#endif
