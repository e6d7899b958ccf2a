/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a session, and the selected one: every selection, peak and title is of its
 * blocks alone. Its rows lie together, so that it is a range of ids.
 */
#ifndef MPROF_SESSION_PROCESS_H
#define MPROF_SESSION_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct names;

/* A key of `meta` that is another of the selected process. */
struct process_fact {
    const char *key;
    char *value; /* free() */
};

struct processes {
    struct session_process *rows; /* by id - 1 */
    uint64_t *first, *last;       /* ids of each one's blocks; 0: it has none */
    size_t count, capacity;
    uint32_t selected; /* id, 0: all together */
    struct process_fact facts[24];
    size_t fact_count;
};

/* Reads the table, and selects what ingest selected. */
bool processes_load(struct session *session, struct session_error *error);
void processes_free(struct processes *processes);

/* Clears the bits of rows that are of no selected process. */
void processes_mask(const struct session *session, uint32_t chunk, uint64_t *words);

/* The selected one's value of a key of `meta`; NULL: that of the whole session holds. */
const char *processes_fact(const struct processes *processes, const char *key);

/* How many blocks are of the selected one. */
uint64_t processes_rows(const struct session *session);

#endif
