/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of arenas out of the rows, with the largest live bytes of each, and those of the process
 * where there is one. Those of threads and of several processes: ingest/writer_owners.h.
 */
#ifndef MPROF_INGEST_WRITER_PARTS_H
#define MPROF_INGEST_WRITER_PARTS_H

extern const char writer_parts_sql[];

/* Where the session is of one process alone: its sums are the program's. */
extern const char writer_one_process_sql[];

#endif
