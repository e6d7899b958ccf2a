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

#include <sqlite3.h>

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

/*
 * Reads the column chunks of a session that is being written, while SQLite can read the file.
 *
 * Order of calls: writer_columns_open() or writer_columns_begin(), the others, always
 * writer_columns_close().
 */

struct writer_columns {
    sqlite3 *database; /* NULL: it is not ours */
    sqlite3_stmt *query;
    bool failed; /* a chunk could not be read */
};

/* Returns false if the database `path` cannot be read. */
bool writer_columns_open(struct writer_columns *columns, const char *path);
/* Reads by an open database, which stays open. Returns SQLite's code. */
int writer_columns_begin(struct writer_columns *columns, sqlite3 *database);
void writer_columns_close(struct writer_columns *columns);

/*
 * Reads the values of one column of a chunk. `life`: the lifetimes if it is the column alloc_ns,
 * otherwise NULL. `values` has room for COLUMN_CHUNK_ROWS. Returns how many there are, 0 after the
 * last chunk or with `failed` set.
 */
size_t writer_columns_read(struct writer_columns *columns, uint64_t chunk, unsigned column,
                           const uint64_t *life, uint64_t *values);
/* Reads all columns of a chunk. Returns false if they cannot be read. */
bool writer_columns_read_batch(struct writer_columns *columns, uint64_t chunk,
                               struct row_batch *batch);

#endif
