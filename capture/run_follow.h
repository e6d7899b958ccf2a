/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the traces of one run while they are recorded: that of the program, and those that its
 * children and the programs executed in its place write beside it. Each gets samples of the
 * resident set, is packed if that was asked for, and is told when to begin and to stop.
 *
 * Legal order: run_follow_new(); then, each time one of `descriptor` (readable) and `wait`
 * milliseconds comes first, run_follow_step(); run_follow_free() when the program has ended.
 */
#ifndef MPROF_CAPTURE_RUN_FOLLOW_H
#define MPROF_CAPTURE_RUN_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "capture/run_steer.h"

struct run_follow;

/* `trace`: absolute path of the program's trace, which need not be there yet; it must stay.
 * `steers`: run_follow_steer() will be called; `program`: the process that it leaves alone. NULL
 * where memory is exhausted. */
struct run_follow *run_follow_new(const char *trace, bool compress, bool steers, pid_t program);
void run_follow_free(struct run_follow *follow);

/* Becomes readable when a trace has appeared; -1: none. */
int run_follow_descriptor(const struct run_follow *follow);

/* Does what is due, and returns in how many milliseconds something is again; -1: nothing is. */
int run_follow_step(struct run_follow *follow);

/* Tells the processes of the run, and those that are executed from now on, what is wanted. To be
 * called every RUN_STEER_INTERVAL ms. */
void run_follow_steer(struct run_follow *follow, enum run_wanted wanted);
/* Whether one of them records, or did. */
bool run_follow_records(const struct run_follow *follow);

#endif
