/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/name_tree.h"

#include <stdlib.h>

#include "report/export/ids.h"
#include "report/output.h"
#include "schemas/array.h"

/* Adds a node for the newest edge. */
static bool add_node(struct name_tree *tree, uint32_t parent, uint32_t label)
{
    if (!array_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes)))
        return false;
    struct name_node *node = &tree->nodes[tree->count];
    *node = (struct name_node){.parent = parent, .label = label};
    if (tree->count > 0) {
        node->next = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = (uint32_t)tree->count;
    }
    tree->count++;
    return true;
}

/* Finds or makes the child of a node. Its number is that of the edge, plus 1 for the root. */
static bool find_child(struct name_tree *tree, uint32_t parent, const char *name, uint32_t *child)
{
    uint32_t label, edge;
    bool is_new;
    if (!text_ids_find(tree->labels, name, &label, &is_new) ||
        !pair_ids_find(tree->edges, parent, label, &edge, &is_new) ||
        (is_new && !add_node(tree, parent, label)))
        return false;
    *child = edge + 1;
    return true;
}

/* A side whose stacks become nodes. */
struct adding {
    struct name_tree *tree;
    const struct export *export;
    const struct export_side *side;
};

static bool add_frame(void *context, uint32_t node, uint32_t caller, uint32_t *number)
{
    const struct adding *adding = context;
    struct session_code_frame frame;
    if (!export_frame(adding->export, adding->side, node, &frame))
        return false;
    return find_child(adding->tree, caller, export_function_name(adding->side, frame.function),
                      number) ||
           report_fail_memory(adding->export->error, "the tree of functions");
}

static bool add_side(struct name_tree *tree, const struct export *export,
                     const struct export_side *side, enum export_value value, bool negative)
{
    struct adding adding = {tree, export, side};
    struct session_stack_sums *rows = NULL;
    struct export_nodes nodes = {.export = export};
    size_t count = 0;
    bool good = export_nodes_begin(&nodes, export, side, false) &&
                export_sums(export, side, 0, false, &rows, &count);
    for (size_t i = 0; good && i < count; i++) {
        const int64_t of_row = (int64_t)export_value_of(value, &rows[i]);
        uint32_t node = 0;
        if (of_row == 0)
            continue;
        good = export_nodes_find(&nodes, side->starts[rows[i].stack], add_frame, &adding, &node);
        tree->nodes[node].self += negative ? -of_row : of_row;
    }
    free(rows);
    export_nodes_free(&nodes);
    return good;
}

bool name_tree_make(struct name_tree *tree, const struct export *export, enum export_value value)
{
    *tree = (struct name_tree){.edges = pair_ids_new(), .labels = text_ids_new()};
    if (!tree->edges || !tree->labels || !add_node(tree, 0, 0))
        return report_fail_memory(export->error, "the tree of functions");
    if (!add_side(tree, export, &export->own, value, false) ||
        (export->base.session && !add_side(tree, export, &export->base, value, true)))
        return false;
    for (size_t i = tree->count; i-- > 0;) {
        struct name_node *node = &tree->nodes[i];
        node->total += node->self;
        if (i > 0)
            tree->nodes[node->parent].total += node->total;
    }
    return true;
}

void name_tree_free(struct name_tree *tree)
{
    pair_ids_free(tree->edges);
    text_ids_free(tree->labels);
    free(tree->nodes);
    *tree = (struct name_tree){.count = 0};
}

const char *name_tree_label(const struct name_tree *tree, uint32_t node)
{
    return text_ids_text(tree->labels, tree->nodes[node].label);
}
