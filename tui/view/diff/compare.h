/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares what was live at two moments, of one session or of two. Rows of two sessions are the
 * same if they have the same name: a type, a function, or a path of functions. Rows of the same
 * name are one row, also within one session. */
#pragma once

#include "session/same_modules.h"
#include "session/session.h"
#include "session/time.h"

struct compare_row {
    char *name; /* owned; the functions of a path from the call site outwards, with " ← " between */
    uint64_t key;     /* the same for the same name */
    uint32_t id;      /* of the type or function in the later session; 0: unknown, or a path */
    uint32_t *stacks; /* of a path: its stacks in the later session, by id; owned */
    size_t stack_count;
    struct session_growth_sum before, after;
};

/* One side: a selection and a moment. */
struct compare_side {
    struct session *session;
    struct selection *selection;
    uint64_t ns;
    const struct same_modules *same; /* what the later session calls its modules; NULL: the same */
};

/* Stores the rows with anything live on a side, by name; compare_free() them. Call it where the
 * blocking functions of both sessions may be called. Returns false with `error` set. */
bool compare_sides(const struct compare_side *before, const struct compare_side *after,
                   enum session_growth_by by, struct compare_row **rows, size_t *count,
                   struct session_error *error);
void compare_free(struct compare_row *rows, size_t count);

/* Returns by how much the bytes of a row grew. */
int64_t compare_net(const struct compare_row *row);
/* Returns "new", "gone", "grown", "shrunk" or "same". */
const char *compare_state(const struct compare_row *row);

/* ---- the blocks that a row counts, as a step of a filter -------------------------------- */

enum counted {
    COUNTED_CAME, /* live at B, not at A */
    COUNTED_WENT, /* live at A, not at B */
    COUNTED_LIVE, /* live at B */
};

struct counted_times {
    uint64_t before_ns, after_ns; /* A and B: either may be the later one */
    bool two_sessions;            /* A is in another one: all that is live at B is counted */
};

/* Returns the step of a row's blocks in the later session, for free(), or NULL. */
char *counted_step(const struct compare_row *row, enum session_growth_by by, enum counted counted,
                   const struct counted_times *times);
