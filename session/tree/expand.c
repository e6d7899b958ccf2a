/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the children of nodes: the next node of the path of each row parts the rows of a node. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/tree/tree_state.h"

/* The work on one node. */
struct expanding {
    struct session_tree *tree;
    struct tree_node *node;
    uint32_t *rows;    /* those of the node, in their order of before */
    uint32_t *cursors; /* after the child, for each of `rows` */
    uint32_t *keys;    /* of the child, for each of `rows` */
    uint32_t *found;   /* keys by child */
    uint32_t *sizes;   /* rows by child */
    uint32_t count;    /* children */
};

static bool open(struct expanding *expanding, struct session_error *error)
{
    const size_t rows = expanding->node->row_count;
    expanding->rows = malloc((rows + 1) * sizeof(uint32_t));
    expanding->cursors = malloc((rows + 1) * sizeof(uint32_t));
    expanding->keys = malloc((rows + 1) * sizeof(uint32_t));
    expanding->found = malloc((rows + 1) * sizeof(uint32_t));
    expanding->sizes = calloc(rows + 2, sizeof(uint32_t));
    return (expanding->rows && expanding->cursors && expanding->keys && expanding->found &&
            expanding->sizes) ||
           session_fail_memory(error, "the call tree");
}

static void close(struct expanding *expanding)
{
    for (uint32_t i = 0; expanding->found && i < expanding->count; i++)
        expanding->tree->slots[expanding->found[i]] = 0;
    free(expanding->rows);
    free(expanding->cursors);
    free(expanding->keys);
    free(expanding->found);
    free(expanding->sizes);
}

/* Follows the paths of some rows of the node to its children. */
static void follow_paths(void *context, size_t thread, uint32_t first, uint32_t end)
{
    struct expanding *expanding = context;
    const struct session_tree *tree = expanding->tree;
    (void)thread;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t row = tree->order[expanding->node->first_row + i];
        expanding->rows[i] = row;
        expanding->cursors[i] = tree->cursor[row];
        expanding->keys[i] = path_next(tree, row, &expanding->cursors[i]);
    }
}

/* Finds the children and the rows of each. */
static bool find_children(struct expanding *expanding, struct session_error *error)
{
    struct session_tree *tree = expanding->tree;
    const uint32_t rows = expanding->node->row_count;
    tree->rows_followed += rows;
    if (!tree_each_part(tree, rows, follow_paths, expanding, error))
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t key = expanding->keys[i];
        if (!tree_go_on(tree, i, error))
            return false;
        if (key == PATH_END)
            continue;
        if (tree->slots[key] == 0) {
            expanding->found[expanding->count] = key;
            tree->slots[key] = ++expanding->count;
        }
        expanding->sizes[tree->slots[key] - 1]++;
    }
    return true;
}

/* Makes room for the children. Nodes that are there never move. */
static bool room_for_children(struct session_tree *tree, uint32_t count,
                              struct session_error *error)
{
    uint64_t room = 0;
    for (unsigned array = 0; array < ARRAYS; array++) {
        if (!tree->arrays[array] && room < (uint64_t)tree->node_count + count) {
            tree->arrays[array] =
                calloc((size_t)1 << (ARRAY_BITS + array), sizeof(*tree->arrays[array]));
            if (!tree->arrays[array])
                return session_fail_memory(error, "the call tree");
        }
        room += tree->arrays[array] ? UINT64_C(1) << (ARRAY_BITS + array) : 0;
    }
    return room >= (uint64_t)tree->node_count + count ||
           session_fail(error, 0, "the call tree has too many nodes: filter first");
}

static void make_child(struct expanding *expanding, uint32_t parent, uint32_t child,
                       uint32_t first_row)
{
    struct session_tree *tree = expanding->tree;
    struct tree_node *node = tree_node(tree, expanding->node->first_child + child);
    node->key = expanding->found[child];
    node->first_row = first_row;
    node->public.parent = parent;
    node->public.depth = expanding->node->public.depth + 1;
    path_describe(tree, node->key, &node->public);
}

/* Puts the rows of each child beside each other; those that end here come last. */
static void part_rows(struct expanding *expanding)
{
    struct session_tree *tree = expanding->tree;
    const struct tree_node *node = expanding->node;
    uint32_t ended = node->first_row + node->row_count;
    for (uint32_t i = 0; i < node->row_count; i++) {
        const uint32_t row = expanding->rows[i], key = expanding->keys[i];
        tree->cursor[row] = expanding->cursors[i];
        if (key == PATH_END) {
            tree->order[--ended] = row;
            continue;
        }
        struct tree_node *child = tree_node(tree, node->first_child + tree->slots[key] - 1);
        tree->order[child->first_row + child->row_count++] = row;
        tree_add_row(tree, row, child);
    }
}

/* Returns true if no path goes on behind a node whose children are not there yet. */
static bool is_leaf(const struct session_tree *tree, const struct tree_node *node)
{
    for (uint32_t i = 0; i < node->row_count; i++) {
        const uint32_t row = tree->order[node->first_row + i];
        uint32_t cursor = tree->cursor[row];
        if (path_next(tree, row, &cursor) != PATH_END)
            return false;
    }
    return true;
}

bool session_tree_expand(struct session_tree *tree, uint32_t number, struct session_error *error)
{
    struct expanding expanding = {.tree = tree, .node = tree_node(tree, number)};
    struct tree_node *node = expanding.node;
    if (atomic_load(&node->expanded))
        return true;
    bool good = open(&expanding, error) && find_children(&expanding, error) &&
                room_for_children(tree, expanding.count, error);
    if (good) {
        uint32_t first_row = node->first_row;
        node->first_child = tree->node_count;
        node->child_count = expanding.count;
        for (uint32_t i = 0; i < expanding.count; i++) {
            make_child(&expanding, number, i, first_row);
            first_row += expanding.sizes[i];
        }
        part_rows(&expanding);
        for (uint32_t i = 0; i < expanding.count; i++) {
            struct tree_node *child = tree_node(tree, node->first_child + i);
            child->public.leaf = is_leaf(tree, child);
        }
        tree->node_count += expanding.count;
        atomic_store(&node->expanded, true);
    }
    close(&expanding);
    return good;
}

/* Rows that may be followed through several nodes for one question. A path of many frames, which
 * many rows have, is made up to here; the next question goes on. */
#define ROWS_FOLLOWED_MAX (UINT64_C(1) << 26)

/* Returns the child with the largest value, the node itself if there is none. The one without own
 * code counts only if it is the only one: its value is stored, 0 if it counts or is not there. */
static uint32_t largest_child(const struct session_tree *tree, uint32_t node,
                              enum session_tree_measure measure, int64_t *without_own_code)
{
    const struct tree_node *of = tree_node(tree, node);
    uint32_t best = node;
    *without_own_code = 0;
    for (uint32_t i = 0; i < of->child_count; i++) {
        const uint32_t child = of->first_child + i;
        const struct session_tree_node *shown = session_tree_node(tree, child);
        if (shown->kind == TREE_NO_OWN_CODE && of->child_count > 1)
            *without_own_code = session_tree_value(shown, measure);
        else if (best == node || session_tree_value(session_tree_node(tree, child), measure) >
                                     session_tree_value(session_tree_node(tree, best), measure))
            best = child;
    }
    return best;
}

bool session_tree_expand_hottest(struct session_tree *tree, uint32_t node,
                                 enum session_tree_measure measure, uint32_t *last,
                                 struct session_error *error)
{
    const uint64_t followed = tree->rows_followed;
    *last = node;
    for (;;) {
        if (!session_tree_expand(tree, *last, error))
            return false;
        int64_t without_own_code;
        const uint32_t child = largest_child(tree, *last, measure, &without_own_code);
        const int64_t whole =
            session_tree_value(session_tree_node(tree, *last), measure) - without_own_code;
        const int64_t part = session_tree_value(session_tree_node(tree, child), measure);
        if (child == *last || part <= 0 || part < whole - part ||
            tree->rows_followed - followed > ROWS_FOLLOWED_MAX)
            return true;
        *last = child;
    }
}

bool session_tree_expand_larger(struct session_tree *tree, uint32_t node,
                                enum session_tree_measure measure, int64_t least, unsigned levels,
                                struct session_error *error)
{
    const uint32_t start = session_tree_node(tree, node)->depth;
    /* The nodes that are left to look at: those of a level, then those of the next one. */
    uint32_t *level = malloc(sizeof(*level)), *next = NULL;
    size_t count = 1, next_count = 0;
    bool good = level || session_fail_memory(error, "the call tree");
    if (good)
        level[0] = node;
    const uint64_t followed = tree->rows_followed;
    for (uint32_t depth = start; good && count > 0 && depth < start + levels &&
                                 tree->rows_followed - followed <= ROWS_FOLLOWED_MAX;
         depth++) {
        next_count = 0;
        for (size_t i = 0; good && i < count; i++) {
            const struct tree_node *of = tree_node(tree, level[i]);
            good = session_tree_expand(tree, level[i], error);
            uint32_t *longer = realloc(next, (next_count + of->child_count + 1) * sizeof(*next));
            next = longer ? longer : next;
            good = good && (longer || session_fail_memory(error, "the call tree"));
            for (uint32_t child = 0; good && child < of->child_count; child++) {
                const uint32_t number = of->first_child + child;
                if (session_tree_value(session_tree_node(tree, number), measure) >= least)
                    next[next_count++] = number;
            }
        }
        uint32_t *swap = level;
        level = next;
        next = swap;
        count = next_count;
    }
    free(level);
    free(next);
    return good;
}

bool session_tree_follow(struct session_tree *tree, const uint32_t *path, size_t count,
                         uint32_t *node, struct session_error *error)
{
    *node = 0;
    for (size_t i = 0; i < count; i++) {
        if (!session_tree_expand(tree, *node, error))
            return false;
        const struct tree_node *of = tree_node(tree, *node);
        uint32_t next = 0;
        for (uint32_t child = 0; next == 0 && child < of->child_count; child++) {
            if (session_tree_node(tree, of->first_child + child)->function == path[i])
                next = of->first_child + child;
        }
        if (next == 0)
            break;
        *node = next;
    }
    return true;
}

/* Returns the child of a node whose rows have this one, 0 if there is none. */
static uint32_t child_with_row(const struct session_tree *tree, uint32_t node, uint32_t row)
{
    const struct tree_node *of = tree_node(tree, node);
    for (uint32_t i = 0; i < of->child_count; i++) {
        const struct tree_node *child = tree_node(tree, of->first_child + i);
        for (uint32_t at = 0; at < child->row_count; at++)
            if (tree->order[child->first_row + at] == row)
                return of->first_child + i;
    }
    return 0;
}

bool session_tree_follow_stack(struct session_tree *tree, uint32_t stack, uint32_t function,
                               uint32_t nth, uint32_t *node, struct session_error *error)
{
    uint32_t row = 0, at = 0, met = 0;
    *node = 0;
    while (row < tree->row_count && tree->rows[row].stack != stack)
        row++;
    if (row == tree->row_count)
        return true;
    const uint64_t followed = tree->rows_followed;
    while (met < nth && tree->rows_followed - followed <= ROWS_FOLLOWED_MAX) {
        const uint32_t *members = NULL;
        if (!session_tree_expand(tree, at, error))
            return false;
        at = child_with_row(tree, at, row);
        if (at == 0)
            break;
        const size_t count = path_functions(tree, tree_node(tree, at)->key, &members);
        for (size_t i = 0; i < count; i++) {
            if (members[i] == function) {
                *node = at;
                met++;
            }
        }
    }
    return true;
}
