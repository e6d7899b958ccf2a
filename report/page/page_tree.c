/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page/page_tree.h"

#include <stdlib.h>

#include "report/output/name_tree.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/stacks.h"

struct node {
    uint64_t values[2][PAGE_VALUES]; /* of the session and of its base */
    bool kept;
    uint32_t place; /* among those that are written */
};

struct page_tree {
    struct name_tree *calls;
    struct node *nodes; /* those of `calls` */
    size_t count, capacity;
    bool compared;
};

static bool grow(struct page_tree *tree)
{
    const size_t count = name_tree_count(tree->calls);
    if (!array_grow(&tree->nodes, &tree->capacity, count, sizeof(*tree->nodes)))
        return false;
    while (tree->count < count)
        tree->nodes[tree->count++] = (struct node){.kept = false};
    return true;
}

static struct node *caller_of(const struct page_tree *tree, size_t node)
{
    return &tree->nodes[name_tree_caller(tree->calls, (uint32_t)node)];
}

static bool add_row(struct page_tree *tree, struct name_walk *walk,
                    const struct session_stack_sums *row, uint32_t start, int side,
                    struct session_error *error)
{
    uint32_t node = 0;
    if (start != 0 && !name_walk_find(walk, start, &node, error))
        return false;
    if ((start == 0 && !name_tree_callee(tree->calls, 0, PAGE_NO_STACK, &node)) || !grow(tree))
        return report_fail_memory(error, "the tree of calls");
    uint64_t *values = tree->nodes[node].values[side];
    values[PAGE_PEAK] += row->at_peak_bytes;
    values[PAGE_LIVE] += row->live_bytes;
    values[PAGE_ALLOCATED] += row->bytes;
    values[PAGE_COUNT] += row->allocations;
    return true;
}

static bool add_side(struct page_tree *tree, struct session *session, struct selection *selection,
                     const struct same_modules *same, int side, struct session_error *error)
{
    static const struct session_stacks_options options = {.at_peak = true, .without_short = true};
    struct session_stack_sums *rows = NULL;
    uint32_t *sites = NULL;
    size_t count = 0;
    struct name_walk walk;
    bool good = name_walk_begin(&walk, tree->calls, session, same, error) &&
                session_stack_sites(session, &sites, error) &&
                selection_stacks(selection, &options, &rows, &count, error);
    for (size_t i = 0; good && i < count; i++)
        good = add_row(tree, &walk, &rows[i], sites[rows[i].stack], side, error);
    name_walk_end(&walk);
    FREE_ALL(rows, sites);
    return good;
}

struct page_tree *page_tree_new(struct session *session, struct selection *selection,
                                struct session *base_session, struct selection *base,
                                struct text_ids *names, struct session_error *error)
{
    struct page_tree *tree = calloc(1, sizeof(*tree));
    struct same_modules *same = NULL;
    bool good = (tree && (tree->calls = name_tree_new(names)) && grow(tree)) ||
                report_fail_memory(error, "the tree of calls");
    good = good && add_side(tree, session, selection, NULL, 0, error);
    if (good && base) {
        tree->compared = true;
        same = same_modules_find(base_session, session, error);
        good = same && add_side(tree, base_session, base, same, 1, error);
        same_modules_free(same);
    }
    if (!good) {
        page_tree_free(tree);
        return NULL;
    }
    for (size_t i = tree->count; i-- > 1;)
        for (int side = 0; side < 2; side++)
            for (int value = 0; value < PAGE_VALUES; value++)
                caller_of(tree, i)->values[side][value] += tree->nodes[i].values[side][value];
    return tree;
}

void page_tree_free(struct page_tree *tree)
{
    if (!tree)
        return;
    name_tree_free(tree->calls);
    FREE_ALL(tree->nodes, tree);
}

static int32_t name_of(const struct page_tree *tree, size_t node)
{
    return node > 0 ? name_tree_name(tree->calls, (uint32_t)node) : PAGE_ROOT;
}

/* ---- cutting ---------------------------------------------------------------------------- */

/* Returns the largest share that a node has of any value. */
static double share_of(const struct page_tree *tree, const struct node *node)
{
    double most = 0;
    for (int side = 0; side < 2; side++)
        for (int value = 0; value < PAGE_VALUES; value++) {
            const uint64_t whole = tree->nodes[0].values[side][value];
            const double share = whole ? (double)node->values[side][value] / (double)whole : 0;
            most = share > most ? share : most;
        }
    return most;
}

ARRAY_ORDER(by_share, double, ORDER(*b, *a))

size_t page_tree_cut(struct page_tree *tree, size_t most, double *share)
{
    double *shares = malloc(tree->count * sizeof(*shares));
    size_t left_out = 0, written = 0;
    double least = 0;
    *share = 0;
    if (shares && tree->count > most) {
        for (size_t i = 0; i < tree->count; i++)
            shares[i] = share_of(tree, &tree->nodes[i]);
        qsort(shares, tree->count, sizeof(*shares), by_share);
        least = shares[most];
    }
    free(shares);
    for (size_t i = 0; i < tree->count; i++) {
        struct node *node = &tree->nodes[i];
        /* A node never has more than its parent. A long way of equal nodes ends at the limit. */
        node->kept = i == 0 || (caller_of(tree, i)->kept && written < most &&
                                (least == 0 || share_of(tree, node) >= least));
        if (node->kept)
            node->place = (uint32_t)written++;
        else {
            const double of_node = share_of(tree, node);
            *share = of_node > *share ? of_node : *share;
            left_out++;
        }
    }
    return left_out;
}

void page_tree_mark(const struct page_tree *tree, bool *used)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].kept && name_of(tree, i) >= 0)
            used[name_of(tree, i)] = true;
}

/* ---- writing ---------------------------------------------------------------------------- */

/* The children of a node that were cut off, as one. */
struct cut {
    uint64_t values[2][PAGE_VALUES];
    bool any;
};

/* Sums up, by node, its children that were cut off. NULL if memory is exhausted. */
static struct cut *sum_cut(const struct page_tree *tree)
{
    struct cut *cut = calloc(tree->count, sizeof(*cut));
    for (size_t i = 1; cut && i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (node->kept || !caller_of(tree, i)->kept)
            continue;
        struct cut *to = &cut[name_tree_caller(tree->calls, (uint32_t)i)];
        to->any = true;
        for (int side = 0; side < 2; side++)
            for (int value = 0; value < PAGE_VALUES; value++)
                to->values[side][value] += node->values[side][value];
    }
    return cut;
}

static void put_values(const struct page_tree *tree, const struct cut *cut, int side,
                       const char *name, struct json *json)
{
    json_put(json, "%s: [", name);
    for (int value = 0; value < PAGE_VALUES; value++) {
        json_put(json, "[");
        for (size_t i = 0; i < tree->count; i++)
            if (tree->nodes[i].kept)
                json_number(json, tree->nodes[i].values[side][value]);
        for (size_t i = 0; cut && i < tree->count; i++)
            if (cut[i].any)
                json_number(json, cut[i].values[side][value]);
        json_put(json, "]");
    }
    json_put(json, "]");
}

void page_tree_put(const struct page_tree *tree, const uint32_t *number, struct json *json)
{
    struct cut *cut = sum_cut(tree);
    json_put(json, "tree: {parent: [");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].kept)
            json_signed(json, i == 0 ? -1 : (int64_t)caller_of(tree, i)->place);
    for (size_t i = 0; cut && i < tree->count; i++)
        if (cut[i].any)
            json_number(json, tree->nodes[i].place);
    json_put(json, "], name: [");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].kept)
            json_signed(json, name_of(tree, i) >= 0 ? (int64_t)number[name_of(tree, i)]
                                                    : name_of(tree, i));
    for (size_t i = 0; cut && i < tree->count; i++)
        if (cut[i].any)
            json_signed(json, PAGE_SMALLER);
    json_put(json, "]");
    put_values(tree, cut, 0, "values", json);
    if (tree->compared)
        put_values(tree, cut, 1, "base", json);
    json_put(json, "}");
    free(cut);
}
