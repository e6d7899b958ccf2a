/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls that the recorder and mprof-run make. They serve to ask what a seccomp filter
 * answers to each.
 */
#ifndef MPROF_CAPTURE_OS_REQUIRED_CALLS_H
#define MPROF_CAPTURE_OS_REQUIRED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct own_call {
    const char *name;
    uint64_t arguments[6]; /* those of the recorder, changed so that the call does nothing */
    uint16_t number;
    bool needed; /* without it nothing can be recorded */
};

#define OWN_CALLS_MAX 64u

/* The calls, in the order in which they may be tried. */
extern const struct own_call own_calls[];
extern const size_t own_calls_count;

#endif
