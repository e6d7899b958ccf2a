/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the session of a running program, which other processes read at the same time.
 *
 * Order of calls: writer_follow_open(); for each state that is shown writer_follow_begin(), the new
 * rows by writer_follow_rows(), all other tables by writer_follow_tables(), writer_follow_end();
 * always writer_follow_close(), which leaves the session as the last transaction made it.
 *
 * The file has the session's name, and SQLite's write-ahead log is beside it. So a reader can keep
 * the state of one transaction as long as it wants. Its table `meta` has the key 'unfinished'. It
 * has neither the indexes of `allocation` nor statistics for SQLite's planner. */
#pragma once

#include "ingest/base/status.h"
#include "ingest/replay/row_batch.h"
#include "ingest/write/table_sink.h"
#include "ingest/write/writer.h"

struct writer_follow;

/* Opens a new session. It uses `force`, `forget` and `tell` of `options`. NULL with `status` set.
 * `status` must outlive the writer. */
struct writer_follow *writer_follow_open(const char *target, const struct writer_options *options,
                                         struct ingest_status *status);

/* Begins a transaction. Deletes the rows from `first_id` on, the first of a batch, and all tables
 * except those that only grow (struct session_known). */
bool writer_follow_begin(struct writer_follow *writer, uint64_t first_id);
bool writer_follow_rows(struct writer_follow *writer, const struct row_batch *batch);
struct table_sink writer_follow_tables(struct writer_follow *writer);
bool writer_follow_end(struct writer_follow *writer);
/* Tidies up between two transactions, when readers have had time to get the newest state. */
void writer_follow_rest(struct writer_follow *writer);
void writer_follow_close(struct writer_follow *writer);
