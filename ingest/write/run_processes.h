/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the processes of a session of several traces as a tree, and selects the one that a reader
 * of the session sees first.
 */
#ifndef MPROF_INGEST_WRITE_RUN_PROCESSES_H
#define MPROF_INGEST_WRITE_RUN_PROCESSES_H

#include "ingest/write/database.h"
#include "schemas/process_choice.h"

/* A row of the view v_process. */
struct run_process {
    struct process_choice choice;
    char *program, *arguments, *ending; /* free() each */
    uint64_t allocations, peak_bytes;
    size_t parent;   /* the place of the process that started it; SIZE_MAX: not in the session */
    size_t executed; /* the place of the program that executed this one; SIZE_MAX: none */
};

struct run {
    struct run_process *processes; /* by id, from 1 */
    size_t count;
    size_t selected; /* place of the selected one; `count`: the sum of all */
    size_t matches;  /* how many the word for it matches */
};

/* Reads the processes into `run`, which is zero-initialized. Call run_processes_free() in any case.
 * False with the database's status set. */
bool run_processes_read(struct writer_database *database, struct run *run);

/*
 * Selects the process that `word` names (schemas/process_choice.h, also PROCESS_CHOICE_ALL; NULL:
 * the one that used most) and writes it into `meta`. False with the database's status set if
 * there is none.
 */
bool run_processes_select(struct writer_database *database, struct run *run, const char *word);

void run_processes_free(struct run *run);

#endif
