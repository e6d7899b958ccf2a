/* SPDX-License-Identifier: BSD-2-Clause */
/* The path of a stack through the tree, node by node.
 *
 * A key names a node among its siblings: first the components, then the functions as library
 * functions, then the stacks without own code, those without frames, and the functions by which
 * paths leave large cycles. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/code/user_code.h"
#include "schemas/components.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/code_map.h"
#include "session/tree/tree_state.h"

/* ---- parts ---- */

/* Divides work on many rows among the threads of scan.h. */

/* A question is cancelled soon with parts that are small, and handing these out costs little with
 * parts that are not too small. */
#define PART 4096u

struct parting {
    tree_part_work *work;
    void *context;
    uint32_t count;
};

static bool work_on_part(void *context, struct scan_worker *worker, uint32_t part,
                         struct session_error *error)
{
    const struct parting *parting = context;
    const uint32_t first = part * PART, left = parting->count - first;
    parting->work(parting->context, scan_worker_number(worker), first,
                  first + (left < PART ? left : PART));
    return true;
}

bool tree_each_part(const struct session_tree *tree, uint32_t count, tree_part_work *work,
                    void *context, struct session_error *error)
{
    struct parting parting = {work, context, count};
    if (count > PART)
        return scan_chunks_shared(tree->session, count / PART + (count % PART != 0), work_on_part,
                                  &parting, error);
    /* A pass would show its progress in the browser. */
    if (!scan_go_on(tree->session, error))
        return false;
    work(context, 0, 0, count);
    return true;
}

static uint32_t function_count(const struct session_tree *tree)
{
    return tree->session->names.function_count;
}

/* Larger cycles have a node inside for each function by which paths leave them. */
#define CYCLE_SMALL 4u
/* In a cursor: the path is at such a function, the last one before the cursor. */
#define INSIDE (UINT32_C(1) << 31)

static uint32_t key_no_own_code(const struct session_tree *tree)
{
    return tree->components.count + function_count(tree);
}

static uint32_t key_inside(const struct session_tree *tree)
{
    return key_no_own_code(tree) + 2;
}

uint32_t path_keys(const struct session_tree *tree)
{
    return key_inside(tree) + function_count(tree);
}

static uint32_t component_size(const struct components *components, uint32_t component)
{
    return components->first[component + 1] - components->first[component];
}

void path_describe(const struct session_tree *tree, uint32_t key, struct session_tree_node *node)
{
    const struct components *components = &tree->components;
    node->functions = 1;
    if (key < components->count) {
        node->kind = TREE_FUNCTION;
        node->function = components->members[components->first[key]];
        node->functions = component_size(components, key);
        node->recursive = node->functions == 1 && components->recursive[key];
    } else if (key < key_no_own_code(tree)) {
        node->kind = TREE_LIBRARY;
        node->function = key - components->count;
    } else if (key >= key_inside(tree)) {
        node->kind = TREE_FUNCTION;
        node->function = key - key_inside(tree);
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
        return component_size(components, key);
    }
    /* One function of a component. */
    if (key < key_no_own_code(tree) || key >= key_inside(tree)) {
        const uint32_t function =
            key - (key < key_inside(tree) ? components->count : key_inside(tree));
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
    uint32_t site, count, low;
};

static struct span span_of(const struct session_tree *tree, uint32_t row)
{
    const struct stacks *stacks = &tree->session->stacks;
    const uint32_t site = tree->sites[row];
    return (struct span){site, stacks_depth(stacks, site), site};
}

/* Returns the node of the frame that a path meets as number `i`. */
static uint32_t node_at(const struct session_tree *tree, struct span *span, uint32_t i)
{
    const struct stack_frames_node *nodes = tree->session->stacks.all.nodes;
    const uint32_t depth = tree->options.bottom_up ? span->count - i : i + 1;
    if (depth > nodes[span->low].depth)
        span->low = span->site;
    while (depth < nodes[nodes[span->low].top].depth)
        span->low = nodes[nodes[span->low].top].parent;
    return span->low + (nodes[span->low].depth - depth);
}

static uint32_t function_at(const struct session_tree *tree, struct span *span, uint32_t i)
{
    return stacks_function(&tree->session->stacks, node_at(tree, span, i));
}

/* Returns true if the paths of rows with a rule have the frames of a function. */
static bool path_is_visible(const struct session_tree *tree, enum path_rule rule, uint32_t function)
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
    FREE_ALL(sites, rules);
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
    if ((*cursor & INSIDE) != 0) {
        *cursor -= INSIDE;
        return key_inside(tree) + function_at(tree, &span, *cursor - before - 1);
    }
    uint32_t i = *cursor - before;
    const uint32_t next = i;
    uint32_t key = next_visible(tree, rule, &span, &i);
    const bool large = key != PATH_END && component_size(&tree->components, key) > CYCLE_SMALL;
    if (key == PATH_END && rule == PATH_OWN && !tree->options.bottom_up && next < span.count) {
        key = tree->components.count + function_at(tree, &span, next);
        i = span.count;
    }
    *cursor = (i + before) | (large ? INSIDE : 0);
    return key;
}

/* Returns the frame that a path meets as number `i` or, if that is none of the user's own code with
 * a line, the next such one outwards; 0 if there is none. */
static uint32_t own_frame(const struct session_tree *tree, struct span *span, uint32_t i)
{
    const struct stacks *stacks = &tree->session->stacks;
    const uint32_t outwards = tree->options.bottom_up ? 1 : UINT32_MAX;
    for (; i < span->count; i += outwards) {
        const uint32_t frame = stacks_frame(stacks, node_at(tree, span, i));
        if (stacks->frame_table[frame].line != 0 &&
            tree->classes[stacks->frame_table[frame].function] == USER_CODE_OWN)
            return frame;
    }
    return 0;
}

void path_lines(const struct session_tree *tree, uint32_t row, uint32_t from, uint32_t to,
                struct tree_node *node)
{
    const uint32_t before = tree->rules[row] == PATH_NO_OWN_CODE;
    struct span span = span_of(tree, row);
    const struct stacks *stacks = &tree->session->stacks;
    node->call = node->own = 0;
    if ((from & INSIDE) != 0)
        from = to - 1;
    to &= ~INSIDE;
    if (to <= before || to - before > span.count || node->public.functions == 0)
        return;
    const bool bottom_up = tree->options.bottom_up;
    /* A library function ends the path: its frame is the first one behind the user's. */
    const uint32_t last = node->public.kind == TREE_LIBRARY ? from - before : to - before - 1;
    if (bottom_up || from > before)
        node->call =
            stacks_frame(stacks, node_at(tree, &span, bottom_up ? last : from - before - 1));
    node->own = own_frame(tree, &span, last);
    if (node->own == 0)
        node->own = stacks_frame(stacks, node_at(tree, &span, last));
}

/* ---- components ---- */

/* The strongly connected components of the graph of calls, whose edges are pairs of neighbours in
 * the paths of all rows, from outside inwards. R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972, without recursion. */

enum { SEEN_BITS = 14 };

/* The edges as caller << 32 | callee, and the functions. */
struct graph {
    uint32_t functions;
    struct code_map edges;
    uint64_t seen[1 << SEEN_BITS]; /* some of them, so that most are not looked for again */
    uint64_t *met;   /* by function: the first place where it was met; UINT64_MAX: nowhere. A place
                      * is a row, and the number of functions outside in its path */
    bool *recursive; /* by function: calls itself */
};

static void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    code_map_free(&graph->edges);
    FREE_ALL(graph->met, graph->recursive, graph);
}

static struct graph *graph_new(uint32_t functions)
{
    struct graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return NULL;
    graph->functions = functions;
    graph->met = malloc(functions * sizeof(*graph->met));
    graph->recursive = calloc(functions, sizeof(*graph->recursive));
    if (!graph->met || !graph->recursive) {
        graph_free(graph);
        return NULL;
    }
    memset(graph->met, 0xff, functions * sizeof(*graph->met));
    memset(graph->seen, 0xff, sizeof(graph->seen));
    return graph;
}

/* Returns false if memory is exhausted. `caller` is UINT32_MAX if there is none. */
static bool meet(struct graph *graph, uint32_t caller, uint32_t function, uint64_t place)
{
    uint32_t number;
    if (place < graph->met[function])
        graph->met[function] = place;
    if (caller == UINT32_MAX)
        return true;
    if (caller == function) {
        graph->recursive[function] = true;
        return true;
    }
    const uint64_t edge = (uint64_t)caller << 32 | function;
    uint64_t *seen = &graph->seen[(edge * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SEEN_BITS)];
    if (*seen == edge)
        return true;
    *seen = edge;
    return code_map_add(&graph->edges, (struct code){edge, 0}, CODE_NONE - 1, &number);
}

/* The nodes in the paths of the rows that have one rule. */
struct walk {
    uint32_t *first;    /* by node: the first row through it, NO_ROW: none */
    uint32_t *function; /* by node: the innermost visible one from there outwards */
    uint32_t *count;    /* by node: the visible ones from there outwards */
};

#define NO_ROW UINT32_MAX

/* Notes the nodes of the rows. Returns false if there are no rows. */
static bool mark_nodes(const struct session_tree *tree, enum path_rule rule, struct walk *walk)
{
    const struct stacks *stacks = &tree->session->stacks;
    bool found = false;
    memset(walk->first, 0xff, stacks->all.count * sizeof(*walk->first));
    for (uint32_t row = (uint32_t)tree->row_count; row-- > 0;) {
        if (tree->rules[row] != rule)
            continue;
        walk->first[tree->sites[row]] = row;
        found = true;
    }
    for (uint32_t node = 1; found && node < stacks->all.count; node++) {
        uint32_t *outer = &walk->first[stacks_caller(stacks, node)];
        *outer = walk->first[node] < *outer ? walk->first[node] : *outer;
    }
    return found;
}

/* Adds the pairs of neighbours in the paths of the rows with a rule: each node is met once. */
static bool add_rule(const struct session_tree *tree, enum path_rule rule, struct walk *walk,
                     struct graph *graph, struct session_error *error)
{
    const struct stacks *stacks = &tree->session->stacks;
    if (!mark_nodes(tree, rule, walk))
        return true;
    walk->function[0] = UINT32_MAX;
    walk->count[0] = 0;
    for (uint32_t node = stacks->all.count; node-- > 1;) {
        const uint32_t outer = stacks_caller(stacks, node),
                       function = stacks_function(stacks, node);
        if (!tree_go_on(tree, node, error))
            return false;
        if (walk->first[node] == NO_ROW)
            continue;
        walk->function[node] = walk->function[outer];
        walk->count[node] = walk->count[outer];
        if (!path_is_visible(tree, rule, function))
            continue;
        if (!meet(graph, walk->function[outer], function,
                  (uint64_t)walk->first[node] << 32 | walk->count[node]))
            return session_fail_memory(error, "the call tree");
        walk->function[node] = function;
        walk->count[node]++;
    }
    return true;
}

static bool add_rules(const struct session_tree *tree, struct graph *graph,
                      struct session_error *error)
{
    const size_t size = tree->session->stacks.all.count * sizeof(uint32_t);
    struct walk walk = {malloc(size), malloc(size), malloc(size)};
    bool good =
        (walk.first && walk.function && walk.count) || session_fail_memory(error, "the call tree");
    for (int rule = PATH_ALL; good && rule < PATH_NO_STACK; rule++)
        good = add_rule(tree, (enum path_rule)rule, &walk, graph, error);
    FREE_ALL(walk.first, walk.function, walk.count);
    return good;
}

/* ---- components ---- */

static bool find(const struct graph *graph, uint32_t *component, uint32_t *count)
{
    const size_t functions = graph->functions;
    size_t *first = calloc(functions + 2, sizeof(*first));
    uint32_t *callees = malloc((graph->edges.count + 1) * sizeof(*callees));
    bool good = first && callees;
    /* Behind the place of a function's first edge, until all its edges are placed. */
    for (size_t i = 0; good && i < graph->edges.count; i++)
        first[(graph->edges.codes[i].low >> 32) + 2]++;
    for (size_t i = 1; good && i <= functions; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; good && i < graph->edges.count; i++)
        callees[first[(graph->edges.codes[i].low >> 32) + 1]++] =
            (uint32_t)graph->edges.codes[i].low;
    good = good && components_number(first, callees, graph->functions, component, count);
    FREE_ALL(first, callees);
    return good;
}

/* ---- members ---- */

struct member {
    uint64_t met;
    uint32_t component, function;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return ORDER(a->component, b->component) ?: ORDER(a->met, b->met) ?: ORDER(a->function, b->function);
}

static bool list_members(const struct graph *graph, struct components *components)
{
    const size_t functions = graph->functions;
    struct member *members = malloc(functions * sizeof(*members));
    components->first = calloc((size_t)components->count + 1, sizeof(*components->first));
    components->members = malloc(functions * sizeof(*components->members));
    components->recursive = calloc(components->count, sizeof(*components->recursive));
    const bool good = members && components->first && components->members && components->recursive;
    for (uint32_t i = 0; good && i < functions; i++)
        members[i] = (struct member){graph->met[i], components->of_function[i], i};
    if (good)
        qsort(members, functions, sizeof(*members), compare_members);
    for (uint32_t i = 0; good && i < functions; i++) {
        components->members[i] = members[i].function;
        components->first[members[i].component + 1] = i + 1;
        if (graph->recursive[members[i].function])
            components->recursive[members[i].component] = true;
    }
    free(members);
    return good;
}

bool components_find(struct session_tree *tree, struct session_error *error)
{
    struct components *components = &tree->components;
    const uint32_t functions = tree->session->names.function_count;
    struct graph *graph = graph_new(functions);
    components->of_function = calloc(functions, sizeof(*components->of_function));
    bool good = (graph && components->of_function) || session_fail_memory(error, "the call tree");
    if (good && tree->options.fold) {
        good = add_rules(tree, graph, error);
        if (good && !find(graph, components->of_function, &components->count))
            good = session_fail_memory(error, "the call tree");
    } else if (good) {
        for (uint32_t i = 0; i < functions; i++)
            components->of_function[i] = i;
        components->count = functions;
    }
    if (good && !list_members(graph, components))
        good = session_fail_memory(error, "the call tree");
    graph_free(graph);
    return good;
}

void components_free(struct components *components)
{
    FREE_ALL(components->of_function, components->first, components->members,
             components->recursive);
}
