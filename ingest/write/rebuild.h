/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a session's derived tables again: `mprof-ingest --rebuild`.
 */
#ifndef MPROF_INGEST_WRITE_REBUILD_H
#define MPROF_INGEST_WRITE_REBUILD_H

#include <signal.h>

#include "ingest/base/status.h"

/*
 * Runs writer_derived_put() on the session in the file `path`, all or nothing. Refuses a file that
 * is not a session, and a session that is still being recorded. `interrupted` may be NULL. If it
 * becomes not 0, the function stops and leaves the session as it was. False with `status` set.
 */
bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status);

#endif
