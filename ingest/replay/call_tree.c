/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/status.h"
#include "ingest/replay/stacks.h"

struct call_tree_node {
    uint32_t parent, function;
    uint32_t self; /* place in `selves` + 1; 0: no call site */
};

struct call_tree_sums {
    uint64_t sums[CALL_TREE_SUMS];
};

static bool add_node(struct call_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->count >= INDEX_NONE ||
        !array_reserve(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes)))
        return false;
    tree->nodes[tree->count++] = (struct call_tree_node){.parent = parent, .function = function};
    return true;
}

bool call_tree_child(struct call_tree *tree, uint32_t parent, uint32_t function, uint32_t *node)
{
    const uint64_t hash = hash_combine(hash_seed(), (uint64_t)parent << 32 | function);
    size_t probe = index_map_begin(&tree->by_place, hash);
    if (tree->count == 0 && !add_node(tree, CALL_TREE_ROOT, 0))
        return false;
    while ((*node = index_map_next(&tree->by_place, hash, &probe)) != INDEX_NONE)
        if (tree->nodes[*node].parent == parent && tree->nodes[*node].function == function)
            return true;
    *node = (uint32_t)tree->count;
    return add_node(tree, parent, function) && index_map_insert(&tree->by_place, hash, *node);
}

bool call_tree_add(struct call_tree *tree, uint32_t node, const struct stack_usage *usage)
{
    uint32_t *self = &tree->nodes[node].self;
    if (*self == 0) {
        if (!array_reserve(&tree->selves, &tree->self_capacity, tree->self_count + 1,
                           sizeof(*tree->selves)))
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

/* ---- the stacks of a trace ---- */

struct adding {
    struct call_tree *tree;
    const struct stacks *stacks;
    uint32_t *known; /* node of each context with all its frames, 0: not known yet */
    uint32_t *path;  /* contexts or functions, from the inner end */
    size_t length, capacity;
};

static bool push(struct adding *adding, uint32_t item)
{
    if (!array_reserve(&adding->path, &adding->capacity, adding->length + 1, sizeof(*adding->path)))
        return false;
    adding->path[adding->length++] = item;
    return true;
}

/* Goes from a node inwards through the frames of a context, down to row `last`. */
static bool go_inwards(struct adding *adding, uint32_t context, uint32_t last, uint32_t *node)
{
    const struct frame_range range = adding->stacks->contexts[context].frames;
    const struct frame_row *rows = adding->stacks->frames.rows;
    bool good = true;
    for (uint32_t row = range.first + range.count; good && row > last; row--)
        good = call_tree_child(adding->tree, *node, rows[row - 1].function + 1, node);
    return good;
}

/* Stores the node of a context's innermost frame. Stacks share callers, so each is named once. */
static bool find_context(struct adding *adding, uint32_t context, uint32_t *node)
{
    const struct context_node *contexts = adding->stacks->scan->tree.nodes;
    adding->length = 0;
    while (context < CONTEXT_LOST && adding->known[context] == 0) {
        if (!push(adding, context))
            return false;
        context = contexts[context].parent;
    }
    *node = context < CONTEXT_LOST ? adding->known[context] : CALL_TREE_ROOT;
    while (adding->length > 0) {
        context = adding->path[--adding->length];
        if (!go_inwards(adding, context, adding->stacks->contexts[context].frames.first, node))
            return false;
        adding->known[context] = *node;
    }
    return true;
}

/* Does the same for a stack that lacks its outer end: its outermost frame is below the root. */
static bool find_cut(struct adding *adding, const struct stack_row *row, uint32_t *node)
{
    struct stack_walk walk = stacks_walk(row);
    uint32_t frame;
    bool inside = true, good = true;
    adding->length = 0;
    while (good && (frame = stacks_walk_next(adding->stacks, &walk)) != FRAMES_NONE) {
        inside = inside && frame != row->call_site_frame;
        good = inside || push(adding, adding->stacks->frames.rows[frame].function + 1);
    }
    *node = CALL_TREE_ROOT;
    while (good && adding->length > 0)
        good = call_tree_child(adding->tree, *node, adding->path[--adding->length], node);
    return good;
}

/* Stores the node of the stack's call site. */
static bool find_stack(struct adding *adding, const struct stack_row *row, uint32_t *node)
{
    const struct stacks *stacks = adding->stacks;
    const uint32_t site = row->call_site_frame;
    if (site == FRAMES_NONE)
        return call_tree_child(adding->tree, CALL_TREE_ROOT, 0, node);
    if (row->state == STACK_CUT)
        return find_cut(adding, row, node);
    uint32_t context = row->node;
    /* If a frame recurs, the innermost one counts. */
    for (;; context = stacks->scan->tree.nodes[context].parent) {
        const struct frame_range range = stacks->contexts[context].frames;
        if (site >= range.first && site < range.first + range.count)
            break;
    }
    if (site == stacks->contexts[context].frames.first)
        return find_context(adding, context, node);
    return find_context(adding, stacks->scan->tree.nodes[context].parent, node) &&
           go_inwards(adding, context, site, node);
}

bool call_tree_stacks(struct call_tree *tree, const struct stacks *stacks,
                      const struct stack_usages *usages)
{
    struct adding adding = {.tree = tree, .stacks = stacks};
    adding.known = calloc(stacks->scan->tree.count + 1, sizeof(*adding.known));
    bool good = adding.known != NULL;
    for (size_t i = 0; good && i < stacks->count; i++) {
        uint32_t node;
        const struct stack_usage usage = stack_usages_of(usages, i);
        if (usage.allocations == 0)
            continue;
        good = !ingest_is_interrupted(tree->interrupted) &&
               find_stack(&adding, &stacks->rows[i], &node) && call_tree_add(tree, node, &usage);
    }
    free(adding.known);
    free(adding.path);
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
    free(tree->nodes);
    free(tree->selves);
    free(tree->totals);
    index_map_free(&tree->by_place);
    free(tree->first_child);
    free(tree->children);
    free(tree->order);
    free(tree->ids);
    *tree = (struct call_tree){.count = 0};
}
