/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells traces from other files. */
#pragma once

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "schemas/trace_layout.h"

/* Returns true if an open file begins as a trace does. The descriptor -1, from an open() that
 * failed, does not. */
static inline bool trace_begins(int descriptor)
{
    char magic[sizeof(TRACE_MAGIC) - 1];
    return pread(descriptor, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
           memcmp(magic, TRACE_MAGIC, sizeof(magic)) == 0;
}
