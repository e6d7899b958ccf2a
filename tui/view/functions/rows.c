/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the functions view: their columns, and the order of the functions. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/functions/functions.h"

const struct table_column function_columns[FUNCTION_COLUMNS] = {
    [COLUMN_TOTAL] = {.title = "total", .width = 11, .keep = true, .file = "total_bytes"},
    [COLUMN_SELF] = {.title = "self", .width = 11, .keep = true, .file = "bytes"},
    [COLUMN_COUNT] = {.title = "count", .width = 5, .least_width = 56, .file = "allocations"},
    [COLUMN_PEAK] = {.title = "program peak",
                     .width = 12,
                     .least_width = 76,
                     .file = "at_peak_bytes"},
    [COLUMN_TOTAL_PEAK] = {.title = "program peak total",
                           .width = 18,
                           .least_width = 116,
                           .file = "total_at_peak_bytes"},
    [COLUMN_LIVE] = {.title = "live", .width = 5, .least_width = 64, .file = "live_bytes"},
    [COLUMN_SHORT] = {.title = "short", .width = 5, .least_width = 100, .file = "short_count"},
    [COLUMN_TOTAL_COUNT] = {.title = "all count",
                            .width = 9,
                            .least_width = 130,
                            .file = "total_allocations"},
    [COLUMN_LIVE_COUNT] = {.title = "live count",
                           .width = 10,
                           .least_width = 130,
                           .file = "live_count"},
    [COLUMN_NAME] = {.title = "function",
                     .text = true,
                     .keep = true,
                     .cut = TABLE_CUT_NAME,
                     .file = "function"},
    [COLUMN_PLACE] =
        {.title = "where", .width = 24, .text = true, .least_width = 110, .file = "place"},
};

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

/* ---- order ------------------------------------------------------------------------------ */

struct order {
    const struct session *session;
    const bool *own;
    enum function_column column;
    bool descending;
};

static int compare(const void *left, const void *right, void *argument)
{
    const struct session_function_row *a = left, *b = right;
    const struct order *order = argument;
    int result = 0;
    if (order->own && order->own[a->function] != order->own[b->function])
        return order->own[a->function] ? -1 : 1;
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
                        size_t count, const bool *own, enum function_column column, bool descending)
{
    struct order order = {session, own, column, descending};
    if (count > 1)
        qsort_r(rows, count, sizeof(*rows), compare, &order);
}

/* ---- functions -------------------------------------------------------------------------- */

const char *functions_where(const struct session *session, uint32_t function)
{
    const char *place = session_function_place(session, function);
    return *place ? place : session_function_module(session, function);
}

/* Writes the text of a number; bytes allocated with their share of the whole. */
static void number_text(const struct functions *functions, const struct session_function_row *row,
                        enum function_column column, char *text, size_t size)
{
    char number[FORMAT_SIZE], percent[FORMAT_SIZE];
    const uint64_t value = function_column_value(column, row);
    const bool shared = column == COLUMN_TOTAL || column == COLUMN_SELF;
    if (column == COLUMN_SHORT)
        format_percent(number, value, row->self_count);
    else if (column == COLUMN_COUNT || column == COLUMN_TOTAL_COUNT || column == COLUMN_LIVE_COUNT)
        format_count_short(number, value);
    else
        format_size_short(number, value);
    if (shared)
        snprintf(text, size, "%s%6s", number,
                 value ? format_percent(percent, value, functions->total_bytes) : "");
    else
        snprintf(text, size, "%s", number);
}

static void function_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct functions_table *table = context;
    const struct session_function_row *of = &table->functions->rows[row];
    cell->styled = true;
    if (column == COLUMN_NAME) {
        list_function_cell(table->session, of->function, cell);
        cell->style = theme_style(THEME_PLAIN);
        return;
    }
    cell->style = theme_style(THEME_FAINT);
    if (column == COLUMN_PLACE) {
        cell->name = functions_where(table->session, of->function);
        return;
    }
    cell->is_number = true;
    cell->number = function_column_value((enum function_column)column, of);
    if (cell->number > 0)
        cell->style = theme_style(THEME_PLAIN);
    number_text(table->functions, of, (enum function_column)column, cell->text, sizeof(cell->text));
}

static uint64_t function_key(void *context, size_t row)
{
    return ((const struct functions_table *)context)->functions->rows[row].function;
}

/* A search is for names: not for files. */
static bool has_name(void *context, size_t row, const char *text)
{
    const struct functions_table *table = context;
    return strcasestr(session_function_name(table->session, table->functions->rows[row].function),
                      text);
}

/* ---- callers and callees ---------------------------------------------------------------- */

static const struct session_edge *edge_at(const struct functions_table *table, size_t row)
{
    return &table->functions->edges[table->pane].edges[row];
}

static void edge_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct functions_table *table = context;
    const struct session_edge *edge = edge_at(table, row);
    char text[FORMAT_SIZE];
    cell->styled = column % 2 == 1;
    cell->style = theme_style(THEME_FAINT);
    if (column == 0)
        snprintf(cell->text, sizeof(cell->text), "%s", format_size_short(text, edge->bytes));
    else if (column == 1)
        snprintf(
            cell->text, sizeof(cell->text), "%s",
            format_percent(text, edge->bytes, functions_selected(table->functions)->total_bytes));
    else if (column == 2)
        list_function_cell(table->session, edge->function, cell);
    else
        cell->name = functions_where(table->session, edge->function);
}

static uint64_t edge_key(void *context, size_t row)
{
    return edge_at(context, row)->function;
}

/* The engine has sorted them by bytes. */
static void edge_columns(struct functions_table *table, const struct functions *functions)
{
    const size_t count = functions->edges[table->pane].count;
    const char *what = table->pane == PANE_CALLERS ? "callers" : "callees";
    char number[FORMAT_SIZE];
    if (count > 0)
        snprintf(table->title, sizeof(table->title), "%s (%s)", what, format_count(number, count));
    else
        snprintf(table->title, sizeof(table->title), "%s", what);
    table->edge_columns[0] =
        (struct table_column){.title = "", .width = 5, .unsorted = true, .keep = true};
    table->edge_columns[1] = table->edge_columns[0];
    table->edge_columns[2] = (struct table_column){
        .title = table->title, .text = true, .unsorted = true, .keep = true, .cut = TABLE_CUT_NAME};
    table->edge_columns[3] = (struct table_column){
        .title = "", .width = 24, .least_width = 70, .text = true, .unsorted = true};
}

struct table_source functions_source(const struct functions *functions,
                                     const struct exploration *exploration,
                                     enum functions_pane pane, struct functions_table *table)
{
    *table = (struct functions_table){functions, exploration->session, pane, .title = ""};
    memcpy(table->columns, function_columns, sizeof(table->columns));
    if (functions->count < functions->all)
        table->columns[COLUMN_NAME].title = "function of yours";
    if (pane == PANE_LIST)
        return (struct table_source){.context = table,
                                     .columns = table->columns,
                                     .column_count = FUNCTION_COLUMNS,
                                     .rows = functions->count,
                                     .about = exploration->about,
                                     .cell = function_cell,
                                     .key = function_key,
                                     .matches = has_name};
    edge_columns(table, functions);
    return (struct table_source){.context = table,
                                 .columns = table->edge_columns,
                                 .column_count = EDGE_COLUMNS,
                                 .rows = functions->edges[pane].count,
                                 .cell = edge_cell,
                                 .key = edge_key};
}
