/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of functions: what each allocated itself, and with those that it called. */
#include <stdlib.h>

#include "report/tables/reports.h"

static int by_total(const void *left, const void *right)
{
    const struct session_function_row *a = left, *b = right;
    if (a->total_bytes != b->total_bytes)
        return a->total_bytes < b->total_bytes ? 1 : -1;
    if (a->self_bytes != b->self_bytes)
        return a->self_bytes < b->self_bytes ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static void add_row(struct session *session, const struct session_function_row *row,
                    struct document *document)
{
    const uint64_t sums[] = {row->self_bytes,    row->self_count, row->total_bytes,
                             row->total_count,   row->live_bytes, row->live_count,
                             row->at_peak_bytes, row->short_lived};
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        document_sum(document, sums[i], -1);
    document_text(document, row->function ? session_function_name(session, row->function) : NULL);
    document_text(document, row->function ? session_function_module(session, row->function) : NULL);
    const char *place = session_function_place(session, row->function);
    document_text(document, *place ? place : NULL);
}

bool report_functions(const struct report_request *request, struct document *document,
                      struct session_error *error)
{
    static const struct document_column columns[] = {
        {"self_bytes", NULL, VALUE_BYTES, NULL},    {"self_count", NULL, VALUE_NUMBER, NULL},
        {"total_bytes", NULL, VALUE_BYTES, NULL},   {"total_count", NULL, VALUE_NUMBER, NULL},
        {"live_bytes", NULL, VALUE_BYTES, NULL},    {"live_count", NULL, VALUE_NUMBER, NULL},
        {"at_peak_bytes", NULL, VALUE_BYTES, NULL}, {"short_lived", NULL, VALUE_NUMBER, NULL},
        {"function", NULL, VALUE_TEXT, NULL},       {"module", NULL, VALUE_TEXT, NULL},
        {"place", NULL, VALUE_TEXT, NULL}};
    struct session_function_row *rows = NULL;
    size_t count = 0;
    struct graph_result *result = request_run(request, request->session, NULL, NULL, error);
    struct selection *selection = result ? graph_result_selection(result) : NULL;
    if (!selection || !selection_functions(selection, &rows, &count, error)) {
        graph_result_free(result);
        return false;
    }
    if (count > 0)
        qsort(rows, count, sizeof(*rows), by_total);
    document_table(document, "functions", "Functions", columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < count && (request->top == 0 || i < request->top); i++)
        add_row(request->session, &rows[i], document);
    document_rows(document, count);
    free(rows);
    graph_result_free(result);
    return true;
}
