/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "tui/view/functions/functions.h"

/* The columns from left to right. A narrow screen leaves out those with a large least_width. */
static const struct column columns[FUNCTION_COLUMNS] = {
    [COLUMN_TOTAL] = {.title = "total", .width = 13, .bytes = true},
    [COLUMN_SELF] = {.title = "self", .width = 14, .bytes = true},
    [COLUMN_COUNT] = {.title = "count", .width = 8, .least_width = 56},
    [COLUMN_PEAK] = {.title = "at peak", .width = 9, .bytes = true, .least_width = 72},
    [COLUMN_TOTAL_PEAK] = {.title = "peak total", .width = 12, .bytes = true, .least_width = 94},
    [COLUMN_LIVE] = {.title = "live", .width = 8, .bytes = true, .least_width = 64},
    [COLUMN_SHORT] = {.title = "short", .width = 7, .least_width = 100},
    [COLUMN_TOTAL_COUNT] = {.title = "all count", .width = 11, .least_width = 130},
    [COLUMN_LIVE_COUNT] = {.title = "live count", .width = 12, .least_width = 130},
    [COLUMN_NAME] = {.title = "function", .text = true},
    [COLUMN_PLACE] = {.title = "where", .width = 26, .text = true, .least_width = 110},
};

const struct column *function_column(enum function_column column)
{
    return &columns[column];
}

uint64_t function_column_value(enum function_column column, const struct session_function_row *row)
{
    switch (column) {
    case COLUMN_TOTAL:
        return row->total_bytes;
    case COLUMN_SELF:
        return row->self_bytes;
    case COLUMN_COUNT:
        return row->self_count;
    case COLUMN_PEAK:
        return row->at_peak_bytes;
    case COLUMN_TOTAL_PEAK:
        return row->total_at_peak_bytes;
    case COLUMN_LIVE:
        return row->live_bytes;
    case COLUMN_SHORT:
        return row->short_lived;
    case COLUMN_TOTAL_COUNT:
        return row->total_count;
    case COLUMN_LIVE_COUNT:
        return row->live_count;
    default:
        return 0;
    }
}

bool function_column_place(enum function_column wanted, int screen_width, int *x, int *width)
{
    int fixed = 2;
    for (int i = 0; i < FUNCTION_COLUMNS; i++)
        if (columns[i].least_width <= screen_width)
            fixed += columns[i].width;
    int at = 0;
    for (int i = 0; i < FUNCTION_COLUMNS; i++) {
        if (columns[i].least_width > screen_width) {
            if (i == (int)wanted)
                return false;
            continue;
        }
        /* A gap of two columns separates text from the number before it. */
        int gap = columns[i].text ? 2 : 0;
        int columns_wide = columns[i].width > 0 ? columns[i].width : screen_width - fixed;
        if (i == (int)wanted) {
            *x = at + gap;
            *width = columns_wide - gap;
            return true;
        }
        at += columns_wide;
    }
    return false;
}

struct order {
    const struct session *session;
    enum function_column column;
    bool descending;
};

static int compare(const void *left, const void *right, void *argument)
{
    const struct session_function_row *a = left, *b = right;
    const struct order *order = argument;
    int result = 0;
    if (order->column == COLUMN_PLACE) {
        result = strcmp(session_function_place(order->session, a->function),
                        session_function_place(order->session, b->function));
    } else if (order->column != COLUMN_NAME) {
        uint64_t x = function_column_value(order->column, a);
        uint64_t y = function_column_value(order->column, b);
        result = x < y ? -1 : x > y;
        if (order->column == COLUMN_SHORT && a->self_count && b->self_count) {
            double p = (double)x / (double)a->self_count, q = (double)y / (double)b->self_count;
            result = p < q ? -1 : p > q;
        }
    }
    if (order->descending)
        result = -result;
    if (result == 0) {
        result = strcmp(session_function_name(order->session, a->function),
                        session_function_name(order->session, b->function));
        if (order->column == COLUMN_NAME && order->descending)
            result = -result;
    }
    if (result == 0)
        result = a->function < b->function ? -1 : a->function > b->function;
    return result;
}

void function_rows_sort(const struct session *session, struct session_function_row *rows,
                        size_t count, enum function_column column, bool descending)
{
    struct order order = {session, column, descending};
    if (count > 1)
        qsort_r(rows, count, sizeof(*rows), compare, &order);
}

/* ---- for files -------------------------------------------------------------------------- */

struct written {
    const struct session *session;
    const struct session_function_row *rows;
};

static void put_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct written *written = context;
    const struct session_function_row *of = &written->rows[row];
    if (column == COLUMN_NAME) {
        cell->name = session_function_name(written->session, of->function);
    } else if (column == COLUMN_PLACE) {
        cell->name = session_function_place(written->session, of->function);
    } else {
        cell->is_number = true;
        cell->number = function_column_value((enum function_column)column, of);
    }
}

void function_rows_write(const struct session *session, const struct session_function_row *rows,
                         size_t count, FILE *out, enum table_format format)
{
    struct table_column written[FUNCTION_COLUMNS] = {{.title = NULL}};
    struct written context = {session, rows};
    for (int i = 0; i < FUNCTION_COLUMNS; i++)
        written[i] = (struct table_column){.title = columns[i].title, .text = columns[i].text};
    const struct table_source source = {.context = &context,
                                        .columns = written,
                                        .column_count = FUNCTION_COLUMNS,
                                        .rows = count,
                                        .cell = put_cell};
    table_write(&source, out, format);
}
