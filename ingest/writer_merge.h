/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts sessions of several processes together into one.
 *
 * Rows keep their order within each process; ids count on from process to process, and times are
 * those of the first process. Functions, source files and types that are the same are one; modules,
 * frames and stacks stay those of their process. What follows from the rows is made anew
 * (ingest/writer_derived.h), so peaks and the timeline are those of all processes of a machine
 * together.
 */
#ifndef MPROF_INGEST_WRITER_MERGE_H
#define MPROF_INGEST_WRITER_MERGE_H

#include <signal.h>
#include <stdint.h>

#include "ingest/status.h"
#include "ingest/writer.h"
#include "ingest/writer_run.h"

struct writer_merge;

/*
 * `path`: the draft (writer.h) of the process that started first; the others are added to it.
 * Nobody else may use it while they are, and what is half done is not taken back: it must be a file
 * that can be removed. Of `options` all but `force` is taken, and `draft` must live as long. NULL
 * with `status` set.
 */
struct writer_merge *writer_merge_open(const char *path, const struct writer_options *options,
                                       struct ingest_status *status);

/* Has the frames of the draft that is made next counted on from those that are there. */
void writer_merge_expect(struct writer_merge *merge);

/* Adds the draft `path`, which started `later_ns` after the first. */
bool writer_merge_add(struct writer_merge *merge, const char *path, uint64_t later_ns);

/* Says which machine (ingest/machines.h) the process that was added last ran on: 1 if nothing is.
 */
bool writer_merge_machine(struct writer_merge *merge, uint32_t machine);

/* Notes that a trace could not be used, and why. */
bool writer_merge_leave_out(struct writer_merge *merge, const char *why);

/*
 * Says when the process of the trace `trace_id` was forked, in the time of the first process: it
 * began and (in the child) ended. Once all are added.
 */
bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns);

/* Pairs what forked processes freed of their parents' blocks, makes sums and columns; writes all.
 */
bool writer_merge_finish(struct writer_merge *merge);

/* Reads the processes of the finished session and selects the one that `word` means
 * (ingest/writer_run.h). */
bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word);

/* A number of the finished session's table meta. */
uint64_t writer_merge_fact(struct writer_merge *merge, const char *key);
void writer_merge_close(struct writer_merge *merge);

#endif
