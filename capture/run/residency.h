/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from outside which pages of a recorded process are in memory, and writes them into its
 * trace (trace-format.md, "Pages in memory"). The process is not stopped.
 *
 * Legal order: run_residency_begin(); run_residency_step() each time the bell has rung or the
 * milliseconds that the last step returned have passed; run_residency_end(). The bells of all
 * traces ring at one descriptor, run_residency_bell().
 *
 * Cost: at most a hundredth of a core for all traces together, so the time between two moments
 * grows with what a moment costs. Moments that somebody asked for (marks, the end) are read at
 * once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/run/client.h"

struct run_residency_options {
    bool off;
    double interval; /* seconds between two moments; 0: it is chosen by what they cost */
};

/* Parses "off" or a time such as 2s, 500ms, 1m. Returns false for anything else. */
bool run_residency_parse(const char *text, struct run_residency_options *options);

/* The chunks that mprof-run writes as an observer of one trace. All zero at first. */
struct run_observer {
    struct client_chunk chunk;
    uint32_t sequence;
};

/* Returns true if a record with a payload of `length` bytes may be put. */
bool run_observer_room(struct run_observer *observer, const struct client *client, size_t length);

struct run_residency;

/* Begins with the process that records. `client` and `observer` must outlive the
 * result. If nothing can be read, the trace says why. Returns NULL then, or if memory is exhausted.
 */
struct run_residency *run_residency_begin(const struct client *client,
                                          struct run_observer *observer,
                                          const struct run_residency_options *options);
/* Reads the pages if it is time. `resident`: bytes, 0: the process has ended. `now`: monotonic ms.
 * Returns when the next step is due. */
uint64_t run_residency_step(struct run_residency *residency, uint64_t resident, uint64_t now);
/* Reads them now, for this reason. */
void run_residency_now(struct run_residency *residency, enum trace_resident_reason reason);
void run_residency_end(struct run_residency *residency);

/* Returns a descriptor that becomes readable when a bell has rung, or -1. */
int run_residency_bell(void);
/* Takes the rings back that the descriptor tells, before the steps that answer them. */
void run_residency_bell_heard(void);
