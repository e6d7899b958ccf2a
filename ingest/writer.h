/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session file: everything that ingest knows about SQLite.
 *
 * Order of calls: writer_open(), batches through writer_sink() (a second thread writes them),
 * writer_rows_done(), writer_put_frame() for stack_frame, writer_frames_done(), writer_put() for
 * all other tables, writer_commit(), and always writer_close() at last, which removes what was not
 * committed.
 *
 * The session is an output_file: there is never half a session under its name.
 */
#ifndef MPROF_INGEST_WRITER_H
#define MPROF_INGEST_WRITER_H

#include <signal.h>

#include "ingest/row_batch.h"
#include "ingest/status.h"
#include "ingest/table_sink.h"
#include "ingest/writer_frames.h"

enum writer_index { WRITER_INDEX_NONE, WRITER_INDEX_STACK, WRITER_INDEX_ALL };

struct writer_options {
    bool force; /* replace an existing session */
    enum writer_index index;
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    /*
     * Of a draft, which becomes a part of another session (writer_merge.h): its rows of stack_frame
     * go there. A draft has no indexes of allocation, and nothing of what is made anew from the
     * rows of all parts. NULL: it is none.
     */
    struct writer_frames *draft;
};

struct writer;

/*
 * NULL with `status` set. `status` is kept: a failure of the second thread is put there when the
 * sink is next used, or by writer_rows_done().
 */
struct writer *writer_open(const char *target, const struct writer_options *options,
                           struct ingest_status *status);
struct row_sink writer_sink(struct writer *writer);
/* Bytes of the session that are written so far. */
uint64_t writer_bytes(const struct writer *writer);

bool writer_rows_done(struct writer *writer);
/* One row of stack_frame: stacks ascend, and the frames of one come in the order of depth. */
bool writer_put_frame(struct writer *writer, uint64_t stack, uint64_t frame);
bool writer_frames_done(struct writer *writer);
bool writer_put(struct writer *writer, enum writer_table table, const struct writer_value *values,
                size_t count);
/* The same for whoever does not care whose tables they are. */
struct table_sink writer_tables(struct writer *writer);
/*
 * Builds the indexes, tells SQLite's planner how large things are, closes the file and gives it
 * its name.
 */
bool writer_commit(struct writer *writer);
void writer_close(struct writer *writer);

#endif
