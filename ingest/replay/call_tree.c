/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/status.h"
#include "schemas/array.h"

struct call_tree_node {
    uint32_t parent, function;
    uint32_t self; /* place in `selves` + 1; 0: no call site */
};

struct call_tree_sums {
    uint64_t sums[CALL_TREE_SUMS];
};

static bool make_node(struct call_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->count >= INDEX_NONE || !ARRAY_RESERVE(tree->nodes, tree->count, tree->capacity))
        return false;
    tree->nodes[tree->count++] = (struct call_tree_node){.parent = parent, .function = function};
    return true;
}

/* Stores the node of a function below another one, which is made if it is new. */
static bool find_child(struct call_tree *tree, uint32_t parent, uint32_t function, uint32_t *node)
{
    const uint64_t hash = hash_combine(hash_seed(), (uint64_t)parent << 32 | function);
    size_t probe = index_map_begin(&tree->by_place, hash);
    if (tree->count == 0 && !make_node(tree, CALL_TREE_ROOT, 0))
        return false;
    while ((*node = index_map_next(&tree->by_place, hash, &probe)) != INDEX_NONE)
        if (tree->nodes[*node].parent == parent && tree->nodes[*node].function == function)
            return true;
    *node = (uint32_t)tree->count;
    return make_node(tree, parent, function) && index_map_insert(&tree->by_place, hash, *node);
}

/* Adds the sums of a stack, whose call site is the node. */
static bool add_usage(struct call_tree *tree, uint32_t node, const struct stack_usage *usage)
{
    uint32_t *self = &tree->nodes[node].self;
    if (*self == 0) {
        if (!ARRAY_RESERVE(tree->selves, tree->self_count, tree->self_capacity))
            return false;
        *self = (uint32_t)++tree->self_count;
    }
    uint64_t *sums = tree->selves[*self - 1].sums;
    sums[CALL_TREE_BYTES] += usage->bytes;
    sums[CALL_TREE_COUNT] += usage->allocations;
    sums[CALL_TREE_LIVE_BYTES] += usage->live_bytes;
    sums[CALL_TREE_LIVE_COUNT] += usage->live_count;
    sums[CALL_TREE_AT_PEAK_BYTES] += usage->at_peak_bytes;
    sums[CALL_TREE_AT_PEAK_COUNT] += usage->at_peak_count;
    return true;
}

/* ---- stacks ---- */

bool call_tree_enter(struct call_tree_path *path, const struct call_tree_step *step,
                     uint32_t parent)
{
    while (path->count > 0 && path->steps[path->count - 1].node != parent)
        path->count--;
    if (!ARRAY_RESERVE(path->steps, path->count, path->capacity))
        return false;
    path->steps[path->count] = *step;
    path->steps[path->count++].call = CALL_TREE_ROOT;
    return true;
}

bool call_tree_add_path(struct call_tree *tree, struct call_tree_path *path, uint32_t call_site,
                        const struct stack_usage *usage)
{
    size_t site = path->count, made;
    while (site > 1 && path->steps[site - 1].frame != call_site)
        site--;
    for (made = site; made > 0 && path->steps[made - 1].call == CALL_TREE_ROOT;)
        made--;
    uint32_t call = made > 0 ? path->steps[made - 1].call : CALL_TREE_ROOT;
    for (; made < site; made++) {
        if (!find_child(tree, call, path->steps[made].function, &call))
            return false;
        path->steps[made].call = call;
    }
    return add_usage(tree, call, usage);
}

bool call_tree_add_bare(struct call_tree *tree, const struct stack_usage *usage)
{
    uint32_t node;
    return usage->allocations == 0 ||
           (find_child(tree, CALL_TREE_ROOT, 0, &node) && add_usage(tree, node, usage));
}

struct adding {
    struct call_tree *tree;
    const struct stacks *stacks;
    const struct stack_usages *usages;
    struct call_tree_path path;
};

static bool add_node(void *context, const struct stack_node_row *row)
{
    struct adding *adding = context;
    const struct stacks *stacks = adding->stacks;
    const uint32_t function = stacks->frames.rows[row->frame - 1].function + 1;
    const struct call_tree_step step = {.node = row->id, .frame = row->frame, .function = function};
    if (ingest_is_interrupted(adding->tree->interrupted) ||
        !call_tree_enter(&adding->path, &step, row->parent))
        return false;
    const struct stack_usage usage = stack_usages_of(adding->usages, row->stack);
    return row->stack == 0 || usage.allocations == 0 ||
           call_tree_add_path(adding->tree, &adding->path,
                              stacks->rows[row->stack].call_site_frame + 1, &usage);
}

bool call_tree_stacks(struct call_tree *tree, const struct stack_nodes *nodes,
                      const struct stacks *stacks, const struct stack_usages *usages)
{
    struct adding adding = {.tree = tree, .stacks = stacks, .usages = usages};
    bool good = stack_nodes_inwards(nodes, stacks, add_node, &adding);
    free(adding.path.steps);
    for (size_t i = 0; good && i < stacks->count; i++) {
        const struct stack_usage usage = stack_usages_of(usages, i);
        good = stacks->rows[i].depth > 0 || call_tree_add_bare(tree, &usage);
    }
    return good;
}

/* ---- rows ---- */

/* Lists the children of each node, in the order in which they were made. */
static void list_children(struct call_tree *tree)
{
    for (size_t i = 1; i < tree->count; i++)
        tree->first_child[tree->nodes[i].parent + 1]++;
    for (size_t i = 1; i <= tree->count; i++)
        tree->first_child[i] += tree->first_child[i - 1];
    for (size_t i = tree->count; i-- > 1;) /* ends of the lists become their beginnings */
        tree->children[--tree->first_child[tree->nodes[i].parent + 1]] = (uint32_t)i;
    /* The list of node n now begins at [n + 1]. */
    memmove(tree->first_child, tree->first_child + 1, tree->count * sizeof(*tree->first_child));
    tree->first_child[tree->count] = (uint32_t)tree->count - 1;
}

static void add_sums(struct call_tree_sums *to, const struct call_tree_sums *sums)
{
    for (int i = 0; i < CALL_TREE_SUMS; i++)
        to->sums[i] += sums->sums[i];
}

bool call_tree_finish(struct call_tree *tree)
{
    if (tree->count == 0)
        return true;
    index_map_free(&tree->by_place);
    tree->totals = calloc(tree->count, sizeof(*tree->totals));
    tree->first_child = calloc(tree->count + 2, sizeof(*tree->first_child));
    tree->children = malloc(tree->count * sizeof(*tree->children));
    tree->order = malloc(tree->count * sizeof(*tree->order));
    tree->ids = malloc(tree->count * sizeof(*tree->ids));
    if (!tree->totals || !tree->first_child || !tree->children || !tree->order || !tree->ids)
        return false;
    list_children(tree);
    /* Level by level: the list of each node's children follows those of the nodes before it. */
    size_t last = 1;
    tree->order[0] = CALL_TREE_ROOT;
    for (size_t i = 0; i < last; i++) {
        const uint32_t node = tree->order[i];
        tree->ids[node] = (uint32_t)i;
        for (uint32_t k = tree->first_child[node]; k < tree->first_child[node + 1]; k++)
            tree->order[last++] = tree->children[k];
    }
    /* A node was made after its parent. */
    for (size_t i = tree->count; i-- > 1;) {
        const struct call_tree_node *node = &tree->nodes[i];
        if (node->self != 0)
            add_sums(&tree->totals[i], &tree->selves[node->self - 1]);
        add_sums(&tree->totals[node->parent], &tree->totals[i]);
    }
    return true;
}

/* Nodes that are fetched into the cache before they are needed. */
enum { AHEAD = 16 };

bool call_tree_each(const struct call_tree *tree,
                    bool (*each)(void *context, const struct call_tree_row *row), void *context)
{
    bool good = true;
    for (size_t i = 1; good && i < tree->count; i++) {
        const uint32_t at = tree->order[i];
        const struct call_tree_node *node = &tree->nodes[at];
        if (i + AHEAD < tree->count) {
            const uint32_t later = tree->order[i + AHEAD];
            __builtin_prefetch(&tree->nodes[later]);
            __builtin_prefetch(&tree->totals[later]);
            __builtin_prefetch(&tree->totals[later].sums[CALL_TREE_SUMS - 1]);
        }
        struct call_tree_row row = {
            .id = (uint32_t)i, .parent = tree->ids[node->parent], .function = node->function};
        memcpy(row.total, tree->totals[at].sums, sizeof(row.total));
        if (node->self != 0)
            memcpy(row.self, tree->selves[node->self - 1].sums, sizeof(row.self));
        good = !ingest_is_interrupted(tree->interrupted) && each(context, &row);
    }
    return good;
}

void call_tree_free(struct call_tree *tree)
{
    FREE_ALL(tree->nodes, tree->selves, tree->totals);
    index_map_free(&tree->by_place);
    FREE_ALL(tree->first_child, tree->children, tree->order, tree->ids);
    *tree = (struct call_tree){.count = 0};
}
