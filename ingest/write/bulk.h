/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the rows of `allocation`, their column chunks and the index by stack, as pages of a
 * database file that SQLite has made and closed.
 *
 * Order of calls: writer_bulk_open(), writer_bulk_put() for each batch in order of ids,
 * writer_bulk_finish(), after which the file is a database again, and always writer_bulk_close().
 */
#ifndef MPROF_INGEST_WRITE_BULK_H
#define MPROF_INGEST_WRITE_BULK_H

#include "ingest/replay/row_batch.h"
#include "ingest/write/btree.h"
#include "ingest/write/index.h"

/* Root pages of the trees that are filled; they must be empty. */
struct writer_roots {
    uint32_t allocation;
    uint32_t column_chunk;     /* 0: neither columns nor an index are wanted */
    uint32_t allocation_stack; /* 0: no index is wanted */
};

struct writer_bulk {
    struct writer_pages pages;
    struct writer_btree allocation, column_chunk;
    struct writer_roots roots;
    struct stack_index index;
    uint8_t *packed; /* one column of one chunk, after room for the beginning of its record */
};

/* Begins. The caller keeps `descriptor`. False with writer_bulk_error() set. */
bool writer_bulk_open(struct writer_bulk *bulk, int descriptor, struct writer_roots roots);
bool writer_bulk_put(struct writer_bulk *bulk, const struct row_batch *batch);

/* Finishes the trees. `path` names the same file. `stop` is as for writer_index_build(). */
bool writer_bulk_finish(struct writer_bulk *bulk, const char *path,
                        bool (*stop)(const void *context), const void *context);
void writer_bulk_close(struct writer_bulk *bulk);

/* Returns the message of the first error. */
const char *writer_bulk_error(const struct writer_bulk *bulk);

#endif
