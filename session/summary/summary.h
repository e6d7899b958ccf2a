/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers questions about all allocations of the process heap from the sums that ingest has made,
 * without a look at the rows.
 */
#ifndef MPROF_SESSION_SUMMARY_SUMMARY_H
#define MPROF_SESSION_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * Returns true if the sums answer now. They do not if the session is a sample (its views show
 * estimates), if one of several processes is selected, if the processes ran on several machines, if
 * a live session has left out rows, or if the sums are missing.
 */
bool summary_answers(struct session *session);

/*
 * Adds the sums of all functions to rows[0 … functions - 1], by function id, and sets `function` of
 * those that occur. Returns false with `error` set.
 */
bool summary_functions(struct session *session, struct session_function_row *rows,
                       uint32_t functions, struct session_error *error);

/* The sums of one category of a colouring: a function, a type or a class of sizes. */
struct summary_sum {
    uint64_t bytes, allocations, at_peak_bytes;
};
/*
 * Adds the sums of all categories to sums[0 … count - 1]: by function id, by type id, or by the
 * power of two that a size fits into; without a colouring there is only category 0. Sets *known to
 * false for other colourings, which ingest does not sum up. Returns false with `error` set.
 */
bool summary_categories(struct session *session, enum session_color_by by, struct summary_sum *sums,
                        uint32_t count, bool *known, struct session_error *error);

#endif
