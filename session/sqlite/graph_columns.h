/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of graph(): one fixed list for allocations, groups and measures. */
#ifndef MPROF_SESSION_SQLITE_GRAPH_COLUMNS_H
#define MPROF_SESSION_SQLITE_GRAPH_COLUMNS_H

#include <sqlite3ext.h>

#include "session/groups.h"

/* A result and the row that SQLite reads. */
struct graph_row {
    struct session *session;
    struct graph_result *result;
    uint64_t row, rows; /* the row from 0, and their number */
    bool read;          /* `allocation` is that of `row` */
    struct session_allocation allocation;
    uint32_t site_stack; /* `site` is the call site of this stack; 0: of none */
    struct session_frame site;
};

/* Returns the number of the last column, which is hidden: the text of the graph. */
int graph_column_text(void);

/* Returns the number of rows of a result. */
uint64_t graph_rows(const struct graph_result *result);

/* Gives one column of the row to SQLite, but not the text of the graph. Returns false with `error`
 * set. */
bool graph_column(struct graph_row *row, sqlite3_context *context, int column,
                  struct session_error *error);

/* Returns the warnings of a result as lines, malloc()ed; NULL: there are none, or no memory. */
char *graph_warnings(const struct graph_result *result);

#endif
