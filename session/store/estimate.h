/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates the program's blocks from those of a sampled session. Each recorded block represents
 * a number of blocks that follows from its size (trace-format.md, "Sampling"), so sums are right on
 * average.
 *
 * The number of a row is a whole number. It is rounded up or down by the row's id, so sums of many
 * rows are right. Sums over parts of a set add up: allocated is freed plus live.
 *
 * An estimate does not change once it is made: any thread may use it. */
#pragma once

#include <stdint.h>

#include "session/store/column_store.h"

struct estimate;

/* The values of one chunk's rows. Each thread has its own. */
struct estimate_rows {
    uint64_t bytes[COLUMN_CHUNK_ROWS], counts[COLUMN_CHUNK_ROWS];
};

/* `mean` is the bytes between sample points, more than 0. Returns NULL if memory is exhausted. */
struct estimate *estimate_new(uint64_t mean);
void estimate_free(struct estimate *estimate);

/* Returns the number of blocks that a recorded one of the size represents. */
double estimate_weight(const struct estimate *estimate, uint64_t size);

/* Gives the bytes and the number of blocks that each row of a chunk represents. `size` is the
 * chunk's column of sizes, `first_row` the number of rows before the chunk. The views point into
 * `rows`. If `estimate` is NULL, each row represents itself and `rows` may be NULL. */
void estimate_chunk(const struct estimate *estimate, uint64_t first_row,
                    const struct column_view *size, struct estimate_rows *rows,
                    struct column_view *bytes, struct column_view *counts);
