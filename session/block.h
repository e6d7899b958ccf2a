/* SPDX-License-Identifier: BSD-2-Clause */
/* The story of one allocation: what lay beside it, what was at its address before and after it, and
 * the chain of reallocations that it belongs to.
 *
 * The rules of session.h hold: these functions block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* ---- facts ------------------------------------------------------------------------------ */

#define SESSION_CANDIDATES 16

/* The facts about a block that its row does not have. Names are cut to fit. */
struct session_block_facts {
    const char *confidence; /* of its type: "exact", "inferred" or "unknown" */
    const char *arena;      /* the arena's name; "": the process heap */
    uint32_t process;       /* 0: not known */
    char freed_by[32];      /* "free", "delete[]", …, "realloc"; "": not known, or not freed */
    /* Possible types of a block whose type is unknown: guesses, never the answer. */
    char candidate[SESSION_CANDIDATES][96];
    size_t candidates;
};
/* Returns false with `error` set. */
bool session_block_facts(struct session *session, const struct session_allocation *block,
                         struct session_block_facts *facts, struct session_error *error);

/* ---- beside it, before it and after it -------------------------------------------------- */

/* The nearest live blocks below and above a block at one moment, in the same arena of the same
 * process; ids, 0: there is none. */
struct session_beside {
    uint64_t ns, below, above;
};

#define SESSION_USES 16

struct session_surroundings {
    struct session_beside birth; /* when it was allocated */
    struct session_beside end;   /* when it was freed; of a live block, at the end of the session */
    /* The blocks that held its first address before and after it, in the same arena of the same
     * process: their number, and the ids of those nearest in time, the nearest first. */
    uint64_t before_count, after_count, before[SESSION_USES], after[SESSION_USES];
};
/* Takes a pass over the allocations. Returns false with `error` set. */
bool session_surroundings(struct session *session, const struct session_allocation *block,
                          struct session_surroundings *around, struct session_error *error);

/* ---- reallocations ---------------------------------------------------------------------- */

#define SESSION_CHAIN 256

/* The blocks that realloc made of each other. */
struct session_chain {
    uint64_t ids[SESSION_CHAIN]; /* in the order of time; the block itself is ids[place] */
    size_t count, place;
    bool older, newer; /* there are more before the first or after the last of `ids` */
};
/* Takes a pass over the later allocations, unless the block is live. False with `error` set. */
bool session_chain(struct session *session, const struct session_allocation *block,
                   struct session_chain *chain, struct session_error *error);
