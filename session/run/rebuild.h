/* SPDX-License-Identifier: BSD-2-Clause */
/* Has mprof-ingest make what is derived from the rows of a session: sums, peaks, columns. */
#ifndef MPROF_SESSION_RUN_REBUILD_H
#define MPROF_SESSION_RUN_REBUILD_H

#include <stdbool.h>

#include "session/session.h"

/*
 * Runs `mprof-ingest --rebuild` on the file `path`: the program beside this one, or else that of
 * $PATH. It is killed when the question of `session` is cancelled. Returns false with `error` set:
 * the file may then be half made.
 */
bool rebuild_run(const struct session *session, const char *path, struct session_error *error);

#endif
