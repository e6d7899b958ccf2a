/* SPDX-License-Identifier: BSD-2-Clause */
/* Returns true if the process that records a trace still runs. */
#ifndef MPROF_INGEST_FOLLOW_PROCESS_H
#define MPROF_INGEST_FOLLOW_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns a descriptor to wait on for the end of process `pid`, which already ran at `since_ns` by
 * the real-time clock. -1: there is no such process here (it has ended, another process has its
 * number now, or it is in another container), or the kernel is older than 5.3.
 */
int follow_process_open(uint32_t pid, uint64_t since_ns);

/*
 * Waits at most `milliseconds` for the end of the process. A signal ends the wait too. `descriptor`
 * may be -1. True: the process has ended.
 */
bool follow_process_wait(int descriptor, int milliseconds);

#endif
