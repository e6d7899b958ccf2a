/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the list of allocations, shared by the files of this folder. */
#ifndef MPROF_TUI_VIEW_ALLOCATIONS_ALLOCATIONS_H
#define MPROF_TUI_VIEW_ALLOCATIONS_ALLOCATIONS_H

#include "session/rows.h"
#include "tui/explore/explore.h"
#include "tui/view/common/function_test.h"
#include "tui/widget/table.h"

enum allocation_column {
    ALLOCATION_ID,
    ALLOCATION_ADDRESS,
    ALLOCATION_SIZE,
    ALLOCATION_COUNT,
    ALLOCATION_TYPE,
    ALLOCATION_FUNCTION,
    ALLOCATION_USER,
    ALLOCATION_THREAD,
    ALLOCATION_TIME,
    ALLOCATION_LIFETIME,
    ALLOCATION_FREE_THREAD,
    ALLOCATION_FREED_IN,
    ALLOCATION_COLUMNS
};
extern const struct table_column allocation_columns[ALLOCATION_COLUMNS];

/* One row of the list, with what its names need the engine for. */
struct allocation_row {
    struct session_allocation block;
    uint32_t user;     /* function of the user's frame; 0: none */
    uint32_t freed_in; /* function of the user's frame of the free, or of its call site if it has
                          none; 0: not known */
};

/* A part of the list. The request says which. */
struct allocation_part {
    struct {
        uint64_t selections, field, descending, first, capacity;
    } request;
    struct allocation_row *rows;
    size_t count;
};

#define STRIP_FRAMES 64

/* The details of the selected row, below the list. */
struct allocation_strip {
    struct {
        uint64_t renewals, stack;
    } request;
    struct session_frame frames[STRIP_FRAMES];
    size_t count, call_site;
};

struct allocations {
    struct table table;
    struct session_row_order order;
    uint64_t selections; /* of the filter that the list was made for */
    struct load part_load, all_load, place_load, strip_load;
    const struct allocation_part *part; /* the last part, maybe of another order, or NULL */
    const struct allocation_strip *strip;
    struct function_tests tests; /* of the selected row */
    const struct exploration *exploration;
    uint64_t wanted;   /* the id to select as soon as its place is known; 0: none */
    uint64_t selected; /* the id of the selected row, 0: not known */
};

/* Returns a row of the list, NULL if it has not come yet. */
const struct allocation_row *allocation_row_at(const struct allocations *list, size_t row);

/* Loads the rows from the first one on the screen on, and some beside them. */
void allocations_load(struct allocations *list, struct exploration *exploration, size_t rows);
/* Returns the whole list of so many rows, NULL if it has not come yet. */
const struct allocation_part *allocations_load_all(struct allocations *list,
                                                   struct exploration *exploration, size_t rows);
/* Loads the stack of the selected row. */
void allocations_load_strip(struct allocations *list, struct exploration *exploration);
/* Looks for the place of `wanted`. Returns true if it is found: `*place`. It stops wanting it if it
 * is not in the list. */
bool allocations_find_wanted(struct allocations *list, struct exploration *exploration,
                             uint64_t *place);

/* Writes a cell; a table_source's function. */
void allocation_cell(void *context, size_t row, size_t column, struct table_cell *cell);
/* Returns the order by a column. */
enum session_row_field allocation_field(size_t column);

#endif
