/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remembers which rows pipelines gave, so that the same question is answered once: a report asks a
 * filter again for each of its tables, and the browser for each finding. A session keeps the sets
 * that were used last, in bounded memory.
 */
#ifndef MPROF_SESSION_RUN_RECALL_H
#define MPROF_SESSION_RUN_RECALL_H

#include <stddef.h>

struct session;

/* A session's sets take at most about so many bytes. Tests make it small; 0: it keeps none. */
extern size_t recall_bytes_most;

/* Returns how many sets the session remembers. */
size_t recall_count(const struct session *session);
void recall_free(struct session *session);

#endif
