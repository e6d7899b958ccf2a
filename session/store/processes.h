/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a session, and the selected one: every selection, peak and title counts only its
 * blocks. The ids of its blocks form one range. */
#pragma once

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

/* ---- collected ---- */

/* The arenas of which a garbage collector took blocks (docs/session-schema.md, "arena"). */

/* By id of the arena, 0 the process heap. */
struct collected_arenas {
    uint8_t *other;        /* 1: no collector took a block of it */
    uint64_t *kept_before; /* blocks allocated before it, and live at the end, are kept */
    uint64_t *earlier;     /* ids of others that are: see collected_arenas_next_earlier() */
    size_t count;          /* collected ones; 0: the arrays are NULL */
    size_t earlier_count, earlier_room;
};

/* Returns the place in `earlier` of the first id that is not below `id`. These are blocks that were
 * live when a rotated trace began, and that the last collection before it had left. Their time is
 * that of the beginning, after the collection. Ids ascend. */
size_t collected_arenas_next_earlier(const struct collected_arenas *arenas, uint64_t id);

/* Reads the arenas. The caller calls collected_arenas_free(). Returns false with `error` set. */
bool collected_arenas_read(struct session *session, struct collected_arenas *arenas,
                           struct session_error *error);
void collected_arenas_free(struct collected_arenas *arenas);
