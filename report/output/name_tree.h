/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of sessions as one tree of names: the functions of two sessions have only their names
 * in common. Node 0 is the root, and a node comes after its caller.
 *
 * Calls that stacks share are one way in the tree, so its memory does not grow with the length of
 * their texts. */
#pragma once

#include "report/output/ids.h"
#include "session/same_modules.h"

struct name_tree;

/* `names` gets the names of functions, and outlives the tree. NULL if memory is exhausted. */
struct name_tree *name_tree_new(struct text_ids *names);
void name_tree_free(struct name_tree *tree);

/* Returns the number of nodes, with the root. */
size_t name_tree_count(const struct name_tree *tree);
/* Returns a node's caller, and its name: a number of `names` or below 0. Not for the root. */
uint32_t name_tree_caller(const struct name_tree *tree, uint32_t node);
int32_t name_tree_name(const struct name_tree *tree, uint32_t node);
/* Finds or makes the callee of a node. Returns false if memory is exhausted. */
bool name_tree_callee(struct name_tree *tree, uint32_t caller, int32_t name, uint32_t *callee);

/* Returns the names on the way to a node, as "main > parse", which the caller frees. "" for the
 * root. NULL if memory is exhausted. */
char *name_tree_text(const struct name_tree *tree, uint32_t node);

/* The stacks of one session in the tree. The fields are its own. */
struct name_walk {
    struct name_tree *tree;
    struct session *session;
    const struct same_modules *same;
    uint32_t *found;    /* by node of the session; 0: not yet */
    int32_t *functions; /* by function: its name, or -1: not yet */
    uint32_t *way;      /* room for the nodes of a stack */
};

/* `same`: what the session's modules are called in another one, or NULL. Returns false with `error`
 * set. name_walk_end() must follow in either case. */
bool name_walk_begin(struct name_walk *walk, struct name_tree *tree, struct session *session,
                     const struct same_modules *same, struct session_error *error);
/* Finds or makes the node for a stack node (0: the root). Returns false with `error` set. */
bool name_walk_find(struct name_walk *walk, uint32_t of_session, uint32_t *node,
                    struct session_error *error);
void name_walk_end(struct name_walk *walk);
