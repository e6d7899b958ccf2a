/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds nodes by their names, also those that are not made yet. One pass over the paths of all rows
 * stores how deep the innermost node with the text lies. So a subtree is entered only if it has
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/tree/tree_state.h"

/* The state of a search. */
struct finding {
    struct session_tree *tree;
    const struct session_tree_search *search;
    struct session_error *error;
    bool failed;
};

static bool has_text(const struct session_tree *tree, uint32_t key, const char *text)
{
    const uint32_t *functions = NULL;
    const size_t count = path_functions(tree, key, &functions);
    for (size_t i = 0; i < count; i++) {
        if (strcasestr(session_function_name(tree->session, functions[i]), text))
            return true;
    }
    return false;
}

/* ---- how deep the text lies ---- */

enum { NOT_KNOWN, HAS_TEXT, HAS_NOT };

static bool find_deepest(struct session_tree *tree, const char *text, struct session_error *error)
{
    uint8_t *known = calloc(path_keys(tree), sizeof(*known));
    char *searched = strdup(text);
    if (!tree->deepest)
        tree->deepest = malloc((tree->row_count + 1) * sizeof(*tree->deepest));
    bool good = (known && searched && tree->deepest) || session_fail_memory(error, "the search");
    free(tree->searched);
    tree->searched = NULL;
    for (uint32_t row = 0; good && row < tree->row_count; row++) {
        uint32_t cursor = 0, depth = 0, key;
        tree->deepest[row] = 0;
        while ((key = path_next(tree, row, &cursor)) != PATH_END) {
            depth++;
            if (known[key] == NOT_KNOWN)
                known[key] = has_text(tree, key, text) ? HAS_TEXT : HAS_NOT;
            if (known[key] == HAS_TEXT)
                tree->deepest[row] = depth;
        }
        good = tree_go_on(tree, row, error);
    }
    if (good) {
        tree->searched = searched;
        searched = NULL;
    }
    free(searched);
    free(known);
    return good;
}

static bool has_below(const struct session_tree *tree, uint32_t node)
{
    const struct tree_node *of = tree_node(tree, node);
    for (uint32_t i = 0; i < of->row_count; i++) {
        if (tree->deepest[tree->order[of->first_row + i]] > of->public.depth)
            return true;
    }
    return false;
}

static bool matches(const struct session_tree *tree, uint32_t node)
{
    return node != 0 && has_text(tree, tree_node(tree, node)->key, tree->searched);
}

/* ---- the way through the tree ---- */

/* Returns the sorted children of a node, which are made if need be; free() them. */
static uint32_t *children_of(struct finding *finding, uint32_t node, uint32_t *count)
{
    struct session_tree *tree = finding->tree;
    uint32_t first = 0;
    uint32_t *children = NULL;
    *count = 0;
    if (!finding->failed && session_tree_expand(tree, node, finding->error) &&
        session_tree_children(tree, node, &first, count))
        children = malloc(((size_t)*count + 1) * sizeof(*children));
    if (!children) {
        finding->failed = true;
        *count = 0;
        return NULL;
    }
    for (uint32_t i = 0; i < *count; i++)
        children[i] = first + i;
    session_tree_sort(tree, &finding->search->order, children, *count);
    return children;
}

/* Returns the first match below a node, or the last one; 0: there is none. */
static uint32_t match_below(struct finding *finding, uint32_t node, bool last)
{
    const struct session_tree *tree = finding->tree;
    while (has_below(tree, node)) {
        uint32_t count, next = 0;
        uint32_t *children = children_of(finding, node, &count);
        for (uint32_t i = 0; next == 0 && i < count; i++) {
            const uint32_t child = children[last ? count - 1 - i : i];
            if (matches(tree, child) || has_below(tree, child))
                next = child;
        }
        free(children);
        if (next == 0)
            return 0;
        /* A parent comes before its children. */
        if (matches(tree, next) && (!last || !has_below(tree, next)))
            return next;
        node = next;
    }
    return 0;
}

/* Returns the first match among the siblings after a node and below them, or the last one before.
 */
static uint32_t match_beside(struct finding *finding, uint32_t node, bool backward)
{
    const struct session_tree *tree = finding->tree;
    uint32_t count, found = 0, at = 0;
    uint32_t *children = children_of(finding, session_tree_node(tree, node)->parent, &count);
    while (at < count && children[at] != node)
        at++;
    for (uint32_t i = 1; found == 0 && i <= count; i++) {
        if (backward ? i > at : at + i >= count)
            break;
        const uint32_t child = children[backward ? at - i : at + i];
        if (!backward && matches(tree, child))
            found = child;
        if (found == 0)
            found = match_below(finding, child, backward);
        if (found == 0 && backward && matches(tree, child))
            found = child;
    }
    free(children);
    return found;
}

/* Returns the next match from a node on without starting again; 0: there is none. */
static uint32_t next_match(struct finding *finding)
{
    const struct session_tree *tree = finding->tree;
    const struct session_tree_search *search = finding->search;
    uint32_t node = search->from;
    uint32_t found = search->backward ? 0 : match_below(finding, node, false);
    while (found == 0 && node != search->within && node != 0 && !finding->failed) {
        found = match_beside(finding, node, search->backward);
        node = session_tree_node(tree, node)->parent;
        if (found == 0 && search->backward && node != search->within && matches(tree, node))
            found = node;
    }
    return found;
}

bool session_tree_find(struct session_tree *tree, const struct session_tree_search *search,
                       uint32_t *found, struct session_error *error)
{
    struct finding finding = {.tree = tree, .search = search, .error = error};
    *found = 0;
    if ((!tree->searched || strcmp(tree->searched, search->text) != 0) &&
        !find_deepest(tree, search->text, error))
        return false;
    *found = next_match(&finding);
    if (*found == 0 && !finding.failed)
        *found = match_below(&finding, search->within, search->backward);
    return !finding.failed;
}
