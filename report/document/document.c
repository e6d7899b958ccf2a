/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/document/document.h"

#include <stdlib.h>
#include <string.h>

#include "report/document/formats.h"
#include "schemas/array.h"

bool document_format(const char *name, enum document_format *format)
{
    static const char *const names[] = {"text", "csv", "json", "markdown"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0) {
            *format = (enum document_format)i;
            return true;
        }
    return false;
}

struct document *document_new(const char *report, bool estimated)
{
    struct document *document = calloc(1, sizeof(*document));
    if (document) {
        document->report = report;
        document->estimated = estimated;
    }
    return document;
}

void document_free(struct document *document)
{
    if (!document)
        return;
    for (size_t i = 0; i < document->fact_count; i++)
        free(document->facts[i].value.text);
    for (size_t i = 0; i < document->table_count; i++) {
        for (size_t j = 0; j < document->tables[i].count; j++)
            free(document->tables[i].values[j].text);
        free(document->tables[i].values);
        free(document->tables[i].columns);
    }
    free(document->facts);
    free(document->tables);
    free(document->frames);
    free(document);
}

/* Makes room for one more item of `size` bytes. Returns the array, or NULL. */
static void *grown(struct document *document, void *items, size_t count, size_t *capacity,
                   size_t size)
{
    if (document->failed)
        return NULL;
    document->failed = !array_grow(&items, capacity, count + 1, size);
    return document->failed ? NULL : items;
}

static char *copied(struct document *document, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        document->failed = true;
    return copy;
}

/* ---- facts ------------------------------------------------------------------------------ */

/* Takes the value. */
static void add_fact(struct document *document, const char *name, const char *title,
                     struct document_value value)
{
    struct document_fact *facts = grown(document, document->facts, document->fact_count,
                                        &document->fact_capacity, sizeof(*facts));
    if (!facts) {
        free(value.text);
        return;
    }
    document->facts = facts;
    facts[document->fact_count++] = (struct document_fact){name, title, value};
}

void document_fact_text(struct document *document, const char *name, const char *title,
                        const char *text)
{
    add_fact(document, name, title,
             (struct document_value){
                 .kind = VALUE_TEXT, .is_null = !text, .text = copied(document, text)});
}

void document_fact_number(struct document *document, const char *name, const char *title,
                          enum value_kind kind, uint64_t number)
{
    add_fact(document, name, title, (struct document_value){.kind = kind, .number = number});
}

void document_fact_sum(struct document *document, const char *name, const char *title,
                       enum value_kind kind, uint64_t number, double standard_error)
{
    add_fact(document, name, title,
             (struct document_value){.kind = kind,
                                     .number = number,
                                     .estimated = document->estimated,
                                     .standard_error = standard_error});
}

/* ---- tables ----------------------------------------------------------------------------- */

void document_table(struct document *document, const char *name, const char *title,
                    const struct document_column *columns, size_t column_count)
{
    struct document_table *tables = grown(document, document->tables, document->table_count,
                                          &document->table_capacity, sizeof(*tables));
    if (!tables)
        return;
    document->tables = tables;
    struct document_column *copy = malloc(column_count * sizeof(*copy));
    if (!copy) {
        document->failed = true;
        return;
    }
    memcpy(copy, columns, column_count * sizeof(*copy));
    tables[document->table_count++] = (struct document_table){
        .name = name, .title = title, .columns = copy, .column_count = column_count};
}

size_t document_row_count(const struct document_table *table)
{
    return table->column_count ? table->count / table->column_count : 0;
}

void document_rows(struct document *document, uint64_t all_rows)
{
    if (!document->failed)
        document->tables[document->table_count - 1].all_rows = all_rows;
}

/* Takes the value. */
static void add_value(struct document *document, struct document_value value)
{
    struct document_table *table =
        document->failed ? NULL : &document->tables[document->table_count - 1];
    struct document_value *values =
        table ? grown(document, table->values, table->count, &table->capacity, sizeof(*values))
              : NULL;
    if (!values) {
        free(value.text);
        return;
    }
    table->values = values;
    if (value.kind == VALUE_TEXT)
        value.kind = table->columns[table->count % table->column_count].kind;
    values[table->count++] = value;
    const uint64_t rows = document_row_count(table);
    if (table->all_rows < rows)
        table->all_rows = rows;
}

void document_text(struct document *document, const char *text)
{
    add_value(document, (struct document_value){.is_null = !text, .text = copied(document, text)});
}

void document_number(struct document *document, uint64_t number)
{
    add_value(document, (struct document_value){.number = number});
}

void document_sum(struct document *document, uint64_t sum, double standard_error)
{
    add_value(document, (struct document_value){.number = sum,
                                                .estimated = document->estimated,
                                                .standard_error = standard_error});
}

void document_sum_change(struct document *document, uint64_t before, uint64_t now,
                         double standard_error)
{
    add_value(document,
              (struct document_value){.number = now < before ? before - now : now - before,
                                      .negative = now < before,
                                      .estimated = document->estimated,
                                      .standard_error = standard_error});
}

void document_share(struct document *document, uint64_t part, uint64_t whole)
{
    add_value(document, (struct document_value){.is_null = whole == 0,
                                                .share = whole ? (double)part / (double)whole : 0});
}

void document_truth(struct document *document, bool truth)
{
    add_value(document, (struct document_value){.number = truth});
}

void document_null(struct document *document)
{
    add_value(document, (struct document_value){.is_null = true});
}

void document_value(struct document *document, struct document_value value)
{
    add_value(document, value);
}

void document_frames(struct document *document, struct session *session, uint32_t stack)
{
    const size_t count = session_stack(session, stack, NULL, 0);
    if (!array_grow(&document->frames, &document->frame_capacity, count + 1,
                    sizeof(*document->frames)))
        document->failed = true;
    add_value(document,
              (struct document_value){.document = document, .session = session, .stack = stack});
}

bool document_write(const struct document *document, enum document_format format,
                    const struct document_about *about, struct output *output,
                    struct session_error *error)
{
    FILE *out = output_stream(output);
    if (document->failed)
        return report_fail_memory(error, "the report");
    switch (format) {
    case FORMAT_TEXT:
        document_write_text(document, out);
        return true;
    case FORMAT_CSV:
        document_write_csv(document, out);
        return true;
    case FORMAT_MARKDOWN:
        document_write_markdown(document, out);
        return true;
    case FORMAT_JSON:
        break;
    }
    return document_write_json(document, about, out) || report_fail_memory(error, "the report");
}
