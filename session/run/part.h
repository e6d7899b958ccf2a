/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes allocations as a session of their own. */
#ifndef MPROF_SESSION_RUN_PART_H
#define MPROF_SESSION_RUN_PART_H

#include <stdbool.h>

#include "session/scan/row_set.h"
#include "session/session.h"

/*
 * Writes the rows of the set to a new session `path`, with tables as those of their session and
 * sums of their own. `graph` is the text that selected them. Returns false with `error` set; then
 * there is no new file.
 */
bool part_write(struct session *session, const struct row_set *set, const char *graph,
                const char *path, struct session_error *error);

#endif
