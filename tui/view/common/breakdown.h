/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Breaks a part of the selection down by one field: the rows of a pane, such as the functions that
 * allocate the blocks of one type. The engine runs the steps "where … | join FIELD" on the
 * selection.
 */
#ifndef MPROF_TUI_VIEW_COMMON_BREAKDOWN_H
#define MPROF_TUI_VIEW_COMMON_BREAKDOWN_H

#include "tui/explore/explore.h"
#include "tui/widget/table.h"

#define BREAKDOWN_STEP 1300 /* bytes of a step with its NUL */
#define BREAKDOWN_MOST 1000 /* rows, the largest */

struct breakdown_row {
    const char *name; /* NULL: the field is null. As long as the session */
    uint64_t allocations, bytes, live_bytes, at_peak_bytes;
};

struct breakdown_data {
    struct {
        uint64_t selections; /* the request */
        char where[BREAKDOWN_STEP];
        char field[24]; /* with zeros to the end, as `where` */
    } request;
    struct breakdown_row *rows;
    size_t count, made; /* rows; all groups */
    bool complete, ordered;
};

struct breakdown {
    struct load load;
    struct breakdown_data *data; /* NULL: not there yet */
    bool estimated;
};

/* Asks. `where` is a step, "" for all of the selection. `sort` and `descending` of the table order
 * the rows. */
void breakdown_load(struct breakdown *breakdown, struct exploration *exploration, const char *where,
                    const char *field, const struct table *table);
void breakdown_clear(struct breakdown *breakdown, struct exploration *exploration);
/* Orders the rows after a TABLE_SORTED. */
void breakdown_sort(struct breakdown *breakdown, const struct table *table);
/* The table: bytes, count, live, at peak, and the name under `title`. */
struct table_source breakdown_source(const struct breakdown *breakdown);
/* Returns the selected row, NULL if there is none. */
const struct breakdown_row *breakdown_selected(const struct breakdown *breakdown,
                                               const struct table *table);
/* Writes the step that selects the blocks of a row: the `where` of the request and the row. Returns
 * false if it is too long. */
bool breakdown_step(const struct breakdown *breakdown, const struct breakdown_row *row, char *out,
                    size_t size);

#endif
