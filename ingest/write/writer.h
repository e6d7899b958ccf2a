/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the session file. Only the writer knows about SQLite.
 *
 * Order of calls: writer_open(), batches through writer_sink() (a second thread writes them),
 * writer_rows_done(), writer_put_frame() for the stacks, writer_put_stack_sums(),
 * writer_frames_done(), writer_put() for all other tables, writer_commit(), and always
 * writer_close() in the end, which removes a session that was not committed.
 *
 * The session is an output_file, so the file of that name is always a whole session. */
#pragma once

#include <signal.h>

#include "ingest/base/status.h"
#include "ingest/replay/residency.h"
#include "ingest/replay/row_batch.h"
#include "ingest/replay/totals_log.h"
#include "ingest/replay/type_table.h"
#include "ingest/write/database.h"
#include "ingest/write/frames.h"
#include "ingest/write/table_sink.h"

/* ---- run rows ------------------------------------------------------------------------------ */

/* Puts the rows of all processes of a run into one session, one process after another: ids continue
 * from process to process, and equal types become one.
 *
 * Order of calls: writer_run_rows_begin() for each process, its rows through
 * writer_run_rows_sink(), writer_run_rows_end(); after the last one writer_run_rows_finish();
 * always writer_run_rows_free(). A zero-initialized struct, but for `sink`, is ready. */

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
/* Ends it: all its types have an id in the session now, rows->ids[rows->first_id + its id]. False
 * if memory is exhausted. */
bool writer_run_rows_end(struct writer_run_rows *rows);
/* Gives the last batch to the session. False if the session failed. */
bool writer_run_rows_finish(struct writer_run_rows *rows);
void writer_run_rows_free(struct writer_run_rows *rows);

/* ---- writer -------------------------------------------------------------------------------- */

struct call_tree;
struct stack_usages;
struct stacks;

/* The parts of a run that its processes share. */
struct writer_run {
    struct writer_run_rows rows;
    struct writer_frames frames; /* of the stacks */
    struct writer_records sums;  /* rows of residency_stack: writer_residency_rows_pages() */
    uint64_t moments;            /* of all processes so far */
    struct writer_records frees; /* of blocks that may be inherited: struct writer_free */
    struct totals_log log;       /* of the sums */
};

enum writer_index { WRITER_INDEX_NONE, WRITER_INDEX_STACK, WRITER_INDEX_ALL };

struct writer_options {
    bool force;       /* replace an existing session */
    const char *name; /* of the session in messages; NULL: the target */
    enum writer_index index;
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    /* The session is a draft, which becomes a part of the session of a run (merge.h). It has
     * neither rows nor frames of stacks nor frees of inherited blocks, which go to the run, and
     * none of the data that is derived from the rows of all parts. NULL: it is a session of its
     * own. */
    struct writer_run *run;
    bool forget; /* do not carry over what the user stored in the replaced session */
    void (*tell)(const char *text); /* receives a line for the user; may be NULL */
};

struct writer;

/* Opens a new session. NULL with `status` set. `status` must outlive the writer: a failure of the
 * second thread is put there at the next use of the sink, or by writer_rows_done(). */
struct writer *writer_open(const char *target, const struct writer_options *options,
                           struct ingest_status *status);
struct row_sink writer_sink(struct writer *writer);
/* Also takes a sample of the rows (row_sample.h), if there are enough of them. Call it before the
 * first batch. `events` is not less than the number of rows. */
bool writer_sample_rows(struct writer *writer, uint64_t duration_ns, uint64_t events);
/* Returns the bytes of the session that are written so far. */
uint64_t writer_bytes(const struct writer *writer);

bool writer_rows_done(struct writer *writer);
/* Takes the sample of the rows from those that are written: the duration was not known before. */
bool writer_sample_written(struct writer *writer, uint64_t duration_ns);
/* Puts the frames of all stacks, which have their numbers. */
bool writer_put_frames(struct writer *writer, const struct stack_nodes *nodes,
                       const struct stacks *stacks);
/* Puts one row of them. Nodes come by ascending id, runs by stack and then by depth. */
bool writer_put_frame(struct writer *writer, const struct writer_frame *row);
/* Puts what is summed up from the stacks, whose usage is final, after the frames: the calling
 * context tree, the types of each stack and size. */
bool writer_put_stack_sums(struct writer *writer, const struct stack_nodes *nodes,
                           const struct stacks *stacks, const struct stack_usages *usages);
/* Does the same with a tree that is finished. */
bool writer_put_tree(struct writer *writer, const struct call_tree *tree,
                     const struct stack_usages *usages);
/* Puts the sums of all moments, or keeps them if the session is a part of a run. `residency` may be
 * NULL. */
bool writer_put_moment_sums(struct writer *writer, const struct residency *residency);
/* Puts those that were kept. */
bool writer_put_run_moment_sums(struct writer *writer, struct writer_run *run);
bool writer_frames_done(struct writer *writer);
/* Returns a sink that calls writer_put(). */
struct table_sink writer_tables(struct writer *writer);
/* Sets the status: the session cannot be written, because of errno's `error`. Returns false. */
bool writer_fail(struct writer *writer, int error);
/* Returns the database, in which a transaction is open, after writer_frames_done(). */
struct writer_database *writer_database(struct writer *writer);
/* Builds indexes, writes statistics for SQLite's planner, closes and names the file. */
bool writer_commit(struct writer *writer);
void writer_close(struct writer *writer);
