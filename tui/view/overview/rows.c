/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of the overview as rows, for files and the clipboard. */
#include "tui/screen/format.h"
#include "tui/view/common/list.h"
#include "tui/view/overview/overview.h"

enum {
    COLUMN_PART,
    COLUMN_BYTES,
    COLUMN_BLOCKS,
    COLUMN_HELD,
    COLUMN_HELD_BLOCKS,
    COLUMN_WHAT,
    COLUMN_FUNCTION,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_PART] = {.title = "part", .text = true},
    [COLUMN_BYTES] = {.title = "bytes"},
    [COLUMN_BLOCKS] = {.title = "blocks", .file = "allocations"},
    [COLUMN_HELD] = {.title = "held", .file = "held_bytes"},
    [COLUMN_HELD_BLOCKS] = {.title = "blocks held", .file = "held_count"},
    [COLUMN_WHAT] = {.title = "what", .text = true, .file = "subject"},
    [COLUMN_FUNCTION] = {.title = "function", .text = true, .file = "user"},
};

struct rows {
    const struct overview *overview;
    const struct session *session;
};

static void put_number(struct table_cell *cell, uint64_t number, bool bytes)
{
    cell->is_number = true;
    cell->number = number;
    if (bytes)
        format_size(cell->text, number);
    else
        format_count(cell->text, number);
}

static void ranked_cell(const struct ranked_finding *finding, size_t column,
                        struct table_cell *cell)
{
    if (column == COLUMN_PART)
        cell->name = ranked_word(finding);
    else if (column == COLUMN_BYTES)
        put_number(cell, finding->bytes, true);
    else if (column == COLUMN_BLOCKS)
        put_number(cell, finding->count, false);
    else if (column == COLUMN_WHAT)
        cell->name = finding->type[0] || finding->kind == RANKED_HOLES ? finding->type
                                                                       : SESSION_UNKNOWN_TYPE;
    else if (column == COLUMN_FUNCTION)
        cell->name = finding->user;
}

static void held_cell(const struct rows *rows, const struct overview_line *line, size_t column,
                      struct table_cell *cell)
{
    const bool type = line->way == HELD_BY_TYPE;
    const struct session_growth *row = &rows->overview->held[line->way]->rows[line->at];
    const char *name =
        growth_name(rows->session, type ? SESSION_GROWTH_TYPE : SESSION_GROWTH_USER, row->id);
    if (column == COLUMN_PART)
        cell->name = type ? "at the peak, by type" : "at the peak, by function";
    else if (column == COLUMN_HELD)
        put_number(cell, row->after.bytes, true);
    else if (column == COLUMN_HELD_BLOCKS)
        put_number(cell, row->after.count, false);
    else if (column == (type ? COLUMN_WHAT : COLUMN_FUNCTION))
        cell->name = name;
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct rows *rows = context;
    const struct overview_line line = overview_line_of(rows->overview, (int)row);
    if (line.kind == LINE_RANKED)
        ranked_cell(&rows->overview->ranked[line.at], column, out);
    else if (line.kind == LINE_HELD)
        held_cell(rows, &line, column, out);
    else if (column == COLUMN_PART)
        out->name = "the session";
    else if (column == COLUMN_WHAT)
        out->name = rows->overview->data->findings[line.at].text;
}

static struct table_source source_of(struct rows *rows)
{
    return (struct table_source){.context = rows,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = (size_t)overview_lines(rows->overview),
                                 .cell = cell};
}

bool overview_table(void *view, struct exploration *exploration, FILE *out,
                    enum table_format format)
{
    struct rows rows = {.overview = view, .session = exploration->session};
    const struct table_source source = source_of(&rows);
    table_write(&source, out, format);
    return source.rows > 0;
}

bool overview_copy(void *view, struct exploration *exploration, FILE *out)
{
    struct rows rows = {.overview = view, .session = exploration->session};
    const struct table_source source = source_of(&rows);
    const int selected = rows.overview->selected;
    if (selected < 0 || (size_t)selected >= source.rows)
        return false;
    table_copy(&source, (size_t)selected, out);
    return true;
}
