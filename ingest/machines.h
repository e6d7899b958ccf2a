/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which machines the traces of a session are of, and where each begins on one line of time.
 *
 * Processes of one boot of one kernel share CLOCK_MONOTONIC, containers on it too, whatever host
 * they say they are. Between machines there is nothing but the real-time clocks: each machine's
 * first trace says how far the two are apart there, which holds for its other traces, so that what
 * happens on one machine stays in order even where its real-time clock was set in between. How far
 * the machines' clocks are wrong nobody can tell from here.
 */
#ifndef MPROF_INGEST_MACHINES_H
#define MPROF_INGEST_MACHINES_H

#include "ingest/trace_file.h"

struct machine_start {
    char host[72], boot_id[40]; /* "": not known */
    uint64_t monotonic_ns, realtime_ns;
    uint32_t machine;  /* from 1, in the order of their first traces */
    uint64_t start_ns; /* after the first trace of all */
};

/* Takes what the trace says of its start; the rest is zero. False where memory is exhausted. */
bool machines_read(const struct trace_file *file, struct machine_start *start);

/* Fills in `machine` and `start_ns` of all. Returns how many machines there are, 0: no memory. */
uint32_t machines_align(struct machine_start *const *starts, size_t count);

#endif
