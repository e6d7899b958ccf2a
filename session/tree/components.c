/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The strongly connected components of the graph of calls, whose edges are pairs of neighbours in
 * the paths of all rows, from outside inwards. R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972, without recursion.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/code_map.h"
#include "session/tree/tree_state.h"

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
    free(graph->met);
    free(graph->recursive);
    free(graph);
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
    free(walk.first);
    free(walk.function);
    free(walk.count);
    return good;
}

/* ---- components ---- */

struct visit {
    uint32_t function, next; /* the next edge to follow */
};

struct search {
    uint32_t functions;
    uint32_t *first, *callees; /* the edges of each function */
    uint32_t *index, *low;     /* by function; index 0: not visited */
    uint32_t *component;       /* by function; UINT32_MAX: not in one yet */
    uint32_t *stack;           /* of functions without a component */
    struct visit *path;
    uint32_t stacked, depth, visited, components;
};

static void sort_edges(struct search *search, const struct code_map *edges)
{
    for (size_t i = 0; i < edges->count; i++)
        search->first[(edges->codes[i].low >> 32) + 1]++;
    for (uint32_t i = 0; i < search->functions; i++)
        search->first[i + 1] += search->first[i];
    /* `low` counts the edges that are placed. */
    for (size_t i = 0; i < edges->count; i++) {
        const uint32_t caller = (uint32_t)(edges->codes[i].low >> 32);
        search->callees[search->first[caller] + search->low[caller]++] =
            (uint32_t)edges->codes[i].low;
    }
    memset(search->low, 0, search->functions * sizeof(*search->low));
}

static void enter(struct search *search, uint32_t function)
{
    search->index[function] = search->low[function] = ++search->visited;
    search->stack[search->stacked++] = function;
    search->path[search->depth++] = (struct visit){function, search->first[function]};
}

static void leave(struct search *search)
{
    const uint32_t function = search->path[--search->depth].function;
    if (search->depth > 0) {
        const uint32_t caller = search->path[search->depth - 1].function;
        if (search->low[function] < search->low[caller])
            search->low[caller] = search->low[function];
    }
    if (search->low[function] != search->index[function])
        return;
    uint32_t member;
    do {
        member = search->stack[--search->stacked];
        search->component[member] = search->components;
    } while (member != function);
    search->components++;
}

static void visit_from(struct search *search, uint32_t start)
{
    enter(search, start);
    while (search->depth > 0) {
        struct visit *visit = &search->path[search->depth - 1];
        if (visit->next == search->first[visit->function + 1]) {
            leave(search);
            continue;
        }
        const uint32_t callee = search->callees[visit->next++];
        if (search->index[callee] == 0)
            enter(search, callee);
        else if (search->component[callee] == UINT32_MAX &&
                 search->index[callee] < search->low[visit->function])
            search->low[visit->function] = search->index[callee];
    }
}

static void search_close(struct search *search)
{
    free(search->first);
    free(search->callees);
    free(search->index);
    free(search->low);
    free(search->stack);
    free(search->path);
}

/* Stores the component of each function. */
static bool find(const struct graph *graph, uint32_t *component, uint32_t *count)
{
    const size_t functions = graph->functions;
    struct search search = {.functions = graph->functions, .component = component};
    search.first = calloc(functions + 1, sizeof(*search.first));
    search.callees = malloc((graph->edges.count + 1) * sizeof(*search.callees));
    search.index = calloc(functions, sizeof(*search.index));
    search.low = calloc(functions, sizeof(*search.low));
    search.stack = malloc(functions * sizeof(*search.stack));
    search.path = malloc(functions * sizeof(*search.path));
    const bool good =
        search.first && search.callees && search.index && search.low && search.stack && search.path;
    if (good) {
        memset(component, 0xff, functions * sizeof(*component));
        sort_edges(&search, &graph->edges);
        for (uint32_t i = 0; i < graph->functions; i++)
            if (search.index[i] == 0)
                visit_from(&search, i);
        *count = search.components;
    }
    search_close(&search);
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
    if (a->component != b->component)
        return a->component < b->component ? -1 : 1;
    if (a->met != b->met)
        return a->met < b->met ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Lists the members of each component. */
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
    free(components->of_function);
    free(components->first);
    free(components->members);
    free(components->recursive);
}
