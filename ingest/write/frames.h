/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the frames of the stacks of several processes, which become one session, in a separate file
 * until the last process is done: writer_frames_begin(), the nodes and then the runs of each
 * process, writer_frames_each(), writer_frames_end().
 */
#ifndef MPROF_INGEST_WRITE_FRAMES_H
#define MPROF_INGEST_WRITE_FRAMES_H

#include "ingest/replay/stack_nodes.h"
#include "ingest/write/records.h"

/* A row of one of the tables. */
struct writer_frame {
    union {
        struct stack_node_row node;
        struct stack_run_row run;
    };
    uint32_t is_run;
};

struct writer_frames {
    struct writer_records records; /* with the errno of the first failure */
    /* Added to the ids of the session that is read. */
    uint64_t first_stack, first_frame, first_node;
    uint64_t nodes; /* of all sessions so far */
};

/* Begins with an empty file. False with the error of the records set, like the next functions. */
bool writer_frames_begin(struct writer_frames *frames, int descriptor);

/* Add a row. The rows of one session come as in its tables. */
bool writer_frames_add_node(struct writer_frames *frames, const struct stack_node_row *row);
bool writer_frames_add_run(struct writer_frames *frames, const struct stack_run_row *row);

/* Calls `each` for all rows, in the order in which they were added. False also if `each` returned
 * false. */
bool writer_frames_each(struct writer_frames *frames,
                        bool (*each)(void *context, const struct writer_frame *row), void *context);
void writer_frames_end(struct writer_frames *frames);

#endif
