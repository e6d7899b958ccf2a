/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL prompt: one reading statement at a time, its rows as a table. It has a session and an
 * engine of its own, so a long statement holds up no other view. sql.c runs statements, rows.c has
 * the rows of an answer, their order and the columns on the screen, sets.c makes filters of them.
 */
#ifndef MPROF_TUI_VIEW_SQL_SQL_H
#define MPROF_TUI_VIEW_SQL_SQL_H

#include "session/sql.h"
#include "tui/explore/explore.h"
#include "tui/view/view.h"
#include "tui/widget/table.h"

enum { ROWS_MOST = 10000, TEXT_MOST = 4096 };

struct result_data {
    struct {
        uint64_t serial;
        char text[TEXT_MOST];
    } request;
    struct session_table *table; /* NULL: `failed` says why */
    struct session_error failed;
};

struct sql {
    struct table table;
    struct load open_load;
    struct session *session;
    uint64_t renewals; /* of `session` */
    struct loader loader;
    struct load result_load;
    struct result_data wanted; /* only its request */
    bool asked;
    const struct result_data *result; /* NULL: there is none yet */

    struct table_column *columns; /* all of the result */
    size_t column_count;
    size_t first;  /* the leftmost one on the screen */
    size_t *order; /* the result's rows as they are sorted */
    size_t row_count;
    size_t
        sorted; /* the column that they are sorted by; SQL_UNSORTED: as the statement gave them */
    bool descending;
};
#define SQL_UNSORTED SIZE_MAX

/* rows.c: takes the rows of a new result, and forgets them. Returns false without memory. */
bool sql_rows_take(struct sql *sql);
void sql_rows_clear(struct sql *sql);
/* Sorts by the column and in the direction that the table wishes. */
void sql_sort(struct sql *sql);
/* Moves the columns on the screen by one. */
void sql_scroll(struct sql *sql, bool right, int width);
/* Returns how many columns a screen of this width shows. */
size_t sql_columns_shown(const struct sql *sql, int width);
/* The rows with the columns from the leftmost one on the screen on, and with all. */
struct table_source sql_source(const struct sql *sql);
struct table_source sql_source_of_all(const struct sql *sql);

/* sets.c: returns the field of the filter language that a column holds, by its title and table;
 * NULL: none. */
const char *sql_field_of(const struct session_table *table, size_t column);
/* Offers each column of ids, addresses or sizes as a set, as view_ops.offers. */
size_t sql_offers(void *view, struct exploration *exploration, struct view_offer *out,
                  size_t capacity);

#endif
