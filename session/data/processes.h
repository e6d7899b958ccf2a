/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a session, and the selected one: every selection, peak and title counts only its
 * blocks. The ids of its blocks form one range.
 */
#ifndef MPROF_SESSION_DATA_PROCESSES_H
#define MPROF_SESSION_DATA_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct names;

/* A key of `meta` with the selected process's own value. */
struct process_meta {
    const char *key;
    char *value; /* free() */
};

struct processes {
    struct session_process *rows; /* by id - 1 */
    uint64_t *first, *last;       /* ids of each one's blocks; 0: it has none */
    size_t count, capacity;
    uint32_t selected; /* id, 0: all together */
    struct process_meta meta[24];
    size_t meta_count;
};

/* Reads the table. No process is selected. Returns false with `error` set. */
bool processes_read(struct session *session, struct session_error *error);
void processes_free(struct processes *processes);

/* Clears the bits of the rows that do not belong to the selected process. */
void processes_mask(const struct session *session, uint32_t chunk, uint64_t *words);

/* Returns the selected process's value for a key of `meta`, or NULL if the value of the whole
 * session applies. */
const char *processes_meta(const struct processes *processes, const char *key);

/* Set the selected process's value of a key. Without memory the value of the whole session stays.
 */
void processes_set_text(struct processes *processes, const char *key, const char *value);
void processes_set_number(struct processes *processes, const char *key, uint64_t value);
void processes_forget_meta(struct processes *processes);

/* Returns the number of blocks of the selected process. */
uint64_t processes_rows(const struct session *session);
/* Returns the id of the first of them, 1 if there is none. */
uint64_t processes_first_id(const struct session *session);

#endif
