/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling context tree of a selection: which path of calls holds how much.
 *
 * Every stack with selected allocations is a path of nodes; a node's sums are those of all paths
 * through it. Top-down a path leads from the outermost function inwards to the call site, bottom-up
 * from the call site outwards. Frames inside the call site (allocators and their wrappers) are left
 * out.
 *
 * Without libraries, a path has only frames of the user's own code (user_code.h). The node inside
 * the innermost one is then the library function that it called to allocate, if it called one
 * (`library`); below it is nothing. Stacks without own code lie under one node, TREE_NO_OWN_CODE,
 * with all their frames.
 *
 * Folded, functions that call each other in a circle are one node: the strongly connected
 * components of the graph of calls, as "A Memory Allocation Profiler for C and Lisp" by Zorn and
 * Hilfinger (1988) merges them, by Tarjan's algorithm. A path passes a component once, so a
 * function that is entered again counts once. A cycle of more than four functions has a
 * child for each function by which paths leave it (top-down: the innermost one in it).
 *
 * Order of calls: session_tree_new(), then the other functions, session_tree_free(). The children
 * of a node are made when they are first asked for. One thread (the engine of jobs.h) may call the
 * functions that take an error while another one calls those that only read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct session_tree;

struct session_tree_options {
    bool bottom_up, hide_libraries, fold;
    bool growth;             /* the sums at_from and at_to */
    uint64_t from_ns, to_ns; /* of the growth */
    bool resident;           /* the sum of that name */
    uint64_t resident_ns;    /* of those live then */
};

/* Bytes and blocks. */
struct session_tree_sums {
    uint64_t at_peak_bytes, at_peak_count; /* live at the program's peak */
    uint64_t bytes, allocations;
    uint64_t live_bytes, live_count; /* never freed */
    uint64_t short_count;            /* freed within 1 ms; see session_tree_short_known() */
    uint64_t from_bytes, to_bytes;   /* live at the two times of the growth */
    uint64_t resident;               /* bytes in memory; see session_tree_resident_known() */
};

enum session_tree_measure {
    TREE_AT_PEAK,
    TREE_BYTES,
    TREE_COUNT,
    TREE_LIVE,
    TREE_SHORT,  /* share of the allocations */
    TREE_GROWTH, /* to_bytes - from_bytes */
    TREE_RESIDENT,
    TREE_NAME,
};

enum session_tree_kind {
    TREE_ROOT, /* everything; node 0 */
    TREE_FUNCTION,
    TREE_LIBRARY, /* a library function that own code called */
    TREE_NO_OWN_CODE,
    TREE_NO_STACK,
};

struct session_tree_node {
    uint32_t parent, depth; /* the root's depth is 0 */
    enum session_tree_kind kind;
    uint32_t function;  /* of a cycle: the first of its functions */
    uint32_t functions; /* in the cycle; 1: it is not a cycle */
    bool recursive;     /* a single function that calls itself */
    bool leaf;          /* it has no children */
    struct session_tree_sums sums;
};

/* Makes a tree with its root and the root's children. NULL with `error` set: a damaged chunk, no
 * memory, cancelled. The session and the selection must outlive it. */
struct session_tree *session_tree_new(struct session *session, struct selection *selection,
                                      const struct session_tree_options *options,
                                      struct session_error *error);
/* Returns the tree, with one more owner: each calls session_tree_free(), the last one frees it. */
struct session_tree *session_tree_share(struct session_tree *tree);
void session_tree_free(struct session_tree *tree);

/* Makes the children of a node, if they are not there yet. Returns false with `error` set. */
bool session_tree_expand(struct session_tree *tree, uint32_t node, struct session_error *error);
/* Expands from a node on the child that has most, and so on while a child has at least half of what
 * its parent has. Stores the last one. Stacks without own code are left aside if there are others.
 * Returns false with `error` set. */
bool session_tree_expand_hottest(struct session_tree *tree, uint32_t node,
                                 enum session_tree_measure measure, uint32_t *last,
                                 struct session_error *error);
/* Expands nodes with at least `least` below one, for so many levels. False with `error` set. */
bool session_tree_expand_larger(struct session_tree *tree, uint32_t node,
                                enum session_tree_measure measure, int64_t least, unsigned levels,
                                struct session_error *error);
/* Computes the sums short_count of all nodes, if session_tree_new() did not get them without a pass
 * over the allocations. Returns false with `error` set. */
bool session_tree_find_short(struct session_tree *tree, struct session_error *error);

/* The order of siblings, and the way through the tree that a search goes. */
struct session_tree_order {
    enum session_tree_measure measure;
    bool descending;
};
/* Finds the next node, or with `backward` the one before, in whose name the text occurs, letter
 * case aside: from node `from` on, parents before children, siblings in their order, and from the
 * end on at the other end again. Looks into nodes without children so far, and makes those on the
 * way to what it finds. A cycle has the names of all its functions. `within`: only below that node.
 * Stores 0 if there is none. Returns false with `error` set. */
struct session_tree_search {
    const char *text;
    uint32_t from, within;
    bool backward;
    struct session_tree_order order;
};
bool session_tree_find(struct session_tree *tree, const struct session_tree_search *search,
                       uint32_t *found, struct session_error *error);
/* Finds the node at the end of a path of functions from the root on, as session_tree_path() gives
 * it, or the last one that there is. Returns false with `error` set. */
bool session_tree_follow(struct session_tree *tree, const uint32_t *path, size_t count,
                         uint32_t *node, struct session_error *error);
/* Finds the node of a function on the path of a stack: the one where the path meets the function
 * for the `nth` time, 1 or more, or the last time if it does so less often. Stores 0 if there is
 * none. Returns false with `error` set. */
bool session_tree_follow_stack(struct session_tree *tree, uint32_t stack, uint32_t function,
                               uint32_t nth, uint32_t *node, struct session_error *error);
/* Writes a test of the filter language that the allocations of a node pass. *exact is false if some
 * others of the selection pass it, too: no short test tells them apart. False with `error` set. */
bool session_tree_test(struct session_tree *tree, uint32_t node, char *out, size_t size,
                       bool *exact, struct session_error *error);

/* ---- what another thread may read ------------------------------------------------------- */

const struct session_tree_node *session_tree_node(const struct session_tree *tree, uint32_t node);
/* Stores the children, *count from *first on, unordered. False if they are not there yet. */
bool session_tree_children(const struct session_tree *tree, uint32_t node, uint32_t *first,
                           uint32_t *count);
/* Computes the sums of a node without those of its children. In a tree from the outermost function
 * inwards that is what the function allocates itself; of a cycle, what its functions do.
 * short_count is 0 until session_tree_short_known(). Returns false if the children are not there
 * yet. */
bool session_tree_self(const struct session_tree *tree, uint32_t node,
                       struct session_tree_sums *self);
/* Sorts nodes. Equal ones are in the order of their names. */
void session_tree_sort(const struct session_tree *tree, const struct session_tree_order *order,
                       uint32_t *nodes, size_t count);
/* Returns a measure of a node. TREE_GROWTH may be negative; TREE_NAME gives 0. */
int64_t session_tree_value(const struct session_tree_node *node, enum session_tree_measure measure);
/* Returns true if short_count is known. */
bool session_tree_short_known(const struct session_tree *tree);
/* Returns true if the sums `resident` were asked for and pages were read. */
bool session_tree_resident_known(const struct session_tree *tree);
/* Writes the functions of a node, the first `capacity` of those of its cycle. Returns their number.
 */
size_t session_tree_functions(const struct session_tree *tree, uint32_t node, uint32_t *functions,
                              size_t capacity);
/* Writes the functions of the nodes from below the root to this one. Returns their number. */
size_t session_tree_path(const struct session_tree *tree, uint32_t node, uint32_t *functions,
                         size_t capacity);
/* Returns the stack of the node's allocations that has most bytes at the peak, or else in all. */
uint32_t session_tree_stack(const struct session_tree *tree, uint32_t node);
/* Return a line of that stack: the call of the node in the function of its parent (bottom-up: the
 * call of its parent in the node), and the innermost line of the user's own code up to the node.
 * `line` is 0 if it is not known; no line calls the outermost functions. The file is the whole
 * path. */
struct session_tree_line {
    const char *file;
    uint32_t line;
};
struct session_tree_line session_tree_call(const struct session_tree *tree, uint32_t node);
struct session_tree_line session_tree_own_line(const struct session_tree *tree, uint32_t node);
