/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets only one process of a run report what they all meet, such as a full disk. The first one
 * notes in the header of the first trace of the run that it did (trace-format.md, `told`).
 */
#ifndef MPROF_CAPTURE_OS_ONCE_PER_RUN_H
#define MPROF_CAPTURE_OS_ONCE_PER_RUN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns true if the calling process has to report it. `base` is the path of the first trace of
 * the run, `root` the process that this trace is of (0: there is no run). If that process could
 * make no trace, it said so itself. Uses raw system calls only.
 */
bool once_per_run(const char *base, uint32_t root);

#endif
