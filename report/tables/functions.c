/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of functions: what each allocated itself, and with those that it called. */
#include <math.h>
#include <stdlib.h>

#include "report/tables/reports.h"
#include "report/tables/variances.h"
#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/stacks.h"

enum { SUMS = 8 };

/* The variances of a function's sums, in the order of the columns. */
struct function_variances {
    double of[SUMS];
};

/* ---- standard errors ---- */

static void add_self(struct function_variances *function, const struct variance_row *row,
                     bool short_lived)
{
    if (short_lived) {
        function->of[7] += row->of[VARIANCE_ALLOCATIONS];
        return;
    }
    function->of[0] += row->of[VARIANCE_BYTES];
    function->of[1] += row->of[VARIANCE_ALLOCATIONS];
    function->of[4] += row->of[VARIANCE_LIVE_BYTES];
    function->of[5] += row->of[VARIANCE_LIVE_COUNT];
    function->of[6] += row->of[VARIANCE_AT_PEAK_BYTES];
}

/* The variances of stacks that a node is of. */
struct node_variances {
    double bytes, allocations;
};

static uint32_t function_of(struct session *session, uint32_t frame)
{
    struct session_code_frame code = {.function = 0};
    struct session_error ignored;
    return frame != 0 && session_code_frame(session, frame, &code, &ignored) ? code.function : 0;
}

static bool add_selves(struct session *session, const struct variances *variances, bool short_lived,
                       struct function_variances *functions, struct session_error *error)
{
    for (size_t i = 0; i < variances->count; i++) {
        uint32_t frame;
        if (!session_stack_site_frame(session, variances->rows[i].stack, &frame, error))
            return false;
        add_self(&functions[function_of(session, frame)], &variances->rows[i], short_lived);
    }
    return true;
}

struct totals {
    const struct node_variances *nodes;
    struct function_variances *functions;
};

/* A function counts once in a stack. */
static bool add_total(void *context, uint32_t node, const struct session_code_frame *frame,
                      bool recurs)
{
    const struct totals *totals = context;
    if (!recurs) {
        totals->functions[frame->function].of[2] += totals->nodes[node].bytes;
        totals->functions[frame->function].of[3] += totals->nodes[node].allocations;
    }
    return true;
}

static bool add_totals(struct session *session, const struct variances *variances,
                       struct function_variances *functions, struct session_error *error)
{
    const uint32_t count = session_stack_nodes(session);
    struct node_variances *nodes = calloc((size_t)count + 1, sizeof(*nodes));
    struct totals totals = {nodes, functions};
    bool good = nodes || report_fail_memory(error, "the standard errors");
    for (size_t i = 0; good && i < variances->count; i++) {
        const struct variance_row *row = &variances->rows[i];
        struct node_variances *node = &nodes[session_stack_innermost(session, row->stack)];
        node->bytes += row->of[VARIANCE_BYTES];
        node->allocations += row->of[VARIANCE_ALLOCATIONS];
    }
    for (uint32_t node = 1; good && node <= count; node++) {
        const uint32_t caller = session_stack_node(session, node).caller;
        if (caller == 0)
            continue;
        nodes[caller].bytes += nodes[node].bytes;
        nodes[caller].allocations += nodes[node].allocations;
    }
    if (good) {
        /* Stacks without frames. */
        functions[0].of[2] += nodes[0].bytes;
        functions[0].of[3] += nodes[0].allocations;
        good = session_each_stack_node(session, add_total, &totals, error);
    }
    free(nodes);
    return good;
}

/* Stores the variances by function, which the caller frees; NULL if the session is not sampled. */
static bool find_variances(const struct report_request *request,
                           struct function_variances **functions, struct session_error *error)
{
    const size_t count = (size_t)session_function_count(request->session) + 1;
    struct variances all = {.rows = NULL}, passing = {.rows = NULL};
    *functions = NULL;
    if (!session_sampled(request->session))
        return true;
    struct function_variances *made = calloc(count, sizeof(*made));
    bool good = made || report_fail_memory(error, "the standard errors");
    good = good && variances_read(request, NULL, NULL, &all, error) &&
           variances_read(request, NULL, "| where freed == true and lifetime < 1ms", &passing,
                          error) &&
           session_load_stacks(request->session, error) &&
           add_selves(request->session, &all, false, made, error) &&
           add_selves(request->session, &passing, true, made, error) &&
           add_totals(request->session, &all, made, error);
    FREE_ALL(all.rows, passing.rows);
    if (good)
        *functions = made;
    else
        free(made);
    return good;
}

/* ---- the table ---- */

static int by_total(const void *left, const void *right)
{
    const struct session_function_row *a = left, *b = right;
    return ORDER(b->total_bytes, a->total_bytes) ?: ORDER(b->self_bytes, a->self_bytes) ?: ORDER(a->function, b->function);
}

static void add_row(struct session *session, const struct session_function_row *row,
                    const struct function_variances *variances, const uint64_t *resident,
                    struct document *document)
{
    const uint64_t sums[SUMS] = {row->self_bytes,    row->self_count, row->total_bytes,
                                 row->total_count,   row->live_bytes, row->live_count,
                                 row->at_peak_bytes, row->short_lived};
    for (size_t i = 0; i < SUMS; i++)
        document_sum(document, sums[i], variances ? sqrt(variances[row->function].of[i]) : -1);
    if (resident)
        document_number(document, resident[row->function]);
    document_text(document, row->function ? session_function_name(session, row->function) : NULL);
    document_text(document, row->function ? session_function_module(session, row->function) : NULL);
    const char *place = session_function_place(session, row->function);
    document_text(document, *place ? place : NULL);
}

bool report_functions(const struct report_request *request, struct document *document,
                      struct session_error *error)
{
    static const struct document_column columns[] = {{"self_bytes", NULL, VALUE_BYTES, NULL},
                                                     {"self_count", NULL, VALUE_NUMBER, NULL},
                                                     {"total_bytes", NULL, VALUE_BYTES, NULL},
                                                     {"total_count", NULL, VALUE_NUMBER, NULL},
                                                     {"live_bytes", NULL, VALUE_BYTES, NULL},
                                                     {"live_count", NULL, VALUE_NUMBER, NULL},
                                                     {"at_peak_bytes", NULL, VALUE_BYTES, NULL},
                                                     {"short_lived", NULL, VALUE_NUMBER, NULL},
                                                     {"at_peak_resident", NULL, VALUE_BYTES, NULL},
                                                     {"function", NULL, VALUE_NAME, NULL},
                                                     {"module", NULL, VALUE_TEXT, NULL},
                                                     {"place", NULL, VALUE_TEXT, NULL}};
    enum { COLUMNS = sizeof(columns) / sizeof(*columns) };
    struct document_column shown[COLUMNS];
    uint64_t *resident = NULL;
    size_t functions, used = 0;
    struct session_function_row *rows = NULL;
    struct function_variances *variances = NULL;
    size_t count = 0;
    struct graph_result *result = request_run(request, request->session, NULL, NULL, error);
    struct selection *selection = result ? graph_result_selection(result) : NULL;
    if (!selection || !find_variances(request, &variances, error) ||
        !selection_functions(selection, &rows, &count, error) ||
        !selection_functions_resident(selection, session_peak_ns(request->session), false,
                                      &resident, &functions, error)) {
        FREE_ALL(rows, variances);
        graph_result_free(result);
        return false;
    }
    if (count > 0)
        qsort(rows, count, sizeof(*rows), by_total);
    for (size_t i = 0; i < COLUMNS; i++)
        if (resident || i != SUMS)
            shown[used++] = columns[i];
    document_table(document, "functions", "Functions", shown, used);
    for (size_t i = 0; i < count && (request->top == 0 || i < request->top); i++)
        add_row(request->session, &rows[i], variances, resident, document);
    document_rows(document, count);
    FREE_ALL(resident, rows, variances);
    graph_result_free(result);
    return true;
}
