/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a test tries: more in `./dev soak`. */
#ifndef MPROF_TESTS_SOAK_H
#define MPROF_TESTS_SOAK_H

#include <stdlib.h>

/* Returns `many` under MPROF_SOAK=1, otherwise `few`. */
static inline size_t in_soak(size_t many, size_t few)
{
    return getenv("MPROF_SOAK") ? many : few;
}

#endif
