/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the table stack_node as a whole: the frames of all stacks, which are one tree. Straight
 * from the pages of the file, which takes a small part of the time of SELECT.
 *
 * Order of calls: stack_frames_begin(), all rows, stack_frames_end(). A function that adds a row
 * returns false if memory is exhausted, or if the row does not fit those before it: ids are dense,
 * and a node's parent is higher. So a stack has at most as many frames as there are nodes.
 */
#ifndef MPROF_SESSION_DATA_STACK_FRAMES_H
#define MPROF_SESSION_DATA_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Nodes are numbered from 1 here: 0 is none. All nodes inwards of a node are those directly before
 * it; its parent has a higher number, in most cases the next one.
 */
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

/* Makes an empty one. Returns false if memory is exhausted. */
bool stack_frames_begin(struct stack_frames *all, uint32_t frame_count);
/* Adds a row of stack_node. They come by id. */
bool stack_frames_add(struct stack_frames *all, int64_t id, int64_t parent, int64_t frame);
/* Returns false if a parent does not exist, or memory is exhausted. */
bool stack_frames_end(struct stack_frames *all);
void stack_frames_free(struct stack_frames *all);

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

/*
 * Adds all rows from the file; `root` is the table's root page. Also false if the table cannot be
 * read this way, or `stop` says so, which is asked every millisecond or so. Then `all` holds a part
 * of it.
 */
bool stack_frames_read(struct stack_frames *all, const char *path, uint32_t root,
                       bool (*stop)(const void *context), const void *context);

#endif
