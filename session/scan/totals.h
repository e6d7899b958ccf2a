/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals of selected rows of a recording that is not sampled: each row is one block. Each thread of
 * a pass has totals of its own, which begin as zeros and are merged after the pass.
 */
#ifndef MPROF_SESSION_SCAN_TOTALS_H
#define MPROF_SESSION_SCAN_TOTALS_H

#include "session/scan/scan.h"

struct row_totals {
    uint64_t bytes, allocations;
    uint64_t live_bytes, live_count; /* of the blocks that were never freed */
};

/* Adds the rows of a chunk whose bits are set in `words` (ROW_SET_WORDS words). Reads no column if
 * there are none, and those that the worker has read for this chunk not again. Returns false with
 * `error` set. */
bool row_totals_add(struct row_totals *totals, struct scan_worker *worker, uint32_t chunk,
                    const uint64_t *words, struct session_error *error);
/* Adds the totals of another thread. */
void row_totals_merge(struct row_totals *all, const struct row_totals *other);

#endif
