/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the exact peak of a selection without sorting all events. Time is cut into buckets, up to
 * 2^20. One pass sums the bytes that each bucket allocates and frees. This gives the live bytes at
 * every boundary and an upper bound for each bucket. Only buckets whose bound reaches the largest
 * value at a boundary can hold the peak: another pass collects their events, which are sorted and
 * swept. It reads only the chunks that can have such events. In one nanosecond frees come before
 * allocations, because "live at t" means alloc <= t < free.
 *
 * The first pass belongs to the caller, who may need the rows for something else, too. Order of
 * calls: peak_search_new(); peak_search_add() for all selected rows, by several threads with sums
 * of their own; peak_search_end(); peak_search_free().
 */
#ifndef MPROF_SESSION_QUERY_PEAK_SEARCH_H
#define MPROF_SESSION_QUERY_PEAK_SEARCH_H

#include "session/query/selection_state.h"
#include "session/scan/kernels.h"

struct peak_search;
struct peak_sum; /* of one bucket */

/* The values of some rows. */
struct peak_rows {
    struct kernel_rows rows;
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], bytes[KERNEL_ROWS];
};

/* `here` tells which rows count, by their thread; NULL: all do. Returns NULL with `error` set. */
struct peak_search *peak_search_new(const struct selection *selection, const uint8_t *here,
                                    struct session_error *error);
void peak_search_free(struct peak_search *search);

/* Returns the bytes of the sums of one thread, which are 0 at first. */
size_t peak_search_size(const struct peak_search *search);
/* Adds the rows of a block. They must be those that count. */
void peak_search_add(const struct peak_search *search, struct peak_sum *sums,
                     const struct peak_rows *rows);

/*
 * Finds the peak from the sums of all threads. Raises peak_bytes and peak_ns of the selection to
 * it, or to an earlier moment with as many bytes. Returns false with `error` set.
 */
bool peak_search_end(struct peak_search *search, struct peak_sum *const *sums, size_t threads,
                     struct selection *selection, struct session_error *error);

/* Does the first pass, too. */
bool peak_search_whole(struct peak_search *search, struct selection *selection,
                       struct session_error *error);

#endif
