/* SPDX-License-Identifier: BSD-2-Clause */
/* The arenas of which a garbage collector took blocks (docs/session-schema.md, "arena"). */
#ifndef MPROF_SESSION_DATA_COLLECTED_H
#define MPROF_SESSION_DATA_COLLECTED_H

#include "session/session.h"

/* By id of the arena, 0 the process heap. */
struct collected_arenas {
    uint8_t *other;    /* 1: no collector took a block of it */
    uint64_t *kept_ns; /* blocks that are live at the end and not younger are kept */
    size_t count;      /* collected ones; 0: the arrays are NULL */
};

/* Reads the arenas. The caller calls collected_arenas_free(). Returns false with `error` set. */
bool collected_arenas_read(struct session *session, struct collected_arenas *arenas,
                           struct session_error *error);
void collected_arenas_free(struct collected_arenas *arenas);

#endif
