/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces that the other processes of a run leave in the folder TRACE.d beside the program's. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "capture/os/trace_name.h"

/* Returns true if a name in that folder is that of a trace: PID or PID.N. */
bool sibling_traces_is_name(const char *name);

/* Makes the folder before the run, for this user alone: see child.c. */
void sibling_traces_begin(const char *trace);

/* Removes what is left of traces whose processes ended before they had begun. Then removes the
 * folder if it is empty. Call it after the run. */
void sibling_traces_end(const char *trace);

/* Calls `each` with the path of each trace in the folder that was written since `since`. Older
 * traces belong to other runs. The order is that of the names. Returns the number of names in the
 * folder, of traces or not. */
size_t sibling_traces_each(const char *trace, time_t since,
                           void (*each)(void *context, const char *trace), void *context);

/* Removes the traces of an earlier run, and the folder. If anything else lies in it, or it is a
 * link, this removes nothing and returns false with errno set. */
bool sibling_traces_remove(const char *trace);
/* Removes the complete traces TRACE.r1, TRACE.r2, … of an earlier run. */
void sibling_traces_remove_rotated(const char *trace);

/* Notes in the last trace of the process, the one that the run was started with, how it ended:
 * `status` is as waitpid gives it. */
void sibling_traces_note_outcome(const char *trace, pid_t process, int status);

/* The sums over a run's traces, the first one included. */
struct sibling_traces_sum {
    size_t traces;    /* one for each program that a process executed */
    size_t processes; /* distinct process ids */
    uint64_t bytes;   /* on the disk */
    int error;        /* the folder's traces are not among them: it cannot be read */
};

void sibling_traces_sum(const char *trace, time_t since, struct sibling_traces_sum *sum);

/* A trace's program, also an unrecorded one (trace-format.md, "Unrecorded programs"). */
struct trace_program {
    pid_t process;
    uint64_t start_ns;   /* monotonic; 0: the file is not a trace */
    uint32_t unrecorded; /* enum trace_unrecorded */
    uint32_t unnamed;    /* the programs that it has executed and that have no trace */
    char path[PATH_MAX]; /* "": not known */
};

void trace_program_read(const char *trace, struct trace_program *program);
bool unrecorded_program_is(const char *trace);

/* Returns true if the process runs the program of the open trace now. */
bool unrecorded_program_runs(int descriptor, pid_t process);
