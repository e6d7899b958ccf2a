/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the functions view: a table of functions, and tables of the callers and callees of
 * the selected one. functions.c changes it, rows.c has the tables' columns, render.c draws it.
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
extern const struct table_column function_columns[FUNCTION_COLUMNS];

/* Returns the number that a column shows and sorts by, 0 for text columns. */
uint64_t function_column_value(enum function_column column, const struct session_function_row *row);
/* Sorts rows, ties by name. `descending` for numbers means largest first. `own`: functions of which
 * it tells true come before all others; NULL: none do. */
void function_rows_sort(const struct session *session, struct session_function_row *rows,
                        size_t count, const bool *own, enum function_column column,
                        bool descending);

enum functions_pane { PANE_LIST, PANE_CALLERS, PANE_CALLEES, FUNCTION_PANES };
enum { EDGE_COLUMNS = 4 };

struct functions {
    struct load rows_load, own_load, edges_load, at_peak_load;
    bool known;                        /* the rows have come, and `own` if it is needed */
    bool tells;                        /* says how many there are as soon as they are known */
    uint64_t selections;               /* that they are of; 0: none have come so far */
    struct session_function_row *rows; /* of the load; sorted here */
    size_t count, all;                 /* rows that are shown, and those that there are */
    const bool *own;      /* of its load, by function: the user's own code; NULL: nobody needs it */
    bool hide;            /* shows only functions of the user's own code, */
    size_t own_count;     /* which come first then, if there are any */
    const void *at_peak;  /* the data that gave the rows their bytes at the peak, or NULL */
    uint64_t total_bytes; /* of the selection, for percentages */

    bool edges_known;
    /* Tests for the stacks of a name that several functions have; NULL: one has it. */
    const char *on_stack, *call_site;
    uint32_t edges_function; /* that the lists are of, in this selection */
    uint64_t edges_selections;
    struct {
        const struct session_edge *edges;
        size_t count;
    } edges[FUNCTION_PANES]; /* of the callers and the callees */

    struct table tables[FUNCTION_PANES];
    enum functions_pane pane; /* which of these has the keys */
};

/* Returns the row of the selected function, NULL if there is none. */
const struct session_function_row *functions_selected(const struct functions *functions);

/* The data of a table's source. It lives as long as the table is used. */
struct functions_table {
    const struct functions *functions;
    const struct session *session;
    enum functions_pane pane;
    struct table_column columns[FUNCTION_COLUMNS], edge_columns[EDGE_COLUMNS];
    char title[64];
};
struct table_source functions_source(const struct functions *functions,
                                     const struct exploration *exploration,
                                     enum functions_pane pane, struct functions_table *table);
/* Returns the place where a function begins or, if it is not known, its module. */
const char *functions_where(const struct session *session, uint32_t function);

/* The places of the view's parts. */
struct functions_layout {
    struct table_place panes[FUNCTION_PANES]; /* height 0: there is no room */
    int name; /* the row of the selected function's whole name; -1: no room */
};
struct functions_layout functions_lay_out(int width, int height);

void functions_render(const void *view, const struct exploration *exploration,
                      const struct area *area);

#endif
