/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/name_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/output.h"
#include "schemas/array.h"
#include "session/code_facts.h"

/* A node is the number of its edge (caller, name), plus 1 for the root. */
struct name_tree {
    struct pair_ids *edges;
    struct text_ids *names;
    char **renamed; /* names that belong to the tree */
    size_t renamed_count, renamed_capacity;
};

struct name_tree *name_tree_new(struct text_ids *names)
{
    struct name_tree *tree = calloc(1, sizeof(*tree));
    if (tree)
        *tree = (struct name_tree){.edges = pair_ids_new(), .names = names};
    if (tree && tree->edges)
        return tree;
    free(tree);
    return NULL;
}

void name_tree_free(struct name_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->renamed_count; i++)
        free(tree->renamed[i]);
    free(tree->renamed);
    pair_ids_free(tree->edges);
    free(tree);
}

size_t name_tree_count(const struct name_tree *tree)
{
    return pair_ids_count(tree->edges) + 1;
}

uint32_t name_tree_caller(const struct name_tree *tree, uint32_t node)
{
    return (uint32_t)pair_ids_first(tree->edges, node - 1);
}

int32_t name_tree_name(const struct name_tree *tree, uint32_t node)
{
    return (int32_t)pair_ids_second(tree->edges, node - 1);
}

bool name_tree_callee(struct name_tree *tree, uint32_t caller, int32_t name, uint32_t *callee)
{
    uint32_t edge;
    bool is_new;
    if (!pair_ids_find(tree->edges, caller, (uint32_t)name, &edge, &is_new))
        return false;
    *callee = edge + 1;
    return true;
}

char *name_tree_text(const struct name_tree *tree, uint32_t node)
{
    size_t depth = 0, size = 0;
    for (uint32_t at = node; at != 0; at = name_tree_caller(tree, at))
        depth++;
    uint32_t *way = malloc((depth + 1) * sizeof(*way));
    char *text = NULL;
    FILE *out = way ? open_memstream(&text, &size) : NULL;
    for (size_t i = 0; out && i < depth; i++, node = name_tree_caller(tree, node))
        way[i] = node;
    while (out && depth-- > 0)
        fprintf(out, "%s%s", text_ids_text(tree->names, (uint32_t)name_tree_name(tree, way[depth])),
                depth > 0 ? " > " : "");
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    free(way);
    return text;
}

static bool name_of(struct name_walk *walk, uint32_t function, int32_t *number)
{
    struct name_tree *tree = walk->tree;
    const char *name = session_function_name(walk->session, function);
    uint32_t id;
    bool is_new;
    if (walk->same && strstr(name, "+0x")) {
        char *copy = same_modules_name(walk->same, "function", name);
        if (!copy || !ARRAY_GROW(tree->renamed, tree->renamed_count, tree->renamed_capacity)) {
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

bool name_walk_begin(struct name_walk *walk, struct name_tree *tree, struct session *session,
                     const struct same_modules *same, struct session_error *error)
{
    *walk = (struct name_walk){.tree = tree, .session = session, .same = same};
    if (!session_load_stacks(session, error))
        return false;
    const size_t nodes = session_stack_nodes(session), functions = session_function_count(session);
    walk->found = calloc(nodes + 1, sizeof(*walk->found));
    walk->way = malloc((nodes + 1) * sizeof(*walk->way));
    walk->functions = malloc((functions + 1) * sizeof(*walk->functions));
    if (!walk->found || !walk->way || !walk->functions)
        return report_fail_memory(error, "the tree of calls");
    for (size_t i = 0; i <= functions; i++)
        walk->functions[i] = -1;
    return true;
}

bool name_walk_find(struct name_walk *walk, uint32_t of_session, uint32_t *node,
                    struct session_error *error)
{
    size_t length = 0;
    uint32_t at = of_session;
    for (; at != 0 && walk->found[at] == 0; at = session_stack_node(walk->session, at).caller)
        walk->way[length++] = at;
    *node = at != 0 ? walk->found[at] : 0;
    while (length-- > 0) {
        struct session_code_frame frame;
        at = walk->way[length];
        if (!session_code_frame(walk->session, session_stack_node(walk->session, at).frame, &frame,
                                error))
            return false;
        int32_t *name = &walk->functions[frame.function];
        if ((*name < 0 && !name_of(walk, frame.function, name)) ||
            !name_tree_callee(walk->tree, *node, *name, &walk->found[at]))
            return report_fail_memory(error, "the tree of calls");
        *node = walk->found[at];
    }
    return true;
}

void name_walk_end(struct name_walk *walk)
{
    FREE_ALL(walk->found, walk->way, walk->functions);
}
