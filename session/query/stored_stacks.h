/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of all allocations by stack, as ingest has stored them. */
#ifndef MPROF_SESSION_QUERY_STORED_STACKS_H
#define MPROF_SESSION_QUERY_STORED_STACKS_H

#include "session/stacks.h"

/*
 * Reads them from packed arrays or, if these are missing or do not fit, from the table: that takes
 * ten times as long. The selection has all allocations. *known is false if ingest has not stored
 * the sums; otherwise the caller frees the rows, one for each stack with allocations. Returns false
 * with `error` set.
 */
bool stored_stacks(struct selection *selection, bool at_peak, bool *known,
                   struct session_stack_sums **rows, size_t *count, struct session_error *error);

#endif
