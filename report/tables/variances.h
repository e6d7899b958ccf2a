/* SPDX-License-Identifier: BSD-2-Clause */
/* The variances of sampled sums, by stack and type. Blocks are sampled independently of each other,
 * so the variance of a sum over several rows is the sum of theirs. */
#pragma once

#include "report/tables/reports.h"

enum variance_of {
    VARIANCE_ALLOCATIONS,
    VARIANCE_BYTES,
    VARIANCE_LIVE_COUNT,
    VARIANCE_LIVE_BYTES,
    VARIANCE_AT_PEAK_BYTES,
    VARIANCES,
};

struct variance_row {
    uint32_t stack;
    const char *type; /* NULL: not known; as long as the session */
    double of[VARIANCES];
};

struct variances {
    struct variance_row *rows; /* by stack */
    size_t count;
};

/* Reads those of the request's sentence (see request_run()): none if the session is not sampled.
 * Returns false with `error` set; otherwise the caller frees `rows`. */
bool variances_read(const struct report_request *request, const char *set, const char *steps,
                    struct variances *variances, struct session_error *error);

/* Returns the rows of a stack, NULL if there are none, and stores their number. */
const struct variance_row *variances_of_stack(const struct variances *variances, uint32_t stack,
                                              size_t *count);
