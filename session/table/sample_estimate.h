/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates what a filter selects from the sample of rows that ingest has stored
 * (schemas/columns.md, "The sample"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct selection_estimate {
    uint64_t allocations, bytes, live_count, live_bytes; /* as of a selection */
    /* Standard errors: two times in three the right number is nearer than this. */
    double allocations_error, bytes_error, live_count_error, live_bytes_error;
    uint64_t rows; /* of the sample that the filter selects */
};

/* Estimates the selection of `text`. *known is false if there is no estimate: the session has no
 * sample (it is small, or was sampled itself), one of several processes is selected, or the graph
 * asks for more than a choice among all rows (top, groups, other sessions, ids, pins). Returns
 * false with `error` set, as for a bad filter. */
bool selection_estimate(struct session *session, const char *text,
                        struct selection_estimate *estimate, bool *known,
                        struct session_error *error);
