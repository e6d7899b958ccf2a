/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of an export as a tree of names, from the outermost function inwards, with one value.
 * Stacks that read the same share a node, also stacks of two sessions.
 */
#ifndef MPROF_REPORT_EXPORT_NAME_TREE_H
#define MPROF_REPORT_EXPORT_NAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/export/export.h"

struct name_node {
    uint32_t parent, label;     /* label: of name_tree_label() */
    uint32_t first_child, next; /* next: sibling; 0: none */
    int64_t self, total;        /* total: with all nodes below */
};

/* Node 0 is the root, without a label. A node comes after its parent. */
struct name_tree {
    struct name_node *nodes;
    size_t count, capacity;
    struct pair_ids *edges;
    struct text_ids *labels;
};

/* Makes the tree of a value. That of --base is subtracted. Returns false with the error set. In any
 * case the caller frees it with name_tree_free(). */
bool name_tree_make(struct name_tree *tree, const struct export *export, enum export_value value);
void name_tree_free(struct name_tree *tree);
const char *name_tree_label(const struct name_tree *tree, uint32_t node);

#endif
