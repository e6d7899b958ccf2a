/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "schemas/components.h"

/* ---- components ------------------------------------------------------------------------- */

/* Stores the component of each node, from 0, and their number. The edges are sorted by caller;
 * their ends are nodes below `nodes`. Returns false if memory is exhausted. */
static bool graph_components_find(const struct graph_edge *edges, size_t edge_count, uint32_t nodes,
                                  uint32_t *component, uint32_t *count)
{
    size_t *first = calloc((size_t)nodes + 1, sizeof(*first));
    uint32_t *callees = calloc(edge_count + 1, sizeof(*callees));
    bool good = first && callees;
    for (size_t i = 0; good && i < edge_count; i++) {
        first[edges[i].caller + 1]++;
        callees[i] = edges[i].callee;
    }
    for (uint32_t i = 0; good && i < nodes; i++)
        first[i + 1] += first[i];
    good = good && components_number(first, callees, nodes, component, count);
    FREE_ALL(first, callees);
    return good;
}

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

/* ---- nodes and edges -------------------------------------------------------------------- */

/* Gives each function of the chains a node, in the order of their ids. `nodes` has, by function,
 * its node or GRAPH_NONE. */
static bool make_nodes(struct graph *graph, const struct model *model, uint32_t *nodes)
{
    for (uint32_t i = 0; i <= model->function_count; i++)
        nodes[i] = GRAPH_NONE;
    for (uint32_t i = 1; i < model->call_count; i++)
        if (model_has(model, i))
            nodes[model->calls[i].function] = 0;
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

ARRAY_ORDER(by_ends, struct graph_edge, ORDER(a->caller, b->caller) ?: ORDER(a->callee, b->callee))

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
    for (uint32_t i = 1; i < model->call_count; i++) {
        const uint32_t caller = model_has(model, i) ? model_caller(model, i) : 0;
        if (caller == 0 || model->calls[caller].function == model->calls[i].function)
            continue;
        /* Few edges are left of many. */
        if (graph->edge_count == capacity)
            join_edges(graph);
        if (graph->edge_count * 2 >= capacity &&
            !array_grow(&graph->edges, &capacity, graph->edge_count * 4 + 1024,
                        sizeof(*graph->edges)))
            return false;
        graph->edges[graph->edge_count++] =
            (struct graph_edge){.caller = nodes[model->calls[caller].function],
                                .callee = nodes[model->calls[i].function]};
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
    FREE_ALL(component, members);
    return good;
}

/* ---- sums ------------------------------------------------------------------------------- */

/* By call: the sums of the chains that have it. By node and edge: how many of the calls from the
 * present one outward have it, so that each chain counts once. */
struct counting {
    struct flow *flows;
    uint32_t *first, *next; /* by call: its first callee, and the next call of the same caller */
    uint32_t *nodes, *recursions, *edges;
};

/* Adds a flow where a number leaves 0. */
static void count_node(struct graph *graph, struct counting *counting, uint32_t node, int step,
                       const struct flow *flow)
{
    if (node == GRAPH_NONE)
        return;
    if (step > 0 && counting->nodes[node] == 0)
        flow_add(&graph->nodes[node].total, flow);
    counting->nodes[node] += (uint32_t)step;
}

static void count_recursion(struct graph *graph, struct counting *counting, uint32_t node, int step,
                            const struct flow *flow)
{
    if (node == GRAPH_NONE)
        return;
    if (step > 0 && counting->recursions[node] == 0)
        graph->nodes[node].recursions += flow->calls;
    counting->recursions[node] += (uint32_t)step;
}

static void count_edge(struct graph *graph, struct counting *counting, uint32_t caller,
                       uint32_t callee, int step, const struct flow *flow)
{
    if (caller == callee)
        count_recursion(graph, counting, callee, step, flow);
    if (graph->nodes[caller].component == graph->nodes[callee].component)
        count_recursion(graph, counting, graph_cycle(graph, callee), step, flow);
    if (caller == callee)
        return;
    struct graph_edge *edge = find_edge(graph, caller, callee);
    uint32_t *open = &counting->edges[edge - graph->edges];
    if (step > 0 && *open == 0)
        flow_add(&edge->flow, flow);
    *open += (uint32_t)step;
}

/* Counts a call as the walk enters it, with step 1, or leaves it, with -1. */
static void count_call(struct graph *graph, const struct model *model, const uint32_t *nodes,
                       uint32_t call, int step, struct counting *counting)
{
    if (!model_has(model, call))
        return;
    const struct flow *flow = &counting->flows[call];
    const uint32_t node = nodes[model->calls[call].function], cycle = graph_cycle(graph, node);
    const uint32_t caller = model_caller(model, call);
    count_node(graph, counting, node, step, flow);
    count_node(graph, counting, cycle, step, flow);
    if (caller != 0) {
        count_edge(graph, counting, nodes[model->calls[caller].function], node, step, flow);
    } else if (step > 0) {
        flow_add(&graph->nodes[node].root, flow);
        if (cycle != GRAPH_NONE)
            flow_add(&graph->nodes[cycle].root, flow);
    }
}

/* Adds the sums of the chains to their call sites, and to all calls outward. */
static void add_chains(struct graph *graph, const struct model *model, const uint32_t *nodes,
                       struct counting *counting)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        const uint32_t node = nodes[model->calls[chain->call].function];
        const uint32_t cycle = graph_cycle(graph, node);
        struct flow flow = {.all = chain->all.bytes, .calls = chain->all.allocations};
        for (int class = 0; class < SIZE_CLASSES; class ++)
            flow.bytes[class] = chain->sums[class].bytes;
        flow_add(&graph->nodes[node].self, &flow);
        if (cycle != GRAPH_NONE)
            flow_add(&graph->nodes[cycle].self, &flow);
        flow_add(&counting->flows[chain->call], &flow);
    }
    for (uint32_t call = model->call_count; call-- > 1;) {
        const uint32_t caller = model->calls[call].caller;
        if (caller != 0)
            flow_add(&counting->flows[caller], &counting->flows[call]);
        counting->next[call] = counting->first[caller];
        counting->first[caller] = call;
    }
}

/* Goes through the calls, each between its caller and its callees. */
static void walk(struct graph *graph, const struct model *model, const uint32_t *nodes,
                 struct counting *counting)
{
    for (uint32_t call = counting->first[0]; call != 0;) {
        count_call(graph, model, nodes, call, 1, counting);
        if (counting->first[call] != 0) {
            call = counting->first[call];
            continue;
        }
        for (;; call = model->calls[call].caller) {
            count_call(graph, model, nodes, call, -1, counting);
            if (counting->next[call] != 0 || model->calls[call].caller == 0)
                break;
        }
        call = counting->next[call];
    }
}

static bool count_chains(struct graph *graph, const struct model *model, const uint32_t *nodes)
{
    const size_t room = (size_t)graph->count + 1;
    struct counting counting = {.flows = calloc(model->call_count, sizeof(struct flow)),
                                .first = calloc(model->call_count, sizeof(uint32_t)),
                                .next = calloc(model->call_count, sizeof(uint32_t)),
                                .nodes = calloc(room, sizeof(uint32_t)),
                                .recursions = calloc(room, sizeof(uint32_t)),
                                .edges = calloc(graph->edge_count + 1, sizeof(uint32_t))};
    const bool good = counting.flows && counting.first && counting.next && counting.nodes &&
                      counting.recursions && counting.edges;
    if (good) {
        add_chains(graph, model, nodes, &counting);
        walk(graph, model, nodes, &counting);
    }
    FREE_ALL(counting.flows, counting.first, counting.next, counting.nodes, counting.recursions,
             counting.edges);
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
    FREE_ALL(graph->nodes, graph->edges, graph->cycle_of);
}
