/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of the files that the names of a session come from, in the session itself: its modules,
 * their separate debug information, the source files of its frames, the perf map. With them the
 * trace can be ingested on another machine, and the source be read there.
 *
 * They go into the table `sqlar`, an SQLite archive (https://sqlite.org/sqlar.html) that
 * `sqlite3 SESSION -Ax` unpacks below the present folder, ready for --sysroot; the table `bundle`
 * says of each file that was wanted whether it is there, and why not.
 */
#ifndef MPROF_INGEST_BUNDLE_H
#define MPROF_INGEST_BUNDLE_H

#include "ingest/session_tables.h"

/* A larger file is left out, and what comes when so much is there. */
#define BUNDLE_FILE_MAX (UINT64_C(512) << 20)
#define BUNDLE_MAX (UINT64_C(2) << 30)

/* `sysroot` as of symbols_options. False with the sink's status set, or for lack of memory. */
bool bundle_put(const struct table_sink *sink, const struct session_facts *facts,
                const char *sysroot);

#endif
