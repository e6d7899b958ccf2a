/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL that makes the sums of arenas from the rows, with the peak of each, and the sums of the
 * process if there is only one. For threads and several processes see ingest/write/owners.h.
 */
#ifndef MPROF_INGEST_WRITE_PARTS_H
#define MPROF_INGEST_WRITE_PARTS_H

extern const char writer_parts_sql[];

/* Makes the sums of the process in a session of only one process: they are the program's. */
extern const char writer_one_process_sql[];

#endif
