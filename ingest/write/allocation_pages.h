/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the rows of `allocation`, their column chunks and the index by stack, as pages of a
 * database file that SQLite has made and closed.
 *
 * Order of calls: writer_allocation_pages_open(), writer_allocation_pages_put() for each batch in
 * order of ids, writer_allocation_pages_finish(), after which the file is a database again, and
 * always writer_allocation_pages_close().
 */
#ifndef MPROF_INGEST_WRITE_ALLOCATION_PAGES_H
#define MPROF_INGEST_WRITE_ALLOCATION_PAGES_H

#include "ingest/replay/row_batch.h"
#include "ingest/write/btree.h"
#include "ingest/write/index.h"
#include "ingest/write/packed.h"

/* Root pages of the trees that are filled; they must be empty. */
struct writer_roots {
    uint32_t allocation;
    uint32_t column_chunk;     /* 0: neither columns nor an index are wanted */
    uint32_t allocation_stack; /* 0: no index is wanted */
};

struct writer_allocation_pages {
    struct writer_pages pages;
    struct writer_btree allocation, column_chunk;
    struct writer_roots roots;
    struct stack_index index;
    struct writer_directory directory; /* of the chunks; kept until the end */
    uint8_t *packed; /* one column of one chunk, after room for the beginning of its record */
};

/* Begins. The caller keeps `descriptor`. False with writer_allocation_pages_error() set. */
bool writer_allocation_pages_open(struct writer_allocation_pages *tables, int descriptor,
                                  struct writer_roots roots);
bool writer_allocation_pages_put(struct writer_allocation_pages *tables,
                                 const struct row_batch *batch);

/* Finishes the trees. `path` names the same file. `stop` is as for writer_index_build(). */
bool writer_allocation_pages_finish(struct writer_allocation_pages *tables, const char *path,
                                    bool (*stop)(const void *context), const void *context);
void writer_allocation_pages_close(struct writer_allocation_pages *tables);

/* Returns the message of the first error. */
const char *writer_allocation_pages_error(const struct writer_allocation_pages *tables);

#endif
