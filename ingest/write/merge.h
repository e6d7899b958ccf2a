/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges sessions of several processes into one.
 *
 * Rows keep their order within each process. Ids continue from process to process, and times are in
 * the time of the first process. Equal functions, source files and types become one. Modules,
 * frames and stacks stay separate for each process. Data that is derived from the rows is made
 * again (ingest/write/derived.h), so peaks and the timeline are those of all processes of a
 * machine together.
 */
#ifndef MPROF_INGEST_WRITE_MERGE_H
#define MPROF_INGEST_WRITE_MERGE_H

#include <signal.h>
#include <stdint.h>

#include "ingest/base/status.h"
#include "ingest/write/run_processes.h"
#include "ingest/write/user_rows.h"
#include "ingest/write/writer.h"

struct writer_merge;

/*
 * Begins a merge. `path` is the draft (writer.h) of the process that started first, and the others
 * are added to it. No other process may use the file during the merge. Half a merge is not undone,
 * so it must be a file that can be removed. It uses all of `options` except `force`, and `draft`
 * must outlive the merge. NULL with `status` set.
 */
struct writer_merge *writer_merge_open(const char *path, const struct writer_options *options,
                                       struct ingest_status *status);

/* Lets the frames of the next draft continue the ids of the frames that are there. False with
 * `status` set. */
bool writer_merge_continue_frames(struct writer_merge *merge);

/* Adds the draft `path`, which started `later_ns` after the first. */
bool writer_merge_add(struct writer_merge *merge, const char *path, uint64_t later_ns);

/* Sets the machine (ingest/replay/machines.h) of the process that was added last. It is 1 if this
 * is not called. */
bool writer_merge_machine(struct writer_merge *merge, uint32_t machine);

/* Notes that a trace could not be used, and why. */
bool writer_merge_leave_out(struct writer_merge *merge, const char *why);

/*
 * Sets when the process of the trace `trace_id` was forked, in the time of the first process: when
 * the fork began and when it ended (in the child). Call it when all are added.
 */
bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns);

/* Finds the parents' blocks that forked processes freed, makes sums and columns, and writes all. */
bool writer_merge_finish(struct writer_merge *merge);

/* Carries over what the user stored in the session `target`, which this one replaces
 * (ingest/write/user_rows.h). */
bool writer_merge_carry(struct writer_merge *merge, const char *target,
                        struct writer_user_rows *rows);

/* Reads the processes of the finished session and selects the one that `word` names
 * (ingest/write/run_processes.h). */
bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word);

/* Returns a number of the finished session's table meta. */
uint64_t writer_merge_fact(struct writer_merge *merge, const char *key);
void writer_merge_close(struct writer_merge *merge);

#endif
