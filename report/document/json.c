/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON by schemas/report.md. */
#include <stdlib.h>
#include <string.h>

#include "report/document/formats.h"
#include "report/output/json.h"

static const char *unit_name(enum value_kind kind)
{
    switch (kind) {
    case VALUE_BYTES:
        return "bytes";
    case VALUE_DURATION:
        return "ns";
    case VALUE_MOMENT:
        return "ns since start";
    case VALUE_SHARE:
        return "fraction";
    case VALUE_ADDRESS:
        return "address";
    case VALUE_NUMBER:
    case VALUE_LINE:
        return "number";
    case VALUE_TRUTH:
        return "truth";
    case VALUE_FRAMES:
        return "frames";
    default:
        return "text";
    }
}

static void put_frames(struct json *json, const struct document_value *value)
{
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    json_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct session_frame *frame = &frames[i];
        json_object(json);
        json_key(json, "function");
        json_text(json, session_function_name(value->session, frame->function));
        json_key(json, "file");
        json_text(json, *frame->file ? frame->file : NULL);
        json_key(json, "line");
        if (frame->line)
            json_number(json, frame->line);
        else
            json_null(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_value(struct json *json, const struct document_value *value)
{
    char room[64];
    if (value->is_null)
        json_null(json);
    else if (value->kind == VALUE_TEXT)
        json_text(json, value->text);
    else if (value->kind == VALUE_FRAMES)
        put_frames(json, value);
    else if (value->kind == VALUE_TRUTH)
        json_truth(json, value->number != 0);
    else if (value->kind == VALUE_SHARE)
        json_real(json, value->share);
    else if (value->kind == VALUE_ADDRESS)
        json_text(json, value_plain(value, room));
    else if (value->negative)
        json_signed(json, (int64_t)(0 - value->number));
    else
        json_number(json, value->number);
}

/* Writes a member, and the standard error of an estimate after it. */
static void put_member(struct json *json, const char *name, const struct document_value *value)
{
    char error[128];
    json_key(json, name);
    put_value(json, value);
    if (!value->estimated)
        return;
    snprintf(error, sizeof(error), "%s_error", name);
    json_key(json, error);
    if (value->standard_error >= 0)
        json_real(json, value->standard_error);
    else
        json_null(json);
}

static void put_table(struct json *json, const struct document_table *table)
{
    json_key(json, table->name);
    json_object(json);
    json_key(json, "count");
    json_number(json, table->all_rows);
    json_key(json, "units");
    json_object(json);
    for (size_t i = 0; i < table->column_count; i++) {
        json_key(json, table->columns[i].name);
        json_text(json, unit_name(table->columns[i].kind));
    }
    json_object_end(json);
    json_key(json, "rows");
    json_array(json);
    for (size_t row = 0; row < document_row_count(table); row++) {
        json_object(json);
        for (size_t i = 0; i < table->column_count; i++)
            put_member(json, table->columns[i].name, &table->values[row * table->column_count + i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

bool document_write_json(const struct document *document, const struct document_about *about,
                         FILE *out)
{
    struct json *json = json_begin(out, true);
    if (!json)
        return false;
    json_object(json);
    json_key(json, "schema");
    json_number(json, 2);
    json_key(json, "report");
    json_text(json, document->report);
    json_key(json, "session");
    json_text(json, about->session);
    json_key(json, "base");
    json_text(json, about->base);
    json_key(json, "filter");
    json_text(json, about->filter);
    json_key(json, "at");
    json_text(json, about->at);
    json_key(json, "sampled");
    json_truth(json, document->estimated);
    json_key(json, "facts");
    json_object(json);
    for (size_t i = 0; i < document->fact_count; i++)
        put_member(json, document->facts[i].name, &document->facts[i].value);
    json_object_end(json);
    json_key(json, "tables");
    json_object(json);
    for (size_t i = 0; i < document->table_count; i++)
        put_table(json, &document->tables[i]);
    json_object_end(json);
    json_object_end(json);
    return json_end(json);
}
