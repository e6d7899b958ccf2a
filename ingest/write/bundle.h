/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies the files that the names of a session come from into the session itself: its modules,
 * their separate debug information, the source files of its frames and the perf map. With them the
 * trace can be ingested on another machine, and the source can be read there.
 *
 * They go into the table `sqlar`, an SQLite archive (https://sqlite.org/sqlar.html).
 * `sqlite3 SESSION -Ax` unpacks it below the current folder, ready for --sysroot. The table
 * `bundle` says for each file that was wanted whether it is there, and if not, why.
 */
#ifndef MPROF_INGEST_WRITE_BUNDLE_H
#define MPROF_INGEST_WRITE_BUNDLE_H

#include "ingest/write/session_tables.h"

/* A file is left out if it is larger than BUNDLE_FILE_MAX bytes, or if the files would get larger
 * than BUNDLE_MAX bytes together. */
#define BUNDLE_FILE_MAX (UINT64_C(512) << 20)
#define BUNDLE_MAX (UINT64_C(2) << 30)

/* Copies the files. `sysroot` is as in symbols_options. False with the sink's status set, or if
 * memory is exhausted. */
bool bundle_put(const struct table_sink *sink, const struct session_facts *facts,
                const char *sysroot);

#endif
