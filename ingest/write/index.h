/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the index of `allocation` by stack and type, by counting sort. The rows of each pair of
 * stack and type are counted while they are written, so the place of each row is known. Then the
 * column chunks are read again, and each row goes to its place. If there are more rows than fit
 * into a fixed amount of memory, the columns are read several times, each time for a range of
 * pairs.
 *
 * Order of calls: writer_index_count() for each batch, writer_index_build() when SQLite can read
 * the column chunks, writer_index_free(). A zero-initialized index is empty.
 */
#ifndef MPROF_INGEST_WRITE_INDEX_H
#define MPROF_INGEST_WRITE_INDEX_H

#include "ingest/base/array.h"
#include "ingest/replay/row_batch.h"
#include "ingest/write/btree.h"

/* The rows with one stack and one type. */
struct stack_index_pair {
    uint32_t stack, type;
    uint64_t rows;
    uint64_t next; /* place of the pair's next row, while the index is built */
};

struct stack_index {
    struct stack_index_pair *pairs;
    size_t count, capacity;
    struct index_map by_pair;
    uint32_t *by_stack; /* the pair of the stack's last row + 1, 0: none */
    size_t by_stack_capacity;
};

/* Counts the rows of a batch. False if memory is exhausted. */
bool writer_index_count(struct stack_index *index, const struct row_batch *batch);

/*
 * Puts an entry for each row into `tree`, from the column chunks of the database `path`. Calls
 * `stop` from time to time. False with the error of the tree's pages set: EIO if the columns cannot
 * be read, EINTR if `stop` returned true.
 */
bool writer_index_build(struct stack_index *index, const char *path, struct writer_btree *tree,
                        bool (*stop)(const void *context), const void *context);
void writer_index_free(struct stack_index *index);

#endif
