/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the traces of one run while they are recorded: that of the program, and those that its
 * children and the programs executed in its place write beside it. Each trace gets samples of the
 * resident set, is packed or rotated if that was asked for, and is told when to begin and to stop.
 *
 * Legal order: run_follow_new(); then run_follow_step() each time the descriptor becomes readable
 * or the milliseconds that the last step returned have passed; run_follow_free() after the program
 * has ended.
 */
#ifndef MPROF_CAPTURE_RUN_FOLLOW_H
#define MPROF_CAPTURE_RUN_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "capture/run/rotate.h"
#include "capture/run/steer.h"

struct run_follow;

struct run_follow_options {
    bool compress; /* traces that are marked so are packed */
    bool steers;   /* run_follow_steer() will be called */
    pid_t program; /* the process that is not steered */
    struct run_rotate_options rotate;
};

/* `trace`: absolute path of the program's trace, which need not exist yet; it must stay valid.
 * Returns NULL if memory is exhausted. */
struct run_follow *run_follow_new(const char *trace, const struct run_follow_options *options);
void run_follow_free(struct run_follow *follow);

/* Returns a descriptor that becomes readable when a trace has appeared, or -1 if there is none. */
int run_follow_descriptor(const struct run_follow *follow);

/* Does what is due. Returns the milliseconds until something is due again, or -1 for never. */
int run_follow_step(struct run_follow *follow);

/* Tells the processes of the run, and the programs they execute later, what is wanted. Call it
 * every RUN_STEER_INTERVAL ms. */
void run_follow_steer(struct run_follow *follow, enum run_wanted wanted);
/* Returns true if one of the processes records, or did. */
bool run_follow_records(const struct run_follow *follow);

#endif
