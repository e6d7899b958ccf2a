/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of a session: for each its call site, and its frames innermost first.
 *
 * Order of calls: stacks_open() reads one row a stack; the frames are read as a whole at the
 * first stacks_frames(), since a session may have millions of them and the first screen needs
 * none; stacks_close(). Stack 0 is "no stack taken" and always there.
 */
#ifndef MPROF_SESSION_STACKS_H
#define MPROF_SESSION_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/names.h"
#include "session/session.h"

struct database;

/* A symbolized place in the code: one row of `frame`. */
struct stack_place {
    uint64_t pc;
    uint32_t function, module, file, line;
    bool inlined;
    bool bare; /* no unwinding rule covers it */
};

struct stacks {
    struct database *database;
    uint32_t count;     /* largest stack id + 1 */
    uint32_t *function; /* of the call site, by stack */
    uint32_t *place;    /* frame id of the call site, 0: none */
    const char **state; /* by stack */
    bool *runtime;      /* by stack: its blocks are the runtime's or suppressed, and no leaks */
    struct stack_place *places; /* by frame id; [0] is unknown */
    uint32_t place_count;
    bool loaded;      /* the two below are there */
    uint64_t *first;  /* count + 1: where a stack's frames begin in `frames` */
    uint32_t *frames; /* frame ids, innermost first */
};

bool stacks_open(struct stacks *stacks, struct database *database, struct names *names,
                 struct session_error *error);
/* Reads all frames if not done yet. */
bool stacks_frames(struct stacks *stacks, struct session_error *error);
void stacks_close(struct stacks *stacks);

/* The call-site place of a stack; the unknown place for unknown stacks. */
const struct stack_place *stacks_call_site(const struct stacks *stacks, uint64_t stack);

#endif
