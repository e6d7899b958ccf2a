/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of a session: the call site of each, and its frames innermost first.
 *
 * Order of calls: stacks_open() reads one row for each stack. The first stacks_frames() reads all
 * frames: a session may have millions and the first screen needs none. stacks_close() ends it.
 * Stack 0 means "no stack taken" and always exists.
 */
#ifndef MPROF_SESSION_DATA_STACKS_H
#define MPROF_SESSION_DATA_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/data/names.h"
#include "session/session.h"

struct database;

/* A symbolized place in the code: one row of `frame`. */
struct stack_frame {
    uint64_t pc;
    uint32_t function, module, file, line;
    bool inlined;
    bool bare; /* no unwinding rule covers it */
};

struct stacks {
    struct database *database;
    uint32_t count;      /* largest stack id + 1 */
    uint32_t *function;  /* of the call site, by stack */
    uint32_t *call_site; /* frame id of the call site, 0: none */
    const char **state;  /* by stack */
    bool *runtime;       /* by stack: its blocks are the runtime's or suppressed, not leaks */
    struct stack_frame *frame_table; /* by frame id; [0] is unknown */
    uint32_t frame_count;
    bool loaded;      /* the two below are loaded */
    uint64_t *first;  /* count + 1 positions in `frames`: the first frame of each stack */
    uint32_t *frames; /* frame ids, innermost first */
};

bool stacks_open(struct stacks *stacks, struct database *database, struct names *names,
                 struct session_error *error);
/* Reads all frames if they are not loaded yet. Returns false with `error` set. */
bool stacks_frames(struct stacks *stacks, struct session_error *error);
void stacks_close(struct stacks *stacks);

/* Returns the place of a stack's call site, or the unknown place for an unknown stack. */
const struct stack_frame *stacks_call_site(const struct stacks *stacks, uint64_t stack);

#endif
