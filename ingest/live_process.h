/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that records a trace: whether it still runs. */
#ifndef MPROF_INGEST_LIVE_PROCESS_H
#define MPROF_INGEST_LIVE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A descriptor to wait on for the end of process `pid`, which ran at `since_ns` by the real-time
 * clock already. -1: no such process is seen from here (it has ended, the number is another's by
 * now, or it is in another container), or the kernel cannot tell (before 5.3).
 */
int live_process_open(uint32_t pid, uint64_t since_ns);

/*
 * Waits at most `milliseconds` for the end of the process; a signal ends the wait too. `descriptor`
 * may be -1. True: it has ended.
 */
bool live_process_wait(int descriptor, int milliseconds);

#endif
