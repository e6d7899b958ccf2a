/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/row_writer.h"

#include <inttypes.h>

#include "report/output/json.h"
#include "report/output/names.h"

void rows_begin(struct row_writer *rows, FILE *out, bool ndjson, const char *const *names,
                size_t count)
{
    *rows = (struct row_writer){.out = out, .names = names, .count = count, .ndjson = ndjson};
    for (size_t i = 0; !ndjson && i < count; i++)
        fprintf(out, "%s%c", names[i], i + 1 < count ? ',' : '\n');
}

/* Begins a value. Returns the object that it is a member of, NULL for CSV. */
static struct json *begin_value(struct row_writer *rows)
{
    if (!rows->ndjson)
        return NULL;
    if (rows->next == 0) {
        rows->json = json_begin(rows->out, false);
        if (rows->json)
            json_object(rows->json);
        else
            rows->failed = true;
    }
    if (rows->json)
        json_key(rows->json, rows->names[rows->next]);
    return rows->json;
}

static void end_value(struct row_writer *rows)
{
    const bool last = ++rows->next == rows->count;
    if (!rows->ndjson)
        fputc(last ? '\n' : ',', rows->out);
    if (!last)
        return;
    rows->next = 0;
    if (rows->json) {
        json_object_end(rows->json);
        if (!json_end(rows->json))
            rows->failed = true;
        rows->json = NULL;
    }
}

void rows_text(struct row_writer *rows, const char *text)
{
    struct json *json = begin_value(rows);
    if (json)
        json_text(json, text);
    else if (!rows->ndjson && text)
        name_put_csv(rows->out, text);
    end_value(rows);
}

void rows_number(struct row_writer *rows, uint64_t number)
{
    struct json *json = begin_value(rows);
    if (json)
        json_number(json, number);
    else if (!rows->ndjson)
        fprintf(rows->out, "%" PRIu64, number);
    end_value(rows);
}

void rows_signed(struct row_writer *rows, int64_t number)
{
    struct json *json = begin_value(rows);
    if (json)
        json_signed(json, number);
    else if (!rows->ndjson)
        fprintf(rows->out, "%" PRId64, number);
    end_value(rows);
}

void rows_real(struct row_writer *rows, double number)
{
    struct json *json = begin_value(rows);
    if (json)
        json_real(json, number);
    else if (!rows->ndjson)
        fprintf(rows->out, "%.17g", number);
    end_value(rows);
}

void rows_truth(struct row_writer *rows, bool truth)
{
    struct json *json = begin_value(rows);
    if (json)
        json_truth(json, truth);
    else if (!rows->ndjson)
        fputs(truth ? "true" : "false", rows->out);
    end_value(rows);
}

void rows_null(struct row_writer *rows)
{
    rows_text(rows, NULL);
}
