/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format for people: facts as lines, tables with their numbers in front and the names, which
 * have any length, after them. The frames of a stack follow their row.
 */
#include <stdlib.h>
#include <string.h>

#include "report/document/formats.h"
#include "report/output/names.h"

/* Text columns but the last one are padded to this many columns at most. */
enum { NAME_COLUMNS_MOST = 48 };

/* Returns true if the column comes after the numbers. */
static bool is_name(enum value_kind kind)
{
    return kind == VALUE_TEXT || kind == VALUE_LINE;
}

static const struct document_value *value_at(const struct document_table *table, size_t row,
                                             size_t column)
{
    return &table->values[row * table->column_count + column];
}

static const char *shown_name(const struct document_column *column,
                              const struct document_value *value)
{
    return !value->is_null ? value->text : column->none ? column->none : "(unknown)";
}

static size_t value_columns(const struct document_column *column,
                            const struct document_value *value)
{
    char room[64];
    if (value->kind == VALUE_TEXT)
        return name_text_columns(shown_name(column, value));
    return value->kind == VALUE_FRAMES ? 0 : strlen(value_format(value, room));
}

/* Stores the widths of all columns. */
static void measure(const struct document_table *table, size_t *widths)
{
    char room[64];
    for (size_t i = 0; i < table->column_count; i++) {
        const struct document_column *column = &table->columns[i];
        widths[i] = strlen(column_title(column->name, column->title, room));
        for (size_t row = 0; row < document_row_count(table); row++) {
            const size_t width = value_columns(column, value_at(table, row, i));
            if (width > widths[i])
                widths[i] = width;
        }
        if (column->kind == VALUE_TEXT && widths[i] > NAME_COLUMNS_MOST)
            widths[i] = NAME_COLUMNS_MOST;
    }
}

static void put_frames(FILE *out, const struct document_value *value)
{
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    for (size_t i = 0; i < count; i++) {
        const struct session_frame *frame = &frames[i];
        fputs("      ", out);
        name_put_text(out, session_function_name(value->session, frame->function));
        if (*frame->file) {
            fputs("  ", out);
            name_put_text(out, frame->file);
            if (frame->line)
                fprintf(out, ":%u", (unsigned)frame->line);
        }
        fputc('\n', out);
    }
}

/* Writes a name after `pending` blanks. Returns the blanks that the next one needs: none is
 * written at the end of a line. */
static size_t put_name(FILE *out, const struct document_column *column,
                       const struct document_value *value, size_t width, size_t pending)
{
    char room[64];
    const char *text =
        value->kind == VALUE_LINE ? value_format(value, room) : shown_name(column, value);
    if (*text == '\0')
        return pending + width + 2;
    fprintf(out, "%*s", (int)pending, "");
    const size_t used = name_put_text(out, text);
    return 2 + (used < width ? width - used : 0);
}

static void put_head(FILE *out, const struct document_table *table, const size_t *widths)
{
    char room[64];
    size_t pending = 2;
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_name(table->columns[i].kind) && table->columns[i].kind != VALUE_FRAMES)
            fprintf(out, "  %*s", (int)widths[i],
                    column_title(table->columns[i].name, table->columns[i].title, room));
    for (size_t i = 0; i < table->column_count; i++) {
        const struct document_value title = {
            .kind = VALUE_TEXT,
            .text = (char *)column_title(table->columns[i].name, table->columns[i].title, room)};
        if (is_name(table->columns[i].kind))
            pending = put_name(out, &table->columns[i], &title, widths[i], pending);
    }
    fputc('\n', out);
}

static void put_row(FILE *out, const struct document_table *table, const size_t *widths, size_t row)
{
    char room[64];
    size_t pending = 2;
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_name(table->columns[i].kind) && table->columns[i].kind != VALUE_FRAMES)
            fprintf(out, "  %*s", (int)widths[i], value_format(value_at(table, row, i), room));
    for (size_t i = 0; i < table->column_count; i++)
        if (is_name(table->columns[i].kind))
            pending =
                put_name(out, &table->columns[i], value_at(table, row, i), widths[i], pending);
    fputc('\n', out);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == VALUE_FRAMES)
            put_frames(out, value_at(table, row, i));
}

static void put_table(FILE *out, const struct document_table *table)
{
    const size_t rows = document_row_count(table);
    size_t widths[DOCUMENT_COLUMNS_MOST] = {0};
    char shown[64], all[64];
    measure(table, widths);
    fprintf(out, "%s", table->title);
    if (rows < table->all_rows)
        fprintf(
            out, ", the first %s of %s",
            value_format(&(struct document_value){.kind = VALUE_NUMBER, .number = rows}, shown),
            value_format(&(struct document_value){.kind = VALUE_NUMBER, .number = table->all_rows},
                         all));
    fputs(rows == 0 ? ": none\n" : "\n", out);
    if (rows == 0)
        return;
    put_head(out, table, widths);
    for (size_t row = 0; row < rows; row++)
        put_row(out, table, widths, row);
}

static void put_fact(FILE *out, const struct document_fact *fact, size_t width)
{
    char title[64], room[64];
    fprintf(out, "%-*s  ", (int)width, column_title(fact->name, fact->title, title));
    if (fact->value.kind == VALUE_TEXT && !fact->value.is_null)
        name_put_text(out, fact->value.text);
    else
        fputs(value_format(&fact->value, room), out);
    fputs(fact->value.kind == VALUE_BYTES && !fact->value.is_null ? " bytes\n" : "\n", out);
}

void document_write_text(const struct document *document, FILE *out)
{
    size_t width = 0;
    char room[64];
    for (size_t i = 0; i < document->fact_count; i++) {
        const size_t length =
            strlen(column_title(document->facts[i].name, document->facts[i].title, room));
        if (length > width)
            width = length;
    }
    for (size_t i = 0; i < document->fact_count; i++)
        put_fact(out, &document->facts[i], width);
    for (size_t i = 0; i < document->table_count; i++) {
        if (i > 0 || document->fact_count > 0)
            fputc('\n', out);
        put_table(out, &document->tables[i]);
    }
}
