/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the sums by stack with what SQL computes from the rows of a session. */
#ifndef MPROF_TESTS_SESSION_STACKS_SQL_H
#define MPROF_TESTS_SESSION_STACKS_SQL_H

#include <stddef.h>

#include "session/stacks.h"

/*
 * Compares selection_stacks() of a filter with SQL on the rows for which `condition` holds. Blocks
 * of one machine, not sampled. Prints the first differences and returns their number; also counts
 * a failed query as one. `*rows` gets the number of rows that were compared.
 */
size_t stacks_differences(struct session *session, const char *filter, const char *condition,
                          const struct session_stacks_options *options, size_t *rows);

#endif
