/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's derived tables made anew: `mprof-ingest --rebuild`.
 */
#ifndef MPROF_INGEST_WRITER_REBUILD_H
#define MPROF_INGEST_WRITER_REBUILD_H

#include <signal.h>

#include "ingest/status.h"

/*
 * writer_derived_put() for the session in the file `path`, all or nothing. Refuses what is no
 * session and one that is still being recorded. `interrupted` may be NULL; not 0: stop, and leave
 * the session as it was.
 */
bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status);

#endif
