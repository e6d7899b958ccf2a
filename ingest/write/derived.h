/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the data of a session again that is derived from its rows: column chunks, packed arrays,
 * the sums and peaks of stacks, functions, types and sizes, the timeline, and the peak of the
 * program.
 *
 * Rows tell when a block was allocated and freed only to the nanosecond. The frees of one
 * nanosecond are presumed to come before its allocations, as when ingest merges threads. If they
 * did not, a peak may come out lower by the blocks that were live only within that nanosecond. */
#pragma once

#include <signal.h>

#include "ingest/base/status.h"
#include "ingest/replay/totals.h"
#include "ingest/write/database.h"

/* Writes the sums of `meta`. The peak of several machines is that of one of them. False with the
 * database's status set. */
bool writer_derived_meta(struct writer_database *database, const struct totals *totals,
                         uint64_t machines);

/* Makes the derived data of the session in the file `path` again (--rebuild), all or nothing.
 * Refuses a file that is not a session, and a session that is still being recorded. `interrupted`
 * may be NULL. If it becomes not 0, the function stops and leaves the session as it was. False with
 * `status` set. */
bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status);

/* Fills the tables for all snapshots of the session, whose other tables are complete. False with
 * the database's status set. */
bool writer_references_put(struct writer_database *database);
