/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the traces of several processes into one session. */
#pragma once

#include <sys/types.h>

#include "ingest/ingest.h"
#include "ingest/write/merge.h"

struct trace_list {
    char **paths;
    struct trace_file_id {
        dev_t device;
        ino_t inode;
    } * ids; /* of each; zeros: there is no such file */
    size_t count, capacity, id_capacity;
    char *missing; /* a name without a trace, beside which its folder has traces, or NULL */
};

/* Adds the trace `path` and the other traces of its run, which lie in the folder `path`.d. The
 * first program of a run may have none, if it could not be recorded: then those of the folder are
 * added. If `path` is a directory, it adds all traces in it (files that begin like a trace), by
 * name. A trace is added only once. False with `status` set. A zero-initialized list is empty. Call
 * trace_list_free() in the end. */
bool trace_list_add(struct trace_list *list, const char *path, struct ingest_status *status);
void trace_list_free(struct trace_list *list);

/* Ingests each trace by ingest_run() and merges the results (ingest/write/merge.h). Ignores
 * options->trace. It leaves out traces that cannot be opened; it tells them to `left_out` and to
 * the session's table `problem`. False with `status` set, also if no trace is left. `run` gets the
 * processes (then call run_processes_free()), and `summary` is that of the selected process, or of
 * all. */
bool ingest_processes(const struct ingest_options *options, const struct trace_list *list,
                      void (*left_out)(const char *why), struct run *run,
                      struct ingest_summary *summary, struct ingest_status *status);
