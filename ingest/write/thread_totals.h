/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts what each thread and process allocated and freed, while the rows of a session are replayed
 * in the order of time. Only the process heap counts.
 *
 * Order of calls: writer_thread_totals_read(), writer_thread_totals_allocate() and
 * writer_thread_totals_free() for each event, writer_thread_totals_put(), always
 * writer_thread_totals_close(). A zero-initialized struct is empty.
 */
#ifndef MPROF_INGEST_WRITE_THREAD_TOTALS_H
#define MPROF_INGEST_WRITE_THREAD_TOTALS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer_thread_totals {
    struct thread_total *threads;    /* by id, ascending */
    struct process_total *processes; /* the same */
    size_t thread_count, thread_capacity, process_count, process_capacity;
};

/* Reads the threads and processes of the session. Returns SQLite's code. */
int writer_thread_totals_read(struct writer_thread_totals *totals, sqlite3 *database);

/* Counts an allocation for `thread` and its process. Unknown threads have no sum. */
void writer_thread_totals_allocate(struct writer_thread_totals *totals, int64_t thread,
                                   uint64_t size, uint64_t ns);

/* Counts the end of a block that `thread` allocated. `freed_by` is the thread that freed it, 0:
 * none did. */
void writer_thread_totals_free(struct writer_thread_totals *totals, int64_t thread, uint64_t size,
                               int64_t freed_by);

/* Writes the sums of threads and, if `processes`, those of processes. Returns SQLite's code. */
int writer_thread_totals_put(const struct writer_thread_totals *totals, sqlite3 *database,
                             bool processes);
void writer_thread_totals_close(struct writer_thread_totals *totals);

#endif
