/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes one session of several processes, one process after another.
 *
 * Rows keep their order within each process. Ids continue from process to process, and times are in
 * the time of the first process. Equal functions, source files and types become one. Modules,
 * frames and stacks stay separate for each process. Peaks and the timeline are those of all
 * processes of a machine together.
 *
 * Rows go straight into the session, and what changes sums into a log (ingest/write/merge.h).
 * All other tables of a process are a draft (writer.h). The draft of the first process becomes the
 * tables of all, to which the others are added. They are copied into the session in the end.
 *
 * Order of calls: writer_merge_open(); for each process writer_merge_begin(), its ingest,
 * writer_merge_add(); writer_merge_leave_out() and writer_merge_fork(); writer_merge_finish(),
 * writer_merge_select(), writer_merge_commit(); always writer_merge_close(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/status.h"
#include "ingest/write/database.h"
#include "ingest/write/writer.h"
#include "schemas/process_choice.h"

/* Reads the processes of a session of several traces as a tree, and selects the one that a reader
 * of the session sees first. */

/* A row of the view v_process. */
struct run_process {
    struct process_choice choice;
    char *program, *arguments, *ending; /* free() each */
    uint64_t allocations, peak_bytes;
    size_t parent;   /* the place of the process that started it; SIZE_MAX: not in the session */
    size_t executed; /* the place of the program that executed this one; SIZE_MAX: none */
};

struct run {
    struct run_process *processes; /* by id, from 1 */
    size_t count;
    size_t selected; /* place of the selected one; `count`: the sum of all */
    size_t matches;  /* how many the word for it matches */
};

void run_processes_free(struct run *run);

/* ---- merge --------------------------------------------------------------------------------- */

struct writer_merge;

/* Begins the session `target`. `tables` is the name of a file for the draft of the process that
 * started first, to which the others are added. No other process may use it, and the caller removes
 * it. Uses options->run, which is empty and must outlive the merge; its files are there. NULL with
 * `status` set. */
struct writer_merge *writer_merge_open(const char *target, const char *tables,
                                       const struct writer_options *options,
                                       struct ingest_status *status);

/* Lets the rows, frames and sums of the next process continue those that are there. It started
 * `later_ns` after the first. */
bool writer_merge_begin(struct writer_merge *merge, uint64_t later_ns);

/* Adds its draft `path`. The first one is the file `tables`. `machine` is that of the process
 * (ingest/processes.c). */
bool writer_merge_add(struct writer_merge *merge, const char *path, uint32_t machine);

/* Notes that a trace could not be used, and why. */
bool writer_merge_leave_out(struct writer_merge *merge, const char *why);

/* Sets when the process of the trace `trace_id` was forked, in the time of the first process: when
 * the fork began and when it ended (in the child). Call it when all are added. */
bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns);

/* Makes the sums of all `machines` together, writes all tables, and finds the parents' blocks that
 * forked processes freed. */
bool writer_merge_finish(struct writer_merge *merge, uint32_t machines);

/* Reads the processes of the finished session and selects the one that `word` names
 * (ingest/write/merge.h). */
bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word);

/* Returns a number of the finished session's table meta. */
uint64_t writer_merge_fact(struct writer_merge *merge, const char *key);
/* Completes the session and gives it its name. */
bool writer_merge_commit(struct writer_merge *merge);
void writer_merge_close(struct writer_merge *merge);

/* ---- suppressed ---------------------------------------------------------------------------- */

/* Reads how much each suppression removed from the leaks of a session: its view v_suppression. */

struct suppressed {
    char *pattern;
    uint64_t live_count, live_bytes; /* at the end, of all processes */
};

struct suppressed_list {
    struct suppressed *rows; /* most bytes first */
    size_t count;
};

/* Reads the list. False with `status` set; the list is then empty. */
bool suppressed_list_read(struct suppressed_list *list, const char *session,
                          struct ingest_status *status);
void suppressed_list_free(struct suppressed_list *list);

/* ---- run sums ------------------------------------------------------------------------------ */

/* Sums up the processes of a run together, from the log of what changed each process's sums: peaks
 * and shares at the peak, sums by function, type, size and time, the calling context tree. */

/* A process of the run. */
struct writer_run_part {
    uint64_t later_ns;    /* its start after that of the first process */
    uint32_t machine;     /* from 1 (ingest/processes.c) */
    uint64_t first_stack; /* added to the ids of its stacks */
    uint64_t first_arena; /* added to those of its arenas */
    size_t first_type;    /* place of its types in run->rows.ids */
    uint64_t first_free;  /* place of its frees in run->frees */
};
