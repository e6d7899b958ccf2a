/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a statement as a table that is sorted and scrolls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/view/sql/sql.h"

enum { WIDEST = 40, SAMPLE = 200 };

/* Writes a value as a cell shows it. Returns the text, which is `out` or the value's own. */
static const char *value_text(const struct session_value *value, char *out, size_t size)
{
    switch (value->kind) {
    case VALUE_INTEGER:
        snprintf(out, size, "%" PRId64, value->integer);
        return out;
    case VALUE_REAL:
        snprintf(out, size, "%.15g", value->real);
        return out;
    case VALUE_TEXT:
        return value->text;
    case VALUE_BLOB: {
        size_t used = (size_t)snprintf(out, size, "x'");
        for (size_t i = 0; i < value->length && i < 16; i++)
            used += (size_t)snprintf(out + used, size - used, "%02x",
                                     (unsigned)(unsigned char)value->text[i]);
        snprintf(out + used, size - used, "'%s", value->cut || value->length > 16 ? "…" : "");
        return out;
    }
    default:
        return "";
    }
}

/* Makes the columns of a new result: as wide as their first values. */
static void lay_out(struct sql *sql)
{
    const struct session_table *table = sql->result->table;
    const size_t rows = session_table_rows(table);
    char text[128];
    for (size_t i = 0; i < sql->column_count; i++) {
        int width = 3;
        bool is_text = false;
        for (size_t row = 0; row < rows && row < SAMPLE; row++) {
            const struct session_value value = session_table_value(table, row, i);
            const int here = text_width(value_text(&value, text, sizeof(text)));
            width = here > width ? here : width;
            is_text |= value.kind == VALUE_TEXT || value.kind == VALUE_BLOB;
        }
        sql->columns[i] = (struct table_column){.title = session_table_title(table, i),
                                                .width = width < WIDEST ? width : WIDEST,
                                                .text = is_text};
    }
}

/* Tells the table which column is the leftmost one, which has room in any case, and which of those
 * on the screen the rows are sorted by. */
static void mark_columns(struct sql *sql)
{
    for (size_t i = 0; i < sql->column_count; i++)
        sql->columns[i].keep = i == sql->first;
    sql->table.sort = sql->sorted != SQL_UNSORTED && sql->sorted >= sql->first
                          ? sql->sorted - sql->first
                          : SQL_UNSORTED;
    sql->table.descending = sql->descending;
}

bool sql_rows_take(struct sql *sql)
{
    sql_rows_clear(sql);
    const size_t rows = session_table_rows(sql->result->table);
    const size_t columns = session_table_columns(sql->result->table);
    sql->columns = calloc(columns + 1, sizeof(*sql->columns));
    sql->order = calloc(rows + 1, sizeof(*sql->order));
    if (!sql->columns || !sql->order) {
        sql_rows_clear(sql);
        return false;
    }
    sql->column_count = columns;
    sql->row_count = rows;
    for (size_t i = 0; i < rows; i++)
        sql->order[i] = i;
    lay_out(sql);
    mark_columns(sql);
    return true;
}

void sql_rows_clear(struct sql *sql)
{
    free(sql->columns);
    free(sql->order);
    sql->columns = NULL;
    sql->order = NULL;
    sql->column_count = sql->row_count = sql->first = 0;
    sql->sorted = SQL_UNSORTED;
    sql->table = (struct table){.sort = SQL_UNSORTED};
}

/* ---- order ------------------------------------------------------------------------------ */

struct sorting {
    const struct session_table *table;
    size_t column;
    bool descending;
};

/* Compares text as bytes: the shorter one first if it begins the longer one. */
static int compare_text(const struct session_value *a, const struct session_value *b)
{
    const size_t least = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, least);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Compares as SQLite does: null, numbers, text, blobs. */
static int compare_values(const struct session_value *a, const struct session_value *b)
{
    static const int classes[] = {[VALUE_NULL] = 0,
                                  [VALUE_INTEGER] = 1,
                                  [VALUE_REAL] = 1,
                                  [VALUE_TEXT] = 2,
                                  [VALUE_BLOB] = 3};
    if (classes[a->kind] != classes[b->kind])
        return classes[a->kind] - classes[b->kind];
    if (a->kind == VALUE_NULL)
        return 0;
    if (classes[a->kind] > 1)
        return compare_text(a, b);
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    const double left = a->kind == VALUE_REAL ? a->real : (double)a->integer;
    const double right = b->kind == VALUE_REAL ? b->real : (double)b->integer;
    return (left > right) - (left < right);
}

/* Equal rows stay in the statement's order. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct session_value one = session_table_value(sorting->table, a, sorting->column);
    const struct session_value other = session_table_value(sorting->table, b, sorting->column);
    const int order = compare_values(&one, &other);
    if (order != 0)
        return sorting->descending ? -order : order;
    return (a > b) - (a < b);
}

void sql_sort(struct sql *sql)
{
    const size_t column = sql->first + sql->table.sort;
    if (!sql->result || !sql->result->table || column >= sql->column_count)
        return;
    struct sorting sorting = {sql->result->table, column, sql->table.descending};
    sql->sorted = column;
    sql->descending = sql->table.descending;
    qsort_r(sql->order, sql->row_count, sizeof(*sql->order), compare_rows, &sorting);
}

void sql_scroll(struct sql *sql, bool right, int width)
{
    if (right && sql->first + sql_columns_shown(sql, width) < sql->column_count)
        sql->first++;
    else if (!right && sql->first > 0)
        sql->first--;
    mark_columns(sql);
}

/* ---- the table -------------------------------------------------------------------------- */

static void put_cell(const struct sql *sql, size_t row, size_t column, struct table_cell *out)
{
    const struct session_value value =
        session_table_value(sql->result->table, sql->order[row], column);
    out->name = value_text(&value, out->text, sizeof(out->text));
    if (value.kind == VALUE_INTEGER && value.integer >= 0) {
        out->is_number = true;
        out->number = (uint64_t)value.integer;
    }
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct sql *sql = context;
    put_cell(sql, row, sql->first + column, out);
}

static void cell_of_all(void *context, size_t row, size_t column, struct table_cell *out)
{
    put_cell(context, row, column, out);
}

static uint64_t key(void *context, size_t row)
{
    return ((const struct sql *)context)->order[row];
}

struct table_source sql_source_of_all(const struct sql *sql)
{
    return (struct table_source){.context = (void *)sql,
                                 .columns = sql->columns,
                                 .column_count = sql->column_count,
                                 .rows = sql->row_count,
                                 .cell = cell_of_all,
                                 .key = key};
}

struct table_source sql_source(const struct sql *sql)
{
    const size_t left = sql->column_count - sql->first;
    struct table_source source = sql_source_of_all(sql);
    source.columns = sql->columns ? sql->columns + sql->first : NULL;
    source.column_count = left < TABLE_COLUMNS ? left : TABLE_COLUMNS;
    source.cell = cell;
    return source;
}

size_t sql_columns_shown(const struct sql *sql, int width)
{
    const struct table_source source = sql_source(sql);
    return table_columns_shown(&source, width);
}
