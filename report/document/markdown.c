/* SPDX-License-Identifier: BSD-2-Clause */
/* Markdown, as GitHub and GitLab show it: the facts as one table, each table under its heading. */
#include "report/document/formats.h"
#include "report/output/names.h"

static void put_frames(FILE *out, const struct document_value *value)
{
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "<br>" : "", out);
        name_put_markdown(out, session_function_name(value->session, frames[i].function));
    }
}

static void put_cell(FILE *out, const struct document_value *value, const char *none)
{
    char room[64];
    fputs(" ", out);
    if (value->is_null && value->kind == VALUE_TEXT)
        fputs(none ? none : "(unknown)", out);
    else if (value->kind == VALUE_TEXT)
        name_put_markdown(out, value->text);
    else if (value->kind == VALUE_FRAMES)
        put_frames(out, value);
    else
        name_put_markdown(out, value_format(value, room));
    fputs(" |", out);
}

static void put_table(FILE *out, const struct document_table *table)
{
    char room[64];
    const size_t rows = document_row_count(table);
    fprintf(out, "### %s\n\n", table->title);
    if (rows == 0) {
        fputs("None.\n", out);
        return;
    }
    fputs("|", out);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(out, " %s |", column_title(table->columns[i].name, table->columns[i].title, room));
    fputs("\n|", out);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i].kind == VALUE_TEXT || table->columns[i].kind == VALUE_FRAMES
                  ? " --- |"
                  : " ---: |",
              out);
    fputc('\n', out);
    for (size_t row = 0; row < rows; row++) {
        fputs("|", out);
        for (size_t i = 0; i < table->column_count; i++)
            put_cell(out, &table->values[row * table->column_count + i], table->columns[i].none);
        fputc('\n', out);
    }
    if (rows < table->all_rows)
        fprintf(out, "\nThe first %zu of %llu.\n", rows, (unsigned long long)table->all_rows);
}

void document_write_markdown(const struct document *document, FILE *out)
{
    char room[64];
    if (document->fact_count > 0)
        fputs("| | |\n| --- | --- |\n", out);
    for (size_t i = 0; i < document->fact_count; i++) {
        const struct document_fact *fact = &document->facts[i];
        fprintf(out, "| %s |", column_title(fact->name, fact->title, room));
        put_cell(out, &fact->value, NULL);
        fputc('\n', out);
    }
    for (size_t i = 0; i < document->table_count; i++) {
        if (i > 0 || document->fact_count > 0)
            fputc('\n', out);
        put_table(out, &document->tables[i]);
    }
}
