/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the session file. Only the writer knows about SQLite.
 *
 * Order of calls: writer_open(), batches through writer_sink() (a second thread writes them),
 * writer_rows_done(), writer_put_frame() for the stacks, writer_put_stack_sums(),
 * writer_frames_done(), writer_put() for all other tables, writer_commit(), and always
 * writer_close() in the end, which removes a session that was not committed.
 *
 * The session is an output_file, so the file of that name is always a whole session.
 */
#ifndef MPROF_INGEST_WRITE_WRITER_H
#define MPROF_INGEST_WRITE_WRITER_H

#include <signal.h>

#include "ingest/base/status.h"
#include "ingest/replay/row_batch.h"
#include "ingest/write/frames.h"
#include "ingest/write/table_sink.h"

struct stack_usages;
struct stacks;

enum writer_index { WRITER_INDEX_NONE, WRITER_INDEX_STACK, WRITER_INDEX_ALL };

struct writer_options {
    bool force;       /* replace an existing session */
    const char *name; /* of the session in messages; NULL: the target */
    enum writer_index index;
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    /*
     * Receives the frames of the stacks of a draft, a session that becomes a part of another one
     * (merge.h). A draft has no indexes of allocation, and none of the data that is derived
     * from the rows of all parts. NULL: the session is not a draft.
     */
    struct writer_frames *draft;
    bool forget; /* do not carry over what the user stored in the replaced session */
    void (*tell)(const char *text); /* receives a line for the user; may be NULL */
};

struct writer;

/*
 * Opens a new session. NULL with `status` set. `status` must outlive the writer: a failure of the
 * second thread is put there at the next use of the sink, or by writer_rows_done().
 */
struct writer *writer_open(const char *target, const struct writer_options *options,
                           struct ingest_status *status);
struct row_sink writer_sink(struct writer *writer);
/* Also takes a sample of the rows (row_sample.h), if there are enough of them. Call it before the
 * first batch. `events` is not less than the number of rows. */
bool writer_sample_rows(struct writer *writer, uint64_t duration_ns, uint64_t events);
/* Returns the bytes of the session that are written so far. */
uint64_t writer_bytes(const struct writer *writer);

bool writer_rows_done(struct writer *writer);
/* Puts one frame of a stack. Frames come by ascending stack and then by depth. */
bool writer_put_frame(struct writer *writer, uint64_t stack, uint64_t frame);
/* Puts what is summed up from the stacks, whose usage is final, after the frames: the calling
 * context tree, the types of each stack and size. */
bool writer_put_stack_sums(struct writer *writer, const struct stacks *stacks,
                           const struct stack_usages *usages);
bool writer_frames_done(struct writer *writer);
bool writer_put(struct writer *writer, enum writer_table table, const struct writer_value *values,
                size_t count);
/* Returns a sink that calls writer_put(). */
struct table_sink writer_tables(struct writer *writer);
/*
 * Builds the indexes, writes statistics for SQLite's planner, closes the file and gives it its
 * name.
 */
bool writer_commit(struct writer *writer);
void writer_close(struct writer *writer);

#endif
