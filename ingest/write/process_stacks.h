/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the stacks that each process of a session allocated by: packed array 6 of
 * schemas/columns.md. Only sessions of several processes have it.
 */
#ifndef MPROF_INGEST_WRITE_PROCESS_STACKS_H
#define MPROF_INGEST_WRITE_PROCESS_STACKS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "ingest/replay/row_batch.h"

struct process_stacks {
    struct process_range {
        uint64_t first, last; /* ids of its rows; 0: it has none */
        uint32_t stacks;
    } * processes; /* by id - 1 */
    size_t count, capacity, current;
    uint32_t *seen; /* by stack: the last process that used it, 0: none */
    size_t seen_capacity;
};

/* Reads the processes. All bytes 0 before. Returns SQLite's code, as
 * process_stacks_put() does. */
int process_stacks_open(struct process_stacks *stacks, sqlite3 *database);
/* Counts the rows of a batch. Batches come by ids. False if memory is exhausted. */
bool process_stacks_add(struct process_stacks *stacks, const struct row_batch *batch);
int process_stacks_put(const struct process_stacks *stacks, sqlite3 *database);
void process_stacks_free(struct process_stacks *stacks);

#endif
