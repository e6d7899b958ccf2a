/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples the resident set of a recorded process from outside, into its trace.
 *
 * Legal order: run_resident_begin(); run_resident_sample() as often as it asks for; and
 * run_resident_end(). Neither a thread nor a timer runs in the program.
 */
#ifndef MPROF_CAPTURE_RUN_RESIDENT_H
#define MPROF_CAPTURE_RUN_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/outside.h"
#include "capture/outside_chunk.h"

struct run_resident {
    int statm; /* descriptor of /proc/PID/statm, -1: there is nothing to sample any more */
    unsigned samples;
    uint32_t sequence;
    struct outside_chunk chunk;
};

/* Of the process that the trace's header names. */
void run_resident_begin(struct run_resident *resident, const struct outside *outside);

/* Writes one sample where the trace is being recorded. False where no more will come: the process
 * has ended, or there is no room. */
bool run_resident_sample(struct run_resident *resident, const struct outside *outside);

/* Milliseconds until the next sample. */
int run_resident_interval(const struct run_resident *resident);

/* What is resident in `process` now, in bytes; 0: not known. */
uint64_t run_resident_now(pid_t process);

void run_resident_end(struct run_resident *resident);

#endif
