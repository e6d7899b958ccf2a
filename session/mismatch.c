/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the most frequent mismatch: blocks freed by a function that does not match their
 * allocation.
 */
#include <stdio.h>

#include "session/model.h"

static bool read_worst(void *context, const struct database_row *row, struct session_error *error)
{
    struct session_mismatch *worst = context;
    const char *kind = database_text(row, 0), *freed_by = database_text(row, 1);
    const char *function = database_text(row, 2);
    (void)error;
    snprintf(worst->kind, sizeof(worst->kind), "%s", kind ? kind : "?");
    snprintf(worst->freed_by, sizeof(worst->freed_by), "%s", freed_by ? freed_by : "?");
    snprintf(worst->function, sizeof(worst->function), "%s", function ? function : "?");
    worst->allocations = (uint64_t)database_number(row, 3);
    return true;
}

bool session_worst_mismatch(const struct session *session, struct session_mismatch *worst,
                            struct session_error *error)
{
    worst->allocations = 0;
    if (session_meta_number(session, "mismatched_frees") <= 0)
        return true;
    return database_each(session->database,
                         "SELECT kind, freed_by, function, sum(allocations) FROM v_mismatch "
                         "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 1",
                         read_worst, worst, error);
}
