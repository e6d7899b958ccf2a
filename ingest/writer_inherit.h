/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inherited blocks, in a session of several processes.
 *
 * A forked process owns a copy of what was live in its parent. No row is made of that: the free of
 * such a block refers to the row of the ancestor that allocated it (table inherited_free), and what
 * a process inherited in all is a sum over its ancestors' rows (table process).
 *
 * Ancestors are found by the trace_id that a forked child's trace names. A block is a child's where
 * it was live in the parent at some moment of the fork. The child may or may not have what other
 * threads allocate and free just then: the row of who frees it settles that. A block of an
 * ancestor further up must not have been freed by those in between before they forked.
 *
 * What is not found is no inherited block: where the process had that address from its own
 * allocator it is a double free, where all ancestors are in the session it is an unmatched free,
 * or (an ancestor's recording was paused, or began late) one of an unseen block. Where an
 * ancestor's trace is not there it stays presumed.
 */
#ifndef MPROF_INGEST_WRITER_INHERIT_H
#define MPROF_INGEST_WRITER_INHERIT_H

#include <stdint.h>

#include <sqlite3.h>

/*
 * Before the first of the others; the temporary tables are of this connection. What each process's
 * part had is noted by writer_inherit_part_sql.
 */
extern const char writer_inherit_begin_sql[];

/*
 * For the session `part` that is to be added; needs the view `base` of ingest/writer_merge.c. For
 * the first session itself, writer_inherit_first_sql.
 */
extern const char writer_inherit_part_sql[], writer_inherit_first_sql[];

/*
 * Notes when the process of the trace `trace_id` was forked, in the session's time. SQLite's result
 * code.
 */
int writer_inherit_fork(sqlite3 *database, uint64_t trace_id, uint64_t begin_ns, uint64_t end_ns);

/* Pairs and sums, once all processes are there. SQLite's result code. */
int writer_inherit_put(sqlite3 *database);

#endif
