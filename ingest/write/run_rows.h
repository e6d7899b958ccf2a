/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the rows of all processes of a run into one session, one process after another: ids continue
 * from process to process, and equal types become one.
 *
 * Order of calls: writer_run_rows_begin() for each process, its rows through
 * writer_run_rows_sink(), writer_run_rows_end(); after the last one writer_run_rows_finish();
 * always writer_run_rows_free(). A zero-initialized struct, but for `sink`, is ready.
 */
#ifndef MPROF_INGEST_WRITE_RUN_ROWS_H
#define MPROF_INGEST_WRITE_RUN_ROWS_H

#include "ingest/replay/row_batch.h"
#include "ingest/replay/type_table.h"

struct writer_run_rows {
    struct row_sink sink;    /* of the session */
    struct row_batch *batch; /* the one that is not full */
    size_t joined;           /* rows of it that have the session's ids */
    uint64_t rows;           /* in the session */
    /* What is added to the times and ids of the present process: */
    uint64_t later_ns, first_stack, first_thread, first_arena;
    const struct type_table *types; /* of the process */
    /* All types, by id - 1. */
    struct run_type {
        char *name, *element;
        uint64_t size;
        enum types_confidence confidence;
    } * known;
    size_t known_count, known_capacity;
    struct index_map by_name;
    /* The session's type ids by those of the processes, one process after another. */
    uint32_t *ids;
    size_t id_count, id_capacity, first_id; /* first_id: of the present process */
    bool failed;                            /* memory is exhausted */
};

/* Begins with a process, whose types grow while its rows are put. */
void writer_run_rows_begin(struct writer_run_rows *rows, const struct type_table *types);
struct row_sink writer_run_rows_sink(struct writer_run_rows *rows);
/* Ends it: all its types have an id in the session now, rows->ids[rows->first_id + its id]. False
 * if memory is exhausted. */
bool writer_run_rows_end(struct writer_run_rows *rows);
/* Gives the last batch to the session. False if the session failed. */
bool writer_run_rows_finish(struct writer_run_rows *rows);
void writer_run_rows_free(struct writer_run_rows *rows);

#endif
