/* SPDX-License-Identifier: BSD-2-Clause */
/* The step `fold`: unifies the leaves of the call tree until each node holds enough, as "C++ heap
 * profiling" by Mihalicza, Porkoláb and Gábor does.
 *
 * One pass sums the rows by stack. The stacks with rows make a tree of functions, from the root
 * inwards to the call site; functions of one name are one. Nodes are numbered in the order in which
 * they are met, so a parent has a lower number than its children: one loop from the last node to
 * the first passes on what is too small. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"

/* The tree that is being made. A session has millions of nodes, so the table that finds a child
 * holds no keys of its own: a node has its parent and its function (Knuth, TAOCP 3, 6.4, algorithm
 * L). At most half of the slots are in use. */
struct tree {
    struct session_group_set *set;
    uint32_t *slots;   /* node, 0: free; the root is nobody's child */
    size_t slot_count; /* a power of two */
    size_t capacity;   /* of set->nodes: half of the slots */
};

/* Returns the slot that holds a child, or the free one in which it belongs. */
static size_t slot_of(const struct tree *tree, uint32_t parent, uint32_t function)
{
    const struct group_node *nodes = tree->set->nodes;
    uint64_t hash = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash ^ hash >> 32) & (tree->slot_count - 1);
    for (uint32_t node; (node = tree->slots[slot]) != 0; slot = (slot + 1) & (tree->slot_count - 1))
        if (nodes[node].parent == parent && nodes[node].function == function)
            break;
    return slot;
}

/* Makes room for `capacity` nodes. */
static bool grow(struct tree *tree, size_t capacity)
{
    struct session_group_set *set = tree->set;
    struct group_node *nodes = realloc(set->nodes, capacity * sizeof(*nodes));
    if (!nodes)
        return false;
    set->nodes = nodes;
    tree->capacity = capacity;
    free(tree->slots);
    tree->slot_count = capacity * 2;
    tree->slots = calloc(tree->slot_count, sizeof(*tree->slots));
    for (uint32_t node = 1; tree->slots && node < set->node_count; node++)
        tree->slots[slot_of(tree, nodes[node].parent, nodes[node].function)] = node;
    return tree->slots != NULL;
}

static bool add_child(struct tree *tree, uint32_t parent, uint32_t function, uint32_t *node)
{
    struct session_group_set *set = tree->set;
    /* Most nodes have one child. */
    const uint32_t last = set->nodes[parent].child;
    if (last != 0 && set->nodes[last].function == function) {
        *node = last;
        return true;
    }
    size_t slot = slot_of(tree, parent, function);
    if (tree->slots[slot] == 0) {
        if (set->node_count == CODE_NONE)
            return false;
        if (set->node_count == tree->capacity) {
            if (!grow(tree, tree->capacity * 2))
                return false;
            slot = slot_of(tree, parent, function);
        }
        set->nodes[set->node_count] = (struct group_node){parent, function, 0};
        tree->slots[slot] = (uint32_t)set->node_count++;
    }
    *node = set->nodes[parent].child = tree->slots[slot];
    return true;
}

/* Stores the node of the path of a call site. `known` has, by node of the stacks, the node + 1 of
 * its path: stacks share callers, so each is looked for once. `path` has room for all nodes. */
static bool add_stack(struct tree *tree, const struct group_part *names, uint32_t at,
                      uint32_t *known, uint32_t *path, uint32_t *node)
{
    const struct stacks *stacks = &tree->set->session->stacks;
    size_t length = 0;
    for (; at != 0 && known[at] == 0; at = stacks_caller(stacks, at))
        path[length++] = at;
    *node = at == 0 ? 0 : known[at] - 1;
    while (length > 0) {
        at = path[--length];
        if (!add_child(tree, *node, names->same[stacks_function(stacks, at)], node))
            return false;
        known[at] = *node + 1;
    }
    return true;
}

/* Makes the tree of the stacks that have rows. `sums` are by stack. */
static bool make_tree(struct session_group_set *set, const struct group_sum *sums,
                      uint32_t *node_of_stack, struct session_error *error)
{
    struct session *session = set->session;
    struct tree tree = {.set = set};
    struct group_part names = {.field = FIELD_FUNCTION};
    if (!stacks_frames(&session->stacks, error) || !group_part_names(session, &names, error)) {
        group_part_close(&names);
        return false;
    }
    /* Functions without a name, which is "?", are one. */
    for (uint32_t i = 0; i < names.names.name_count; i++)
        if (names.same[i] == CODE_NONE || strcmp(names.names.name[i], "?") == 0)
            names.same[i] = 0;
    uint32_t *sites = stacks_sites(&session->stacks, session->stacks.call_site, error);
    uint32_t *known = calloc(session->stacks.all.count, sizeof(*known));
    uint32_t *path = malloc(session->stacks.all.count * sizeof(*path));
    bool good = sites && known && path && grow(&tree, 1024);
    if (good)
        set->nodes[set->node_count++] = (struct group_node){0, 0, 0};
    bool cancelled = false;
    for (uint32_t stack = 0; good && stack < session->stacks.count; stack++) {
        cancelled = (stack & 0xff) == 0 && scan_cancelled(session);
        node_of_stack[stack] = 0;
        if (cancelled)
            break;
        if (sums[stack].allocations > 0)
            good = add_stack(&tree, &names, sites[stack], known, path, &node_of_stack[stack]);
    }
    FREE_ALL(sites, known, path, tree.slots);
    group_part_close(&names);
    if (cancelled) {
        scan_go_on(session, error);
        return false;
    }
    return good || session_fail_memory(error, "the call tree");
}

/* Sums up the nodes and passes on what is too small. Stores the sums of the groups in `*cells`, by
 * node, and changes `node_of_stack` to the node that keeps the stack's blocks. */
static bool unify(struct session_group_set *set, const struct group_sum *sums,
                  uint32_t *node_of_stack, uint64_t bytes, struct group_sum **cells,
                  struct session_error *error)
{
    const uint32_t stacks = set->session->stacks.count;
    uint32_t *keeper = malloc(set->node_count * sizeof(*keeper));
    *cells = calloc(set->node_count, sizeof(**cells));
    if (!keeper || !*cells) {
        FREE_ALL(keeper, *cells);
        return session_fail_memory(error, "the call tree");
    }
    for (uint32_t stack = 0; stack < stacks; stack++) {
        (*cells)[node_of_stack[stack]].allocations += sums[stack].allocations;
        (*cells)[node_of_stack[stack]].bytes += sums[stack].bytes;
    }
    for (size_t node = set->node_count; node-- > 1;) {
        struct group_sum *sum = &(*cells)[node];
        keeper[node] = (uint32_t)node;
        if (sum->bytes >= bytes)
            continue;
        const uint32_t parent = set->nodes[node].parent;
        keeper[node] = parent;
        (*cells)[parent].allocations += sum->allocations;
        (*cells)[parent].bytes += sum->bytes;
        *sum = (struct group_sum){0, 0};
    }
    keeper[0] = 0;
    /* A parent is done before its children. */
    for (size_t node = 1; node < set->node_count; node++)
        keeper[node] = keeper[node] == node ? (uint32_t)node : keeper[keeper[node]];
    for (uint32_t stack = 0; stack < stacks; stack++)
        node_of_stack[stack] = keeper[node_of_stack[stack]];
    free(keeper);
    return true;
}

static bool fold(struct session_group_set *set, uint64_t bytes, struct session_error *error)
{
    const uint32_t stacks = set->session->stacks.count;
    struct group_dimension *dimension = &set->keys.dimensions[0];
    struct group_sum *sums = calloc((size_t)stacks + 1, sizeof(*sums));
    struct group_sum *cells;
    dimension->class_of_value = malloc(((size_t)stacks + 1) * sizeof(*dimension->class_of_value));
    if (!sums || !dimension->class_of_value) {
        free(sums);
        return session_fail_memory(error, "the call tree");
    }
    for (size_t i = 0; i < set->made; i++)
        sums[set->cell_of_group[i]] = set->sums[i];
    FREE_ALL(set->cell_of_group, set->group_of_cell, set->sums);
    set->cell_of_group = set->group_of_cell = NULL;
    set->sums = NULL;
    set->made = 0;
    bool good = make_tree(set, sums, dimension->class_of_value, error) &&
                unify(set, sums, dimension->class_of_value, bytes, &cells, error);
    free(sums);
    if (!good)
        return false;
    dimension->classes = set->node_count;
    set->keys.cells = set->node_count;
    struct sums nodes = {.words = (uint64_t *)cells, .count = set->node_count, .width = 2};
    return group_set_take_cells(set, &nodes, error);
}

struct session_group_set *group_fold(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors, uint64_t bytes,
                                     struct session_error *error)
{
    const struct filter_field_use path = {.field = FIELD_PATH};
    struct session_group_set *groups = group_set_new(session, set, colors, error);
    if (!groups)
        return NULL;
    if (!group_keys_open(session, &path, 1, &groups->colors, &groups->keys, error) ||
        !group_set_sum(groups, NULL, error) || !fold(groups, bytes, error) ||
        !group_set_begin(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}
