/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorded blocks of a sampled session stand for: each for a number of blocks that follows
 * from its size (trace-format.md, "Sampling"), so that sums are right on average.
 *
 * The number of a row is whole, rounded up or down by its id so that many rows together are right;
 * sums over parts of a set thus add up, and what was allocated is what was freed and what is live.
 */
#ifndef MPROF_SESSION_ESTIMATE_H
#define MPROF_SESSION_ESTIMATE_H

#include <stdint.h>

#include "session/column_store.h"

struct estimate;

/* `mean`: bytes between sample points, more than 0. NULL where memory is exhausted. */
struct estimate *estimate_new(uint64_t mean);
void estimate_free(struct estimate *estimate);

/*
 * For the rows of a chunk, of which `size` is the column of sizes and the first has `first_row`
 * rows before it: the bytes that each stands for, and the number of blocks. `estimate` NULL: the
 * rows as they are, each for one. The views hold until the next call.
 */
void estimate_chunk(struct estimate *estimate, uint64_t first_row, const struct column_view *size,
                    struct column_view *bytes, struct column_view *counts);

#endif
