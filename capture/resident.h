/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's resident set, for programs that mprof-run does not watch from outside. */
#ifndef MPROF_CAPTURE_RESIDENT_H
#define MPROF_CAPTURE_RESIDENT_H

#include <stdint.h>

/* Bytes; 0 where the kernel does not say. A few microseconds, no allocation. */
uint64_t resident_bytes(void);

#endif
