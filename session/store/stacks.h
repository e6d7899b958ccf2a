/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of a session: the call site of each, and its frames innermost first.
 *
 * Order of calls: stacks_open() loads the call sites, which are arrays of the session's file. The
 * first stacks_frames() reads all frames: a session may have millions and the first screen needs
 * none. stacks_close() ends it. Stack 0 means "no stack taken" and always exists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/store/names.h"

/* ---- stack frames ---- */

/* Reads the table stack_node as a whole: the frames of all stacks, which are one tree. Straight
 * from the pages of the file, which takes a small part of the time of SELECT. Ids are dense, and a
 * node's parent is higher. So a stack has at most as many frames as there are nodes. */

/* Nodes are numbered from 1 here: 0 is none. All nodes inwards of a node are those directly before
 * it; its parent has a higher number, in most cases the next one. */
struct stack_frames {
    struct stack_frames_node {
        uint32_t parent; /* 0: the frame is the outermost one */
        uint32_t frame;
        uint32_t top;   /* from here to this node, each parent is the next node */
        uint32_t depth; /* frames from here outwards */
    } * nodes;          /* [0] is empty */
    size_t capacity;
    uint32_t count;       /* with [0] */
    int64_t first_id;     /* the lowest one */
    uint32_t *of_id;      /* the node of each id; NULL: the ids are in the nodes' order */
    uint32_t frame_count; /* frame ids from here on become 0 */
    bool by_sqlite;       /* they were not read from the file */
};

/* Returns the node with an id of the session, 0 if there is none. */
static inline uint32_t stack_frames_find(const struct stack_frames *all, int64_t id)
{
    if (id < all->first_id || id - all->first_id >= (int64_t)all->count - 1)
        return 0;
    const uint32_t node = (uint32_t)(id - all->first_id) + 1;
    return all->of_id ? all->of_id[node] : node;
}

/* Returns the node of a stack that has so many frames, its own included. `node` is the stack, and
 * it has as many frames or more. */
static inline uint32_t stack_frames_outer(const struct stack_frames *all, uint32_t node,
                                          uint32_t depth)
{
    while (all->nodes[all->nodes[node].top].depth > depth)
        node = all->nodes[all->nodes[node].top].parent;
    return node + (all->nodes[node].depth - depth);
}

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
    uint32_t *node_id;   /* id of the innermost frame's node, 0: none */
    uint8_t *state;      /* by stack: see session_stack_state() */
    bool *runtime;       /* by stack: its blocks are the runtime's or suppressed, not leaks */
    struct stack_frame *frame_table; /* by frame id; [0] is unknown */
    uint32_t frame_count;
    bool loaded; /* `all` and `node` are loaded */
    struct stack_frames all;
    uint32_t *node; /* by stack */
    uint32_t *some; /* frames of one stack, for stacks_frames_of() */
    size_t some_count, some_capacity;
};

bool stacks_open(struct stacks *stacks, struct database *database, struct names *names,
                 struct session_error *error);
/* Reads all frames if they are not loaded yet. Returns false with `error` set. */
bool stacks_frames(struct stacks *stacks, struct session_error *error);
void stacks_close(struct stacks *stacks);

/* After stacks_frames(): the frames of a stack are those of the node stacks_node(), innermost, and
 * of its stacks_caller() until that is 0. stacks_frame() returns the frame's id. Stacks are known,
 * from 0 on. */
static inline uint32_t stacks_node(const struct stacks *stacks, uint32_t stack)
{
    return stacks->node[stack];
}

static inline uint32_t stacks_caller(const struct stacks *stacks, uint32_t node)
{
    return stacks->all.nodes[node].parent;
}

static inline uint32_t stacks_frame(const struct stacks *stacks, uint32_t node)
{
    return stacks->all.nodes[node].frame;
}

/* Returns the function of a node's frame. */
static inline uint32_t stacks_function(const struct stacks *stacks, uint32_t node)
{
    return stacks->frame_table[stacks_frame(stacks, node)].function;
}

/* Returns the number of frames of a node and its callers. */
static inline uint32_t stacks_depth(const struct stacks *stacks, uint32_t node)
{
    return stacks->all.nodes[node].depth;
}

/* Returns the innermost node that has this frame, from `node` outwards, or 0. */
static inline uint32_t stacks_find_frame(const struct stacks *stacks, uint32_t node, uint32_t frame)
{
    while (node != 0 && stacks_frame(stacks, node) != frame)
        node = stacks_caller(stacks, node);
    return node;
}

/* Returns by stack its innermost node with the frame `frames[stack]`; its innermost node if no node
 * has that frame. The caller frees it. However deep the stacks are, this takes a few steps for each
 * stack and node. Call stacks_frames() before. Returns NULL with `error` set. */
uint32_t *stacks_sites(const struct stacks *stacks, const uint32_t *frames,
                       struct session_error *error);

/* Stores for each node if its frame or one outward of it has a function for which `of_function`, by
 * id, is not 0: one step for each node, so much faster than to look at the frames of each stack.
 * The caller frees it. Call stacks_frames() before. Returns NULL with `error` set. */
uint8_t *stacks_with(const struct stacks *stacks, const uint8_t *of_function,
                     struct session_error *error);

/* Returns the place of a stack's call site, or the unknown place for an unknown stack. */
const struct stack_frame *stacks_call_site(const struct stacks *stacks, uint64_t stack);

/* Returns the number of frames of one stack and stores their ids, without loading those of all
 * stacks. They stay until the next call. Returns 0 for an unknown stack, or with `error` set. */
size_t stacks_frames_of(struct stacks *stacks, uint32_t stack, const uint32_t **frames,
                        struct session_error *error);
