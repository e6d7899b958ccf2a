/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the process's resident set, for programs that mprof-run does not watch from outside. */
#ifndef MPROF_CAPTURE_RECORD_RESIDENT_H
#define MPROF_CAPTURE_RECORD_RESIDENT_H

#include <stdint.h>

/* Returns bytes, or 0 if the kernel does not say. Takes a few microseconds, allocates nothing. */
uint64_t resident_bytes(void);

#endif
