/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traces of several processes become one session.
 */
#ifndef MPROF_INGEST_PROCESSES_H
#define MPROF_INGEST_PROCESSES_H

#include <sys/types.h>

#include "ingest/ingest.h"
#include "ingest/writer_run.h"

struct trace_list {
    char **paths;
    struct trace_file_id {
        dev_t device;
        ino_t inode;
    } * ids; /* of each; zeros: it is not there */
    size_t count, capacity, id_capacity;
};

/*
 * Adds the trace `path` and the other traces of its run, which lie in the folder `path`.d; or of a
 * directory all traces in it (files that begin as a trace does), by name. What is in the list comes
 * into it once. False with `status` set. Zero-initialised is empty; then trace_list_free().
 */
bool trace_list_add(struct trace_list *list, const char *path, struct ingest_status *status);
void trace_list_free(struct trace_list *list);

/*
 * ingest_run() of each trace, put together (ingest/writer_merge.h); options->trace is not looked
 * at. Traces that cannot be read at all are left out, which `left_out` hears and the session's
 * table `problem` tells; false with `status` set where none is left. `run` hears of the processes,
 * run_free(), and `summary` is of the selected one, or of all.
 */
bool ingest_processes(const struct ingest_options *options, const struct trace_list *list,
                      void (*left_out)(const char *why), struct run *run,
                      struct ingest_summary *summary, struct ingest_status *status);

#endif
