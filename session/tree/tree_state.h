/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a calling context tree; private to this room.
 *
 * `rows` are the sums by stack. `order` has their numbers, sorted so that the rows of a node
 * are neighbours: a node has order[first_row … first_row + row_count - 1], and its children divide
 * these among them. `cursor` says how far the path of a row has been followed: to the children of
 * the deepest node that was made. */
#pragma once

#include <stdatomic.h>

#include "session/stacks.h"
#include "session/tree.h"

/* The frames of a row that a path shows. */
enum path_rule {
    PATH_ALL,         /* all */
    PATH_OWN,         /* those of the user's own code, and one library function */
    PATH_RUNTIME,     /* those of a runtime: there is no own code */
    PATH_NO_OWN_CODE, /* a node for these stacks, then all */
    PATH_NO_STACK,    /* only a node for these stacks */
};

/* The components of the graph of calls. Functions in no visible frame have one each, too. */
struct components {
    uint32_t *of_function; /* by function */
    uint32_t *first;       /* by component, `count` + 1: its first place in `members` */
    uint32_t *members;     /* functions by component, then in the order in which they were met */
    bool *recursive;       /* by component: calls itself */
    uint32_t count;
};

struct tree_node {
    struct session_tree_node public;
    uint32_t key; /* see path.c */
    uint32_t first_row, row_count, first_child, child_count;
    uint32_t heaviest;    /* row + 1; 0: none yet */
    uint32_t call, own;   /* frames of its stack (session_tree_call()); 0: none */
    atomic_bool expanded; /* the children can be read */
};

enum { ARRAY_BITS = 10, ARRAYS = 22 };

struct session_tree {
    atomic_uint owners;
    struct session *session;
    struct selection *selection;
    struct session_tree_options options;
    const uint8_t *classes; /* of functions */
    struct components components;
    /* By row: */
    struct session_stack_sums *rows;
    uint64_t *from_bytes; /* NULL: no growth is asked for */
    uint64_t *resident;   /* by stack; NULL: not asked for, or not known */
    uint64_t *to_bytes;
    uint8_t *rules;  /* enum path_rule */
    uint32_t *sites; /* nodes of the call sites, or of the innermost frames (stacks.h) */
    uint32_t *cursor, *order;
    size_t row_count;
    struct tree_node *arrays[ARRAYS]; /* array i has 1 << (ARRAY_BITS + i) nodes */
    uint32_t node_count;
    uint64_t rows_followed; /* by all nodes that were expanded */
    atomic_bool short_known;
    uint32_t *slots; /* by key: child + 1 while children are made; otherwise 0 */
    /* The last search: by row, the depth of the innermost node with the text. */
    char *searched;
    uint32_t *deepest;
};

/* ---- path.c ---- */

#define PATH_END UINT32_MAX

/* Returns the number of different keys. */
uint32_t path_keys(const struct session_tree *tree);
/* Finds the call site and the rule of each row. Returns false with `error` set. */
bool path_find_rules(struct session_tree *tree, struct session_error *error);
/* Returns the key of the next node of a row's path and moves the cursor, which begins at 0.
 * PATH_END: there is none. */
uint32_t path_next(const struct session_tree *tree, uint32_t row, uint32_t *cursor);
/* Finds the frames of the lines of a node: its row's cursor was at `from` before the node, and is
 * at `to` after it. */
void path_lines(const struct session_tree *tree, uint32_t row, uint32_t from, uint32_t to,
                struct tree_node *node);
/* Describes the node that a key means. */
void path_describe(const struct session_tree *tree, uint32_t key, struct session_tree_node *node);
/* Stores the functions of a key; its number of functions may be 0. */
size_t path_functions(const struct session_tree *tree, uint32_t key, const uint32_t **functions);

/* ---- components.c ---- */

/* Finds the components, one for each function if the tree is not folded. False with `error` set. */
bool components_find(struct session_tree *tree, struct session_error *error);
void components_free(struct components *components);

/* ---- tree.c ---- */

struct tree_node *tree_node(const struct session_tree *tree, uint32_t node);
/* Looks now and then if the question is cancelled. */
bool tree_go_on(const struct session_tree *tree, size_t i, struct session_error *error);

/* ---- parts.c ---- */

/* Works on the numbers from `first` to `end` - 1. `thread` is less than scan_threads(), and no
 * other thread has the same. */
typedef void tree_part_work(void *context, size_t thread, uint32_t first, uint32_t end);
/* Parts the numbers from 0 to `count` - 1, and works on the parts on all cores. Returns false with
 * `error` set if the question is cancelled. */
bool tree_each_part(const struct session_tree *tree, uint32_t count, tree_part_work *work,
                    void *context, struct session_error *error);
