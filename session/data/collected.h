/* SPDX-License-Identifier: BSD-2-Clause */
/* The arenas of which a garbage collector took blocks (docs/session-schema.md, "arena"). */
#ifndef MPROF_SESSION_DATA_COLLECTED_H
#define MPROF_SESSION_DATA_COLLECTED_H

#include "session/session.h"

/* By id of the arena, 0 the process heap. */
struct collected_arenas {
    uint8_t *other;        /* 1: no collector took a block of it */
    uint64_t *kept_before; /* blocks allocated before it, and live at the end, are kept */
    uint64_t *earlier;     /* ids of others that are: see collected_arenas_next_earlier() */
    size_t count;          /* collected ones; 0: the arrays are NULL */
    size_t earlier_count, earlier_room;
};

/*
 * Returns the place in `earlier` of the first id that is not below `id`. These are blocks that were
 * live when a rotated trace began, and that the last collection before it had left. Their time is
 * that of the beginning, after the collection. Ids ascend.
 */
size_t collected_arenas_next_earlier(const struct collected_arenas *arenas, uint64_t id);

/* Returns true if a block that is live at the end is kept. */
static inline bool collected_arenas_keep(const struct collected_arenas *arenas, uint64_t id,
                                         uint64_t arena, uint64_t alloc_ns)
{
    if (arenas->count == 0 || alloc_ns < arenas->kept_before[arena])
        return true;
    const size_t place = collected_arenas_next_earlier(arenas, id);
    return place < arenas->earlier_count && arenas->earlier[place] == id;
}

/* Reads the arenas. The caller calls collected_arenas_free(). Returns false with `error` set. */
bool collected_arenas_read(struct session *session, struct collected_arenas *arenas,
                           struct session_error *error);
void collected_arenas_free(struct collected_arenas *arenas);

#endif
