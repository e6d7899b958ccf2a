/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the rows of `sample_chunk` (schemas/columns.md, "The sample") in one pass, in bounded
 * memory.
 *
 * Three samples of fixed size are joined: each row counts alike in the first, by its size in the
 * second, by size × lifetime in the third. A row enters a sample if its random number divided by
 * its weight is among the smallest (bottom-k sampling, Cohen and Kaplan, PODC 2007). Given the
 * bound that results, each row is in the sample with a known probability, so that sums divided by
 * it are right on average. The random numbers follow from the row's id: the same rows give the same
 * sample.
 *
 * Order of calls: row_sample_new(), row_sample_add() for each batch, row_sample_put(),
 * row_sample_free(). */
#pragma once

#include <sqlite3.h>

#include "ingest/replay/row_batch.h"

/* The fewest rows for a sample: fewer are read as fast. */
#define ROW_SAMPLE_FEWEST (UINT64_C(1) << 22)

struct row_sample;

/* `duration_ns` ends the lifetimes of blocks that were never freed. NULL if memory is exhausted. */
struct row_sample *row_sample_new(uint64_t duration_ns);
void row_sample_free(struct row_sample *sample);
void row_sample_add(struct row_sample *sample, const struct row_batch *batch);
/* Writes the table, unless there were fewer rows than ROW_SAMPLE_FEWEST. `batch` is room to work
 * in. Returns SQLite's code. */
int row_sample_put(struct row_sample *sample, sqlite3 *database, struct row_batch *batch);
