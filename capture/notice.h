/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all processes of a run meet alike, such as a full disk, is said once: by the first of them,
 * which notes that in the file header of the run's first trace (trace-format.md, `told`).
 */
#ifndef MPROF_CAPTURE_NOTICE_H
#define MPROF_CAPTURE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the calling process is to say it. `base` is the path of the run's first trace, `root` the
 * process that it is of (0: there is no run). Where that process could make no trace, it said so.
 * Raw system calls only.
 */
bool notice_take_turn(const char *base, uint32_t root);

#endif
