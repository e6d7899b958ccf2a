/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of the parts of a program out of the rows: of its threads, arenas and processes, with
 * the largest live bytes of the latter two. SQL that updates the rows of the three tables.
 */
#ifndef MPROF_INGEST_WRITER_PARTS_H
#define MPROF_INGEST_WRITER_PARTS_H

extern const char writer_parts_sql[];

/* Where the session is of several processes; of one alone the sums are the program's. */
extern const char writer_processes_sql[];
extern const char writer_one_process_sql[];

#endif
