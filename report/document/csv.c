/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV (RFC 4180) with a line of names. Null is empty, texts are quoted. If the session was
 * sampled, each sum is followed by a column NAME_error with its standard error.
 */
#include <stdlib.h>

#include "report/document/formats.h"
#include "report/output/names.h"

static void put_frames(FILE *out, const struct document_value *value)
{
    /* A text of one line: the outermost function first, as in a folded stack. */
    size_t size = 1, count;
    const struct session_frame *frames = value_frames(value, &count);
    char *text = NULL;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    for (size_t i = count; i-- > 0;)
        fprintf(line, "%s%s", session_function_name(value->session, frames[i].function),
                i > 0 ? " > " : "");
    if (fclose(line) == 0)
        name_put_csv(out, text);
    free(text);
}

static void put_value(FILE *out, const struct document_value *value)
{
    char room[64];
    if (value->is_null)
        return;
    if (value->kind == VALUE_TEXT)
        name_put_csv(out, value->text);
    else if (value->kind == VALUE_FRAMES)
        put_frames(out, value);
    else
        fputs(value_plain(value, room), out);
}

static void put_error(FILE *out, const struct document_value *value)
{
    fputc(',', out);
    if (value->estimated && value->standard_error >= 0)
        fprintf(out, "%.6g", value->standard_error);
}

static void put_facts(const struct document *document, FILE *out)
{
    fprintf(out, "name,value%s\r\n", document->estimated ? ",error" : "");
    for (size_t i = 0; i < document->fact_count; i++) {
        fprintf(out, "%s,", document->facts[i].name);
        put_value(out, &document->facts[i].value);
        if (document->estimated)
            put_error(out, &document->facts[i].value);
        fputs("\r\n", out);
    }
}

/* Returns true if a column has estimates: then all its values are. */
static bool is_estimated(const struct document_table *table, size_t column)
{
    for (size_t i = column; i < table->count; i += table->column_count)
        if (table->values[i].estimated)
            return true;
    return false;
}

static void put_table(const struct document_table *table, FILE *out)
{
    bool errors[DOCUMENT_COLUMNS_MOST] = {false};
    for (size_t i = 0; i < table->column_count; i++) {
        errors[i] = is_estimated(table, i);
        fprintf(out, "%s%s", i > 0 ? "," : "", table->columns[i].name);
        if (errors[i])
            fprintf(out, ",%s_error", table->columns[i].name);
    }
    fputs("\r\n", out);
    for (size_t row = 0; row < document_row_count(table); row++) {
        const struct document_value *values = &table->values[row * table->column_count];
        for (size_t i = 0; i < table->column_count; i++) {
            fputs(i > 0 ? "," : "", out);
            put_value(out, &values[i]);
            if (errors[i])
                put_error(out, &values[i]);
        }
        fputs("\r\n", out);
    }
}

void document_write_csv(const struct document *document, FILE *out)
{
    if (document->facts_first || document->table_count == 0)
        put_facts(document, out);
    else
        put_table(&document->tables[0], out);
}
