/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page/page_tree.h"

#include <stdlib.h>
#include <string.h>

#include "report/output/output.h"
#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/same_modules.h"
#include "session/stacks.h"

struct node {
    uint32_t parent;
    int32_t name;                    /* of the texts, or below 0 */
    uint64_t values[2][PAGE_VALUES]; /* of the session and of its base */
    bool kept;
    uint32_t place; /* among those that are written */
};

/* Node 0 is the root. A node comes after its parent. */
struct page_tree {
    struct node *nodes;
    size_t count, capacity;
    struct pair_ids *edges;
    struct text_ids *names;
    struct same_modules *same; /* while the base is added: its names as the session has them */
    char **renamed;            /* which belong to the tree */
    size_t renamed_count, renamed_capacity;
    bool compared;
};

static bool add_node(struct page_tree *tree, uint32_t parent, int32_t name)
{
    if (tree->count >= UINT32_MAX ||
        !array_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes)))
        return false;
    tree->nodes[tree->count++] = (struct node){.parent = parent, .name = name};
    return true;
}

/* Finds or makes a child. The number of a node is that of its edge, plus 1 for the root. */
static bool find_child(struct page_tree *tree, uint32_t parent, int32_t name, uint32_t *child)
{
    uint32_t edge;
    bool is_new;
    if (!pair_ids_find(tree->edges, parent, (uint32_t)name, &edge, &is_new) ||
        (is_new && !add_node(tree, parent, name)))
        return false;
    *child = edge + 1;
    return true;
}

/* Stores the number of a function's name. */
static bool name_of(struct page_tree *tree, struct session *session, uint32_t function,
                    int32_t *number)
{
    const char *name = session_function_name(session, function);
    uint32_t id;
    bool is_new;
    if (tree->same && strstr(name, "+0x")) {
        char *copy = same_modules_name(tree->same, "function", name);
        if (!copy || !array_grow(&tree->renamed, &tree->renamed_capacity, tree->renamed_count + 1,
                                 sizeof(*tree->renamed))) {
            free(copy);
            return false;
        }
        name = tree->renamed[tree->renamed_count++] = copy;
    }
    if (!text_ids_find(tree->names, name, &id, &is_new))
        return false;
    *number = (int32_t)id;
    return true;
}

/* The nodes of a session's stacks in the tree. */
struct walk {
    struct page_tree *tree;
    struct session *session;
    uint32_t *found;    /* by node of the session; 0: not yet */
    int32_t *functions; /* by function: its name, or PAGE_ROOT: not yet */
    uint32_t *way;      /* room for the nodes of a stack */
};

/* Finds the node of the tree for one of the session, and makes those outward of it. */
static bool find_node(struct walk *walk, uint32_t of_session, uint32_t *node,
                      struct session_error *error)
{
    size_t length = 0;
    uint32_t at = of_session, parent = 0;
    for (; at != 0 && walk->found[at] == 0; at = session_stack_node(walk->session, at).caller)
        walk->way[length++] = at;
    if (at != 0)
        parent = walk->found[at];
    while (length-- > 0) {
        struct session_code_frame frame;
        at = walk->way[length];
        if (!session_code_frame(walk->session, session_stack_node(walk->session, at).frame, &frame,
                                error))
            return false;
        int32_t *name = &walk->functions[frame.function];
        if ((*name == PAGE_ROOT && !name_of(walk->tree, walk->session, frame.function, name)) ||
            !find_child(walk->tree, parent, *name, &walk->found[at]))
            return report_fail_memory(error, "the tree of calls");
        parent = walk->found[at];
    }
    *node = parent;
    return true;
}

static bool add_row(struct walk *walk, const struct session_stack_sums *row, uint32_t start,
                    int side, struct session_error *error)
{
    uint32_t node = 0;
    if (start == 0 ? !find_child(walk->tree, 0, PAGE_NO_STACK, &node) &&
                         !report_fail_memory(error, "the tree of calls")
                   : !find_node(walk, start, &node, error))
        return false;
    uint64_t *values = walk->tree->nodes[node].values[side];
    values[PAGE_PEAK] += row->at_peak_bytes;
    values[PAGE_LIVE] += row->live_bytes;
    values[PAGE_ALLOCATED] += row->bytes;
    values[PAGE_COUNT] += row->allocations;
    return true;
}

static bool add_side(struct page_tree *tree, struct session *session, struct selection *selection,
                     int side, struct session_error *error)
{
    static const struct session_stacks_options options = {.at_peak = true, .without_short = true};
    struct session_stack_sums *rows = NULL;
    uint32_t *sites = NULL;
    size_t count = 0;
    struct walk walk = {.tree = tree, .session = session};
    bool good = session_load_stacks(session, error) &&
                session_stack_sites(session, &sites, error) &&
                selection_stacks(selection, &options, &rows, &count, error);
    const size_t nodes = good ? session_stack_nodes(session) : 0,
                 functions = good ? session_function_count(session) : 0;
    if (good) {
        walk.found = calloc(nodes + 1, sizeof(*walk.found));
        walk.way = malloc((nodes + 1) * sizeof(*walk.way));
        walk.functions = malloc((functions + 1) * sizeof(*walk.functions));
        good = (walk.found && walk.way && walk.functions) ||
               report_fail_memory(error, "the tree of calls");
    }
    for (size_t i = 0; good && i <= functions; i++)
        walk.functions[i] = PAGE_ROOT;
    for (size_t i = 0; good && i < count; i++)
        good = add_row(&walk, &rows[i], sites[rows[i].stack], side, error);
    free(walk.found);
    free(walk.way);
    free(walk.functions);
    free(rows);
    free(sites);
    return good;
}

struct page_tree *page_tree_new(struct session *session, struct selection *selection,
                                struct session *base_session, struct selection *base,
                                struct text_ids *names, struct session_error *error)
{
    struct page_tree *tree = calloc(1, sizeof(*tree));
    bool good = tree && (tree->edges = pair_ids_new()) && add_node(tree, 0, PAGE_ROOT);
    if (!good)
        report_fail_memory(error, "the tree of calls");
    if (tree)
        tree->names = names;
    good = good && add_side(tree, session, selection, 0, error);
    if (good && base) {
        tree->compared = true;
        tree->same = same_modules_find(base_session, session, error);
        good = tree->same && add_side(tree, base_session, base, 1, error);
        same_modules_free(tree->same);
        tree->same = NULL;
    }
    if (!good) {
        page_tree_free(tree);
        return NULL;
    }
    for (size_t i = tree->count; i-- > 1;)
        for (int side = 0; side < 2; side++)
            for (int value = 0; value < PAGE_VALUES; value++)
                tree->nodes[tree->nodes[i].parent].values[side][value] +=
                    tree->nodes[i].values[side][value];
    return tree;
}

void page_tree_free(struct page_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->renamed_count; i++)
        free(tree->renamed[i]);
    free(tree->renamed);
    pair_ids_free(tree->edges);
    free(tree->nodes);
    free(tree);
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

static int by_share(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

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
        node->kept = i == 0 || (tree->nodes[node->parent].kept && written < most &&
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
        if (tree->nodes[i].kept && tree->nodes[i].name >= 0)
            used[tree->nodes[i].name] = true;
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
        if (node->kept || !tree->nodes[node->parent].kept)
            continue;
        struct cut *to = &cut[node->parent];
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
    json_member_array(json, name);
    for (int value = 0; value < PAGE_VALUES; value++) {
        json_array(json);
        for (size_t i = 0; i < tree->count; i++)
            if (tree->nodes[i].kept)
                json_number(json, tree->nodes[i].values[side][value]);
        for (size_t i = 0; cut && i < tree->count; i++)
            if (cut[i].any)
                json_number(json, cut[i].values[side][value]);
        json_array_end(json);
    }
    json_array_end(json);
}

void page_tree_put(const struct page_tree *tree, const uint32_t *number, struct json *json)
{
    struct cut *cut = sum_cut(tree);
    json_member_object(json, "tree");
    json_member_array(json, "parent");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].kept)
            json_signed(json, i == 0 ? -1 : (int64_t)tree->nodes[tree->nodes[i].parent].place);
    for (size_t i = 0; cut && i < tree->count; i++)
        if (cut[i].any)
            json_number(json, tree->nodes[i].place);
    json_array_end(json);
    json_member_array(json, "name");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].kept)
            json_signed(json, tree->nodes[i].name >= 0 ? (int64_t)number[tree->nodes[i].name]
                                                       : tree->nodes[i].name);
    for (size_t i = 0; cut && i < tree->count; i++)
        if (cut[i].any)
            json_signed(json, PAGE_SMALLER);
    json_array_end(json);
    put_values(tree, cut, 0, "values", json);
    if (tree->compared)
        put_values(tree, cut, 1, "base", json);
    json_object_end(json);
    free(cut);
}
