/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The growth between two moments A and B: the blocks of a selection that were live at A, live at B,
 * allocated after A and up to B, freed after A and up to B (those allocated since A among them).
 * So for each row, and in all: after - before = allocated - freed.
 *
 * The rules of session.h hold: this function blocks, one thread at a time uses a session, and sums
 * are estimates if the session is sampled.
 */
#ifndef MPROF_SESSION_GROWTH_H
#define MPROF_SESSION_GROWTH_H

#include "session/session.h"

/* The subject of the rows, and so the meaning of their `id`. */
enum session_growth_by {
    SESSION_GROWTH_TYPE, /* the first type of those with the same name */
    /* The function of the call site, and that of the user's own code (user_code.h); 0: none. The
     * first one of those with the same name that have rows. */
    SESSION_GROWTH_FUNCTION,
    SESSION_GROWTH_USER,
    SESSION_GROWTH_STACK,
};

struct session_growth_sum {
    uint64_t bytes, count;
};

struct session_growth {
    uint32_t id;
    struct session_growth_sum before, after; /* live at A, live at B */
    struct session_growth_sum allocated, freed;
    struct session_growth_sum born; /* live at B, not at A */
};

/*
 * Stores the rows in which anything was live or happened, the largest net growth first and the
 * largest loss last; equal ones by id. The caller frees them. `total` is their sum, its id 0; it
 * may be NULL. `from_ns` (A) is at most `to_ns` (B); if they are equal, the rows tell what was live
 * then. Returns false with `error` set.
 */
bool selection_growth(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                      enum session_growth_by by, struct session_growth **rows, size_t *count,
                      struct session_growth *total, struct session_error *error);

/* Returns by how much the bytes of a row grew, below 0 if they became less. Differences beyond the
 * range of the type are cut. */
int64_t session_growth_net(const struct session_growth *row);

#endif
