/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the machine of each trace of a session, and where each trace begins on one line of time.
 *
 * Processes of one boot of one kernel share CLOCK_MONOTONIC, even in containers with other host
 * names. Between machines only the real-time clocks can be compared. The first trace of a machine
 * gives the offset from its monotonic to its real-time clock, and this offset is used for all its
 * traces. So events of one machine stay in order even if its real-time clock was set in between.
 * The errors of the machines' clocks are unknown.
 */
#ifndef MPROF_INGEST_REPLAY_MACHINES_H
#define MPROF_INGEST_REPLAY_MACHINES_H

#include "ingest/trace/file.h"

struct machine_start {
    char host[72], boot_id[40]; /* "": not known */
    uint64_t monotonic_ns, realtime_ns;
    uint32_t machine;  /* from 1, in the order of their first traces */
    uint64_t start_ns; /* after the first trace of all */
};

/* Reads the start of a trace. `machine` and `start_ns` stay zero. False if memory is exhausted. */
bool machines_read(const struct trace_file *file, struct machine_start *start);

/* Fills in `machine` and `start_ns` of all. Returns the number of machines, or 0 if memory is
 * exhausted. */
uint32_t machines_align(struct machine_start *const *starts, size_t count);

#endif
