/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of `allocation` by stack and type, sorted without comparing: the rows of each pair of
 * stack and type are counted while they are written, so each one's place is known; then the column
 * chunks are read again and each row goes to its place. Where there are more rows than fit into a
 * fixed memory, the columns are read several times, for a range of pairs each time.
 *
 * Order of calls: writer_index_count() for each batch, writer_index_build() when the column chunks
 * can be read by SQLite, writer_index_free(). Zero-initialised is empty.
 */
#ifndef MPROF_INGEST_WRITER_INDEX_H
#define MPROF_INGEST_WRITER_INDEX_H

#include "ingest/array.h"
#include "ingest/row_batch.h"
#include "ingest/writer_btree.h"

/* Rows with one stack and one type. */
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

/* False where memory is exhausted. */
bool writer_index_count(struct stack_index *index, const struct row_batch *batch);

/*
 * Puts an entry for each row into `tree`, from the column chunks of the database `path`. False with
 * the error of the tree's pages set: EIO where the columns cannot be read, EINTR where `stop`,
 * which is asked now and then, said so.
 */
bool writer_index_build(struct stack_index *index, const char *path, struct writer_btree *tree,
                        bool (*stop)(const void *context), const void *context);
void writer_index_free(struct stack_index *index);

#endif
