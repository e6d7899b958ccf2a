/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up allocations by the threads that allocated and freed them. */
#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/spread.h"
#include "session/tables/sums.h"

uint32_t session_thread_process(const struct session *session, uint32_t thread)
{
    const struct names *names = &session->names;
    return thread < names->thread.count ? names->thread_process[thread] : 0;
}

static void by_threads(const void *context, const struct table_rows *rows, struct code *codes)
{
    (void)context;
    for (size_t i = 0; i < rows->count; i++)
        codes[i] =
            (struct code){rows->value[COLUMN_THREAD][i], rows->value[COLUMN_LIFE_NS][i] == 0
                                                             ? SESSION_NO_THREAD
                                                             : rows->value[COLUMN_FREE_THREAD][i]};
}

static int compare_handovers(const void *left, const void *right)
{
    const struct session_handover *a = left;
    const struct session_handover *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->free_thread < b->free_thread ? -1 : a->free_thread > b->free_thread;
}

bool selection_handovers(struct selection *selection, struct session_handover **rows, size_t *count,
                         struct session_error *error)
{
    const struct table_spec spec = {
        .columns = COLUMN_BIT(COLUMN_THREAD) | COLUMN_BIT(COLUMN_FREE_THREAD), .key = by_threads};
    struct table_sums sums;
    if (!table_sums(selection, &spec, &sums, error))
        return false;
    *count = sums.codes.count;
    *rows = calloc(*count + 1, sizeof(**rows));
    for (size_t i = 0; *rows && i < *count; i++)
        (*rows)[i] = (struct session_handover){
            (uint32_t)sums.codes.codes[i].low, (uint32_t)sums.codes.codes[i].high,
            sums.sums[i].allocations, sums.sums[i].bytes, sums.sums[i].at_peak_bytes};
    table_sums_free(&sums);
    if (!*rows)
        return session_fail_memory(error, "the threads");
    qsort(*rows, *count, sizeof(**rows), compare_handovers);
    return true;
}
