/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums up the processes of a run together, from the log of what changed each process's sums: peaks
 * and shares at the peak, sums by function, type, size and time, the calling context tree.
 */
#ifndef MPROF_INGEST_WRITE_RUN_SUMS_H
#define MPROF_INGEST_WRITE_RUN_SUMS_H

#include "ingest/write/writer.h"

/* A process of the run. */
struct writer_run_part {
    uint64_t later_ns;    /* its start after that of the first process */
    uint32_t machine;     /* from 1 (ingest/replay/machines.h) */
    uint64_t first_stack; /* added to the ids of its stacks */
    uint64_t first_arena; /* added to those of its arenas */
    size_t first_type;    /* place of its types in run->rows.ids */
    uint64_t first_free;  /* place of its frees in run->frees */
};

/*
 * Puts the sums into `tables`, the database with the tables of all processes, in which a
 * transaction is open, and frames and tree into `session`, whose rows are done. `parts` are those
 * of run->log. False with the status set.
 */
bool writer_run_sums_put(struct writer_database *tables, struct writer *session,
                         struct writer_run *run, const struct writer_run_part *parts,
                         uint32_t machines);

#endif
