/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the frames of the stacks of several processes, which become one session, in a separate file
 * until the last process is done: writer_frames_begin(), the nodes and then the runs of each
 * process, writer_frames_each(), writer_frames_end(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/replay/stack_nodes.h"
#include "ingest/write/btree.h"

/* Keeps records of one size in a separate file until all processes of a run are read:
 * writer_records_begin(), writer_records_add(), then writer_records_read(),
 * writer_records_end(). */

struct writer_records {
    int descriptor; /* of the file, empty at first; owned by the caller */
    size_t size;    /* of a record */
    char *waiting;  /* not written yet */
    size_t waiting_count;
    uint64_t written;
    int error; /* errno of the first failure, 0: none */
};

/* The number of records that are written at once, and the most that one call reads. */
enum { WRITER_RECORDS_MAX = 8192 };

/* Begins with an empty file. False with `error` set, like the next functions. */
bool writer_records_begin(struct writer_records *records, int descriptor, size_t size);
bool writer_records_add(struct writer_records *records, const void *record);

/* Returns the number of records that were added. */
static inline uint64_t writer_records_count(const struct writer_records *records)
{
    return records->written + records->waiting_count;
}

/* Reads `count` records into `to`, from the one with the index `first` on. They were added before
 * the last call of writer_records_flush(). */
bool writer_records_read(struct writer_records *records, uint64_t first, size_t count, void *to);
bool writer_records_flush(struct writer_records *records);
void writer_records_end(struct writer_records *records);

/* ---- frames -------------------------------------------------------------------------------- */

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

/* Calls `each` for all rows, in the order of their adding. False also if `each` did. */
bool writer_frames_each(struct writer_frames *frames,
                        bool (*each)(void *context, const struct writer_frame *row), void *context);
void writer_frames_end(struct writer_frames *frames);

/* Writes stack_node and stack_run, the frames of all stacks, into the trees of the two tables
 * (btree.h), while SQLite has the file closed.
 *
 * Order of calls: writer_frame_tables_open(), all nodes by ascending id, all runs by ascending
 * stack and then by depth, writer_frame_tables_finish(), and always writer_frame_tables_close().
 * They return false with the error of the pages set. */

/* The root pages of the two tables. */
struct writer_frame_roots {
    uint32_t stack_node, stack_run;
};

struct writer_frame_tables {
    struct writer_btree nodes, runs;
};

/* `pages` must outlive the tables. */
void writer_frame_tables_open(struct writer_frame_tables *tables, struct writer_pages *pages,
                              struct writer_frame_roots roots);
bool writer_frame_tables_node(struct writer_frame_tables *tables, const struct stack_node_row *row);
bool writer_frame_tables_run(struct writer_frame_tables *tables, const struct stack_run_row *row);
bool writer_frame_tables_finish(struct writer_frame_tables *tables);
void writer_frame_tables_close(struct writer_frame_tables *tables);
