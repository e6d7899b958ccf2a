/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for tables and lists of megabytes. */
#ifndef MPROF_SESSION_SCAN_LARGE_MEMORY_H
#define MPROF_SESSION_SCAN_LARGE_MEMORY_H

#include <stddef.h>

/*
 * Returns `size` bytes that begin a cache line, for free(), or NULL. From 2 MiB on they get huge
 * pages if the system has them: hundreds of page faults less, and no page walk for each access
 * anywhere.
 */
void *large_memory(size_t size);

#endif
