/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for the time before the real allocator is known. It is never given back.
 */
#ifndef MPROF_CAPTURE_RECORD_BOOTSTRAP_H
#define MPROF_CAPTURE_RECORD_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Returns zeroed memory aligned to `alignment` (a power of two), or NULL if there
 * is none. */
void *bootstrap_allocate(size_t size, size_t alignment);
bool bootstrap_owns(const void *block);
/* Returns the size that was asked for. */
size_t bootstrap_size(const void *block);

#endif
