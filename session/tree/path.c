/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of a stack through the tree, node by node.
 *
 * A key names a node among its siblings: first the components, then the functions as library
 * functions, then the stacks without own code, and those without frames.
 */
#include <stdlib.h>

#include "schemas/code/user_code.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/tree/tree_state.h"

static uint32_t function_count(const struct session_tree *tree)
{
    return tree->session->names.function_count;
}

uint32_t path_keys(const struct session_tree *tree)
{
    return tree->components.count + function_count(tree) + 2;
}

static uint32_t key_no_own_code(const struct session_tree *tree)
{
    return tree->components.count + function_count(tree);
}

void path_describe(const struct session_tree *tree, uint32_t key, struct session_tree_node *node)
{
    const struct components *components = &tree->components;
    node->functions = 1;
    if (key < components->count) {
        node->kind = TREE_FUNCTION;
        node->function = components->members[components->first[key]];
        node->functions = components->first[key + 1] - components->first[key];
        node->recursive = node->functions == 1 && components->recursive[key];
    } else if (key < key_no_own_code(tree)) {
        node->kind = TREE_LIBRARY;
        node->function = key - components->count;
    } else {
        node->kind = key == key_no_own_code(tree) ? TREE_NO_OWN_CODE : TREE_NO_STACK;
        node->functions = 0;
    }
}

size_t path_functions(const struct session_tree *tree, uint32_t key, const uint32_t **functions)
{
    const struct components *components = &tree->components;
    if (key < components->count) {
        *functions = &components->members[components->first[key]];
        return components->first[key + 1] - components->first[key];
    }
    /* A component of its own: the same function. */
    if (key < key_no_own_code(tree)) {
        const uint32_t function = key - components->count;
        *functions = components->members;
        for (uint32_t i = components->first[components->of_function[function]];; i++) {
            *functions = &components->members[i];
            if (components->members[i] == function)
                return 1;
        }
    }
    return 0;
}

/* ---- frames ---- */

/* The frames of a row from the call site outwards, and a node of them: those outward of it up to
 * its top follow it. */
struct span {
    uint32_t site, count;
    uint32_t low;
};

static struct span span_of(const struct session_tree *tree, uint32_t row)
{
    const struct stacks *stacks = &tree->session->stacks;
    const uint32_t site = tree->sites[row];
    return (struct span){site, stacks_depth(stacks, site), site};
}

/* Returns the function of the frame that a path meets as number `i`. */
static uint32_t function_at(const struct session_tree *tree, struct span *span, uint32_t i)
{
    const struct stacks *stacks = &tree->session->stacks;
    const struct stack_frames_node *nodes = stacks->all.nodes;
    const uint32_t depth = tree->options.bottom_up ? span->count - i : i + 1;
    if (depth > nodes[span->low].depth)
        span->low = span->site;
    while (depth < nodes[nodes[span->low].top].depth)
        span->low = nodes[nodes[span->low].top].parent;
    return stacks_function(stacks, span->low + (nodes[span->low].depth - depth));
}

bool path_is_visible(const struct session_tree *tree, enum path_rule rule, uint32_t function)
{
    switch (rule) {
    case PATH_OWN:
        return function != 0 && tree->classes[function] == USER_CODE_OWN;
    case PATH_RUNTIME:
        return function != 0 && tree->classes[function] == USER_CODE_RUNTIME;
    default:
        return true;
    }
}

/* Returns the rule of the rows of each node, NULL if memory is exhausted. */
static uint8_t *rules_of_nodes(const struct session_tree *tree)
{
    const struct stacks *stacks = &tree->session->stacks;
    uint8_t *rules = malloc(stacks->all.count);
    if (!rules)
        return NULL;
    rules[0] = tree->options.hide_libraries ? PATH_NO_OWN_CODE : PATH_ALL;
    for (uint32_t node = stacks->all.count; node-- > 1;) {
        const uint32_t function = stacks_function(stacks, node);
        rules[node] = rules[stacks_caller(stacks, node)];
        if (rules[node] == PATH_ALL || rules[node] == PATH_OWN)
            continue;
        if (path_is_visible(tree, PATH_OWN, function))
            rules[node] = PATH_OWN;
        else if (path_is_visible(tree, PATH_RUNTIME, function))
            rules[node] = PATH_RUNTIME;
    }
    rules[0] = PATH_NO_STACK;
    return rules;
}

bool path_find_rules(struct session_tree *tree, struct session_error *error)
{
    const struct stacks *stacks = &tree->session->stacks;
    uint32_t *sites = stacks_sites(stacks, stacks->call_site, error);
    uint8_t *rules = sites ? rules_of_nodes(tree) : NULL;
    if (sites && !rules)
        session_fail_memory(error, "the call tree");
    for (uint32_t row = 0; rules && row < tree->row_count; row++) {
        tree->sites[row] = sites[tree->rows[row].stack];
        tree->rules[row] = rules[tree->sites[row]];
    }
    const bool good = rules != NULL;
    free(sites);
    free(rules);
    return good;
}

/* Returns the key of the next visible frame from frame `*i` on, and moves `*i` past its component.
 */
static uint32_t next_visible(const struct session_tree *tree, enum path_rule rule,
                             struct span *span, uint32_t *i)
{
    uint32_t key = PATH_END;
    for (uint32_t at = *i; at < span->count; at++) {
        const uint32_t function = function_at(tree, span, at);
        if (!path_is_visible(tree, rule, function))
            continue;
        const uint32_t component = tree->components.of_function[function];
        if (key != PATH_END && (component != key || !tree->options.fold))
            break;
        key = component;
        *i = at + 1;
    }
    return key;
}

uint32_t path_next(const struct session_tree *tree, uint32_t row, uint32_t *cursor)
{
    const enum path_rule rule = tree->rules[row];
    if (rule == PATH_NO_STACK)
        return (*cursor)++ == 0 ? key_no_own_code(tree) + 1 : PATH_END;
    if (rule == PATH_NO_OWN_CODE && *cursor == 0) {
        *cursor = 1;
        return key_no_own_code(tree);
    }
    const uint32_t before = rule == PATH_NO_OWN_CODE;
    struct span span = span_of(tree, row);
    uint32_t i = *cursor - before;
    const uint32_t next = i;
    uint32_t key = next_visible(tree, rule, &span, &i);
    if (key == PATH_END && rule == PATH_OWN && !tree->options.bottom_up && next < span.count) {
        key = tree->components.count + function_at(tree, &span, next);
        i = span.count;
    }
    *cursor = i + before;
    return key;
}
