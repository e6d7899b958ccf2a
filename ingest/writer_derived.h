/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session holds that follows from its rows, made anew from them: column chunks, the sums and
 * peaks of stacks, functions, types and sizes, the timeline, and the peak of the program.
 *
 * Rows say when a block was allocated and freed to the nanosecond, and not more: of events within
 * one nanosecond the frees are taken to come first, as where ingest merges threads. Where they did
 * not, a peak may come out lower by what was live within that nanosecond only.
 */
#ifndef MPROF_INGEST_WRITER_DERIVED_H
#define MPROF_INGEST_WRITER_DERIVED_H

#include <sqlite3.h>

#include "ingest/status.h"

/*
 * In the session's own transaction, which the caller begins and ends. `name` is for messages. False
 * with `status` set, also where rows contradict each other.
 */
bool writer_derived_put(sqlite3 *database, const char *name, struct ingest_status *status);

#endif
