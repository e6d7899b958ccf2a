/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/graph.h"

#include <stdlib.h>
#include <string.h>

#include "report/nineteen88/components.h"

void flow_add(struct flow *to, const struct flow *flow)
{
    for (int i = 0; i < SIZE_CLASSES; i++)
        to->bytes[i] += flow->bytes[i];
    to->all += flow->all;
    to->calls += flow->calls;
}

uint32_t graph_cycle(const struct graph *graph, uint32_t node)
{
    return graph->cycle_of[graph->nodes[node].component];
}

static struct flow chain_flow(const struct chain *chain)
{
    struct flow flow = {.all = chain->all.bytes, .calls = chain->all.allocations};
    for (int i = 0; i < SIZE_CLASSES; i++)
        flow.bytes[i] = chain->sums[i].bytes;
    return flow;
}

/* ---- nodes and edges -------------------------------------------------------------------- */

/* Gives each function of the chains a node, in the order of their ids. `nodes` has, by function,
 * its node or GRAPH_NONE. */
static bool make_nodes(struct graph *graph, const struct model *model, uint32_t *nodes)
{
    for (uint32_t i = 0; i <= model->function_count; i++)
        nodes[i] = GRAPH_NONE;
    for (size_t i = 0; i < model->count; i++)
        for (size_t j = 0; j < model->chains[i].depth; j++)
            nodes[model->functions[model->chains[i].first + j]] = 0;
    for (uint32_t i = 0; i <= model->function_count; i++)
        if (nodes[i] == 0)
            nodes[i] = graph->function_count++;
    /* At most every second function is in a cycle of its own number. */
    graph->nodes = calloc((size_t)graph->function_count * 2 + 1, sizeof(*graph->nodes));
    if (!graph->nodes)
        return false;
    for (uint32_t i = 0; i <= model->function_count; i++)
        if (nodes[i] != GRAPH_NONE)
            graph->nodes[nodes[i]].function = i;
    graph->count = graph->function_count;
    return true;
}

static int by_ends(const void *left, const void *right)
{
    const struct graph_edge *a = left, *b = right;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Sorts the edges and leaves one of each. */
static void join_edges(struct graph *graph)
{
    size_t count = 0;
    if (graph->edge_count > 0)
        qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), by_ends);
    for (size_t i = 0; i < graph->edge_count; i++)
        if (count == 0 || by_ends(&graph->edges[count - 1], &graph->edges[i]) != 0)
            graph->edges[count++] = graph->edges[i];
    graph->edge_count = count;
}

/* Makes an edge of each call in the chains, without calls of a function by itself. */
static bool make_edges(struct graph *graph, const struct model *model, const uint32_t *nodes)
{
    size_t capacity = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        const uint32_t *functions = model->functions + chain->first;
        if (graph->edge_count + chain->depth > capacity) {
            /* Few edges are left of many. */
            join_edges(graph);
            if (2 * (graph->edge_count + chain->depth) > capacity) {
                capacity = 4 * (graph->edge_count + chain->depth) + 1024;
                struct graph_edge *more = realloc(graph->edges, capacity * sizeof(*more));
                if (!more)
                    return false;
                graph->edges = more;
            }
        }
        for (size_t j = 0; j + 1 < chain->depth; j++)
            if (functions[j] != functions[j + 1])
                graph->edges[graph->edge_count++] = (struct graph_edge){
                    .caller = nodes[functions[j + 1]], .callee = nodes[functions[j]]};
    }
    join_edges(graph);
    return true;
}

static struct graph_edge *find_edge(const struct graph *graph, uint32_t caller, uint32_t callee)
{
    const struct graph_edge wanted = {.caller = caller, .callee = callee};
    return bsearch(&wanted, graph->edges, graph->edge_count, sizeof(wanted), by_ends);
}

/* ---- cycles ----------------------------------------------------------------------------- */

/* Finds the components, and adds a node for each that is a cycle. */
static bool make_cycles(struct graph *graph)
{
    uint32_t *component = calloc((size_t)graph->function_count + 1, sizeof(*component));
    uint32_t *members = calloc((size_t)graph->function_count + 1, sizeof(*members));
    uint32_t number = 0;
    bool good = component && members &&
                graph_components_find(graph->edges, graph->edge_count, graph->function_count,
                                      component, &graph->component_count);
    graph->cycle_of =
        good ? calloc((size_t)graph->component_count + 1, sizeof(*graph->cycle_of)) : NULL;
    good = graph->cycle_of != NULL;
    for (uint32_t i = 0; good && i < graph->function_count; i++) {
        graph->nodes[i].component = component[i];
        members[component[i]]++;
    }
    for (uint32_t i = 0; good && i < graph->component_count; i++) {
        graph->cycle_of[i] = GRAPH_NONE;
        if (members[i] < 2)
            continue;
        graph->cycle_of[i] = graph->count;
        graph->nodes[graph->count++] =
            (struct graph_node){.function = ++number, .component = i, .cycle = true};
    }
    free(component);
    free(members);
    return good;
}

/* ---- sums ------------------------------------------------------------------------------- */

/* The last chain that was counted at a node or an edge, plus 1: each chain counts once. */
struct counted {
    size_t *nodes, *recursions, *edges;
};

static void count_node(struct graph *graph, struct counted *counted, uint32_t node, size_t stamp,
                       const struct flow *flow)
{
    if (counted->nodes[node] == stamp)
        return;
    counted->nodes[node] = stamp;
    flow_add(&graph->nodes[node].total, flow);
}

static void count_recursion(struct graph *graph, struct counted *counted, uint32_t node,
                            size_t stamp, const struct flow *flow)
{
    if (node == GRAPH_NONE || counted->recursions[node] == stamp)
        return;
    counted->recursions[node] = stamp;
    graph->nodes[node].recursions += flow->calls;
}

static void count_call(struct graph *graph, struct counted *counted, uint32_t caller,
                       uint32_t callee, size_t stamp, const struct flow *flow)
{
    if (caller == callee)
        count_recursion(graph, counted, callee, stamp, flow);
    if (graph->nodes[caller].component == graph->nodes[callee].component)
        count_recursion(graph, counted, graph_cycle(graph, callee), stamp, flow);
    if (caller == callee)
        return;
    struct graph_edge *edge = find_edge(graph, caller, callee);
    size_t *place = &counted->edges[edge - graph->edges];
    if (*place != stamp)
        flow_add(&edge->flow, flow);
    *place = stamp;
}

static void count_chain(struct graph *graph, const struct model *model, const uint32_t *nodes,
                        size_t place, struct counted *counted)
{
    const struct chain *chain = &model->chains[place];
    const uint32_t *functions = model->functions + chain->first;
    const struct flow flow = chain_flow(chain);
    const size_t stamp = place + 1;
    for (size_t i = 0; i < chain->depth; i++) {
        const uint32_t node = nodes[functions[i]], cycle = graph_cycle(graph, node);
        count_node(graph, counted, node, stamp, &flow);
        if (cycle != GRAPH_NONE)
            count_node(graph, counted, cycle, stamp, &flow);
        if (i == 0) {
            flow_add(&graph->nodes[node].self, &flow);
            if (cycle != GRAPH_NONE)
                flow_add(&graph->nodes[cycle].self, &flow);
        }
        if (i + 1 < chain->depth) {
            count_call(graph, counted, nodes[functions[i + 1]], node, stamp, &flow);
            continue;
        }
        flow_add(&graph->nodes[node].root, &flow);
        if (cycle != GRAPH_NONE)
            flow_add(&graph->nodes[cycle].root, &flow);
    }
}

static bool count_chains(struct graph *graph, const struct model *model, const uint32_t *nodes)
{
    struct counted counted = {calloc((size_t)graph->count + 1, sizeof(size_t)),
                              calloc((size_t)graph->count + 1, sizeof(size_t)),
                              calloc(graph->edge_count + 1, sizeof(size_t))};
    const bool good = counted.nodes && counted.recursions && counted.edges;
    for (size_t i = 0; good && i < model->count; i++)
        count_chain(graph, model, nodes, i, &counted);
    free(counted.nodes);
    free(counted.recursions);
    free(counted.edges);
    return good;
}

bool graph_make(struct graph *graph, const struct model *model, struct session_error *error)
{
    *graph = (struct graph){.nodes = NULL};
    uint32_t *nodes = malloc(((size_t)model->function_count + 1) * sizeof(*nodes));
    const bool good = nodes && make_nodes(graph, model, nodes) && make_edges(graph, model, nodes) &&
                      make_cycles(graph) && count_chains(graph, model, nodes);
    free(nodes);
    return good || report_fail_memory(error, "the call graph");
}

void graph_free(struct graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    free(graph->cycle_of);
}
