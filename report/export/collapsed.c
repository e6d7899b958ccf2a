/* SPDX-License-Identifier: BSD-2-Clause */
/* Collapsed stacks, one a line, outermost function first: for flame graphs. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/export/name_tree.h"
#include "report/output.h"

/* Writes the name of a function; `;` parts functions. */
static void put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name, out);
}

/* Writes the line of a node. `path` has room for all nodes. */
static void put_line(const struct name_tree *tree, uint32_t node, uint32_t *path, FILE *out)
{
    size_t depth = 0;
    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        path[depth++] = at;
    while (depth-- > 0) {
        put_name(out, name_tree_label(tree, path[depth]));
        fputc(depth > 0 ? ';' : ' ', out);
    }
    fprintf(out, "%" PRId64 "\n", tree->nodes[node].self);
}

bool export_collapsed(struct export *export)
{
    struct name_tree tree;
    uint32_t *path = NULL;
    bool good = name_tree_make(&tree, export, export->value);
    if (good && !(path = malloc(tree.count * sizeof(*path))))
        good = report_fail_memory(export->error, "the tree of functions");
    for (uint32_t node = 1; good && node < tree.count; node++) {
        if (tree.nodes[node].self != 0)
            put_line(&tree, node, path, export->out);
    }
    free(path);
    name_tree_free(&tree);
    return good;
}
