/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates the program's blocks from those of a sampled session. Each recorded block represents
 * a number of blocks that follows from its size (trace-format.md, "Sampling"), so sums are right on
 * average.
 *
 * The number of a row is a whole number. It is rounded up or down by the row's id, so sums of many
 * rows are right. Sums over parts of a set add up: allocated is freed plus live.
 */
#ifndef MPROF_SESSION_QUERY_ESTIMATE_H
#define MPROF_SESSION_QUERY_ESTIMATE_H

#include <stdint.h>

#include "session/data/column_store.h"

struct estimate;

/* `mean` is the bytes between sample points, more than 0. Returns NULL if memory is exhausted. */
struct estimate *estimate_new(uint64_t mean);
void estimate_free(struct estimate *estimate);

/*
 * Gives the bytes and the number of blocks that each row of a chunk represents. `size` is the
 * chunk's column of sizes, `first_row` the number of rows before the chunk. If `estimate` is NULL,
 * each row represents itself. The views are valid until the next call.
 */
void estimate_chunk(struct estimate *estimate, uint64_t first_row, const struct column_view *size,
                    struct column_view *bytes, struct column_view *counts);

#endif
