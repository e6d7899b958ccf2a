/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers questions about all allocations of the process heap from the sums that ingest has made,
 * without a look at the rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "session/store/scan.h"

/* Returns true if the sums answer now. They do not if the session is a sample (its views show
 * estimates), if one of several processes is selected, if the processes ran on several machines, if
 * a live session has left out rows, or if the sums are missing. */
bool summary_answers(struct session *session);

/* Adds the sums of all functions to rows[0 … functions - 1], by function id, and sets `function` of
 * those that occur. Returns false with `error` set. */
bool summary_functions(struct session *session, struct session_function_row *rows,
                       uint32_t functions, struct session_error *error);

/* The sums of one category of a colouring: a function, a type or a class of sizes. */
struct summary_sum {
    uint64_t bytes, allocations, at_peak_bytes;
};
/* Adds the sums of all categories to sums[0 … count - 1]: by function id, by type id, or by the
 * power of two that a size fits into; without a colouring there is only category 0. Sets *known to
 * false for other colourings, which ingest does not sum up. Returns false with `error` set. */
bool summary_categories(struct session *session, enum session_color_by by, struct summary_sum *sums,
                        uint32_t count, bool *known, struct session_error *error);

/* ---- totals ---- */

/* Totals of selected rows of a recording that is not sampled: each row is one block. Each thread of
 * a pass has totals of its own, which begin as zeros and are merged after the pass. */

struct row_totals {
    uint64_t bytes, allocations;
    uint64_t live_bytes, live_count; /* of the blocks that were never freed */
};

/* Adds the rows of a chunk whose bits are set in `words` (ROW_SET_WORDS words). Reads no column for
 * none, nor one that the worker has read for this chunk. False with `error` set. */
bool row_totals_add(struct row_totals *totals, struct scan_worker *worker, uint32_t chunk,
                    const uint64_t *words, struct session_error *error);
/* Adds the totals of another thread. */
void row_totals_merge(struct row_totals *all, const struct row_totals *other);

/* ---- the bytes of each type that none of its members covers ---- */

/* Reads the padding of one object of each type, by type id, from the tables `type` and
 * `type_member`. 0 if size or members are unknown. Free it. NULL with `error` set. */
uint64_t *type_padding_read(struct session *session, struct session_error *error);
