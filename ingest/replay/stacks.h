/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks that allocated or freed, numbered in the order of their first use. 0 is "no stack
 * taken". A stack is symbolized at its first use: its call site's function is needed then. */
#pragma once

#include "ingest/replay/frames.h"
#include "ingest/replay/scan.h"
#include "schemas/code/user_code.h"

/* Tells which frames are the user's own code, by the built-in list (schemas/code/user_code.h). */

/* All-zero is empty. */
struct user_frames {
    uint8_t *classes; /* by function row: enum user_code_class + 1, 0: not known yet */
    size_t capacity;
};

/* ---- stacks -------------------------------------------------------------------------------- */

enum stack_state {
    STACK_COMPLETE,
    STACK_DEPTH_LIMIT,
    STACK_UNWIND_END,
    STACK_LOST,
    STACK_NO_STACK,
    STACK_COLLECTOR, /* no function freed: a garbage collector did */
};

/* Returns the schema's word: 'complete', 'depth limit', 'unwind end', 'lost', 'none',
 * 'collector'. */
const char *stack_state_name(enum stack_state state);

struct stack_row {
    uint32_t node;                      /* place of the innermost frame; CONTEXT_LOST */
    uint32_t depth;                     /* frames, inlined ones included */
    uint32_t call_site_frame, function; /* FRAMES_NONE: no call site */
    uint32_t user_frame;                /* FRAMES_NONE: no frame is the user's own code */
    enum stack_state state;
    unsigned operator_new; /* enum operator_new, by the frame of the operator */
};

/* The facts about a context, by its place in the tree: a step of a walk reads nothing else. */
struct stacks_context {
    struct frame_range frames; /* count 0: not symbolized yet, or a marker */
    uint32_t parent;           /* as in the tree, from the first stack on that has the context;
                                  CONTEXT_ROOT for a marker */
    uint32_t stack;            /* id of the stack that ends here, 0: none yet */
    uint32_t depth;            /* frames from here outwards; 0: not known yet, or none */
    uint32_t user_frame;       /* of a stack that ends here; FRAMES_NONE: none */
    unsigned user_own : 1;     /* it is the user's own code, not only a runtime's */
    unsigned state : 3;        /* enum stack_state of the stacks that go through it */
    unsigned user_age : 28;    /* evaluators + 1 when user_frame was found, 0: it was not */
};

struct stacks {
    const struct trace_scan *scan;
    struct frames frames;
    struct user_frames user;
    struct stack_row *rows;
    size_t count, capacity;
    struct stacks_context *contexts;
    size_t context_room;
    uint32_t *by_id; /* stack id by the node's id, for ids below by_id_count, without a hash */
    size_t by_id_count;
    uint32_t *function_modules; /* by module row: id of the first module of the same file */
    size_t modules_named;       /* module rows that the symbolizer knows */
    uint32_t lost;              /* stack id of "lost", 0: none yet */
    uint32_t collector;         /* stack id of frees by a garbage collector, 0: none yet */
    bool has_runtime;           /* one of the contexts is a runtime's */
    unsigned evaluators;        /* functions that were found to be evaluators */
    uint8_t *evaluated;         /* by context: where find_evaluators() came by */
    size_t evaluated_room;
    uint32_t *path; /* the contexts of a stack that is measured */
    size_t path_capacity;
};

/* Begins the stacks. `symbols` and `scan` must outlive them. False if memory is exhausted; call
 * stacks_free() then too. */
bool stacks_init(struct stacks *stacks, const struct trace_scan *scan, struct symbols *symbols);
/* Takes the nodes and modules that the scan has found since. False if memory is exhausted. */
bool stacks_extend(struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Returns the stack id of an event's stack (a node id), or INDEX_NONE if memory is exhausted. */
uint32_t stacks_find(struct stacks *stacks, uint32_t node_id);

/* Returns the stack id of frees by a garbage collector, or INDEX_NONE if memory is exhausted. */
uint32_t stacks_collector(struct stacks *stacks);

/* Returns the id of the function of a stack's call site, 0: none. */
static inline uint32_t stacks_function(const struct stacks *stacks, uint32_t stack)
{
    const uint32_t function = stacks->rows[stack].function;
    return function == FRAMES_NONE ? 0 : function + 1;
}

/* Prefetches the row of the node's stack, for a stacks_find() soon. Returns the stack's id, or 0 if
 * it is not known yet. */
uint32_t stacks_prefetch_node(const struct stacks *stacks, uint32_t node_id);

/* Prefetches the row of the stack with this id. */
void stacks_prefetch(const struct stacks *stacks, uint32_t stack);

/* A walk through a stack's frames, innermost first. It begins as stacks_walk(row), and
 * stacks_walk_next() returns FRAMES_NONE after the outermost frame. */
struct stack_walk {
    uint32_t node;
    uint32_t next, end; /* frame rows of the node before it */
};
struct stack_walk stacks_walk(const struct stack_row *row);
uint32_t stacks_walk_next(const struct stacks *stacks, struct stack_walk *walk);
