/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds inherited blocks, in a session of several processes.
 *
 * A forked process owns a copy of the blocks that were live in its parent. These copies get no
 * rows. Instead the free of such a block refers to the row of the ancestor that allocated it (table
 * inherited_free), and the total that a process inherited is a sum over its ancestors' rows (table
 * process).
 *
 * Ancestors are found by the trace_id that a forked child's trace names. A block belongs to a child
 * if it was live in the parent at some moment of the fork. The child may or may not have a block
 * that another thread allocated or freed during the fork: it has the block if it frees it. A block
 * of a more distant ancestor must not have been freed by the processes in between before they
 * forked.
 *
 * A free whose block is not found is not one of an inherited block. If the process had the address
 * from its own allocator, it is a double free. If all ancestors are in the session, it is an
 * unmatched free, or one of an unseen block if an ancestor's recording was paused or began late. If
 * an ancestor's trace is missing, the block is still presumed to be inherited.
 *
 * The processes are handled in the order of their start. Memory holds, of each ancestor of those
 * that are left, the blocks that were live when it forked, and eight bytes for each free of one
 * process. */
#pragma once

#include "ingest/write/merge.h"

/* A free, in the time and with the ids of the session, but for the arena. */
struct writer_free {
    uint64_t address, ns;
    uint64_t realloc_to; /* row of the block that it became, 0: none */
    uint32_t arena;      /* as the trace numbers it */
    uint32_t thread, stack;
};

/* Keeps a row of the table inherited_free of the present process in run->frees. False with the
 * error of these records set. */
bool writer_inherited_add(struct writer_run *run, const struct writer_value *values);

/* Notes when the trace's process was forked, in the session's time. Returns SQLite's code. */
int writer_inherited_fork(sqlite3 *database, uint64_t trace_id, uint64_t begin_ns, uint64_t end_ns);

/* Finds the blocks of all frees and makes the sums in `session`, which has all rows and tables of
 * the `count` processes. False with the status set. */
bool writer_inherited_put(struct writer_database *session, struct writer_records *frees,
                          const struct writer_run_part *parts, size_t count);
