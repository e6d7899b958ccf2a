/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/tables/variances.h"

#include <stdlib.h>

#include "schemas/array.h"

ARRAY_ORDER(by_stack, struct variance_row, ORDER(a->stack, b->stack))

static bool read_row(struct session_group_set *set, size_t row, struct variance_row *made,
                     struct session_error *error)
{
    static const enum session_group_measure measures[VARIANCES] = {
        [VARIANCE_ALLOCATIONS] = MEASURE_ALLOCATIONS,
        [VARIANCE_BYTES] = MEASURE_BYTES,
        [VARIANCE_LIVE_COUNT] = MEASURE_LIVE_COUNT,
        [VARIANCE_LIVE_BYTES] = MEASURE_LIVE_BYTES,
        [VARIANCE_AT_PEAK_BYTES] = MEASURE_AT_PEAK_BYTES};
    const struct session_group_key stack = session_group_key(set, row, 0);
    *made = (struct variance_row){.stack = stack.is_null ? 0 : (uint32_t)stack.id,
                                  .type = session_group_key(set, row, 1).text};
    for (size_t i = 0; i < VARIANCES; i++) {
        double standard_error;
        if (!session_group_error(set, row, measures[i], &standard_error, error))
            return false;
        made->of[i] = standard_error * standard_error;
    }
    return true;
}

bool variances_read(const struct report_request *request, const char *set, const char *steps,
                    struct variances *variances, struct session_error *error)
{
    char text[256];
    *variances = (struct variances){.rows = NULL};
    if (!session_sampled(request->session))
        return true;
    snprintf(text, sizeof(text), "%s | join stack, type", steps ? steps : "");
    struct graph_result *result = request_run(request, request->session, set, text, error);
    struct session_group_set *groups = result ? graph_result_groups(result) : NULL;
    const size_t rows = groups ? session_groups_count(groups) : 0;
    bool good = groups != NULL;
    if (good && !(variances->rows = calloc(rows + 1, sizeof(*variances->rows))))
        good = report_fail_memory(error, "the standard errors");
    for (; good && variances->count < rows; variances->count++)
        good = read_row(groups, variances->count, &variances->rows[variances->count], error);
    graph_result_free(result);
    if (good) {
        qsort(variances->rows, variances->count, sizeof(*variances->rows), by_stack);
        return true;
    }
    free(variances->rows);
    *variances = (struct variances){.rows = NULL};
    return false;
}

const struct variance_row *variances_of_stack(const struct variances *variances, uint32_t stack,
                                              size_t *count)
{
    size_t low = 0, high;
    ARRAY_BISECT(low, variances->count, variances->rows[middle].stack < stack);
    for (high = low; high < variances->count && variances->rows[high].stack == stack;)
        high++;
    *count = high - low;
    return *count > 0 ? &variances->rows[low] : NULL;
}
