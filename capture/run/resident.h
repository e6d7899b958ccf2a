/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples the resident set of a recorded process from outside, into its trace.
 *
 * Legal order: run_resident_begin(); run_resident_sample() after each run_resident_interval();
 * run_resident_end(). The program itself runs neither a thread nor a timer for this.
 */
#ifndef MPROF_CAPTURE_RUN_RESIDENT_H
#define MPROF_CAPTURE_RUN_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/run/client.h"
#include "capture/run/client_chunk.h"

struct run_resident {
    int statm;        /* descriptor of /proc/PID/statm, -1: there is nothing more to sample */
    unsigned samples; /* read, written or not */
    uint64_t bytes;   /* of the last one that was written */
    int unwritten;    /* milliseconds since then */
    uint32_t sequence;
    struct client_chunk chunk;
};

/* Begins with the process that the trace's header names. */
void run_resident_begin(struct run_resident *resident, const struct client *client);

/* Takes one sample if the trace is being recorded. One that is the same as the last is written only
 * ten times a second, because a program at rest should need no disk. Returns false if no more will
 * come, because the process has ended or there is no room. */
bool run_resident_sample(struct run_resident *resident, const struct client *client);

/* Returns the milliseconds until the next sample. */
int run_resident_interval(const struct run_resident *resident);

/* Returns the bytes that are resident in `process` now, or 0 if not known. */
uint64_t run_resident_now(pid_t process);

void run_resident_end(struct run_resident *resident);

#endif
