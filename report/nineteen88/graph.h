/* SPDX-License-Identifier: BSD-2-Clause */
/* The dynamic call graph of the chains, with its cycles.
 *
 * Nodes are functions. The strongly connected components of more than one function are cycles
 * (Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1, 1972). A chain
 * passes a component once, without a gap: if it came back, what lies between would be part of the
 * component. So sums over edges between components are exact. */
#pragma once

#include "report/nineteen88/model.h"
#include "report/nineteen88/nineteen88.h"

#define GRAPH_NONE UINT32_MAX

/* The sums of the stacks that pass a node or an edge. Each stack counts once. */
struct flow {
    uint64_t bytes[SIZE_CLASSES], all, calls; /* calls: allocations */
};

/* A function, or a cycle as one function. */
struct graph_node {
    uint32_t function;  /* of a cycle: its number, from 1 */
    uint32_t component; /* of a function */
    bool cycle;
    struct flow total, self, root; /* root: chains that begin here */
    uint64_t recursions;           /* allocations below a call of the node by itself */
};

struct graph_edge {
    uint32_t caller, callee; /* nodes */
    struct flow flow;
};

struct graph {
    struct graph_node *nodes; /* functions, then cycles */
    uint32_t function_count, count;
    struct graph_edge *edges; /* between functions, by caller, then by callee */
    size_t edge_count;
    uint32_t *cycle_of; /* by component: the node of its cycle, or GRAPH_NONE */
    uint32_t component_count;
};

/* Makes the graph. Returns false with `error` set. graph_free() in any case. */
bool graph_make(struct graph *graph, const struct model *model, struct session_error *error);
void graph_free(struct graph *graph);

/* Returns the node of the cycle of a function, or GRAPH_NONE. */
uint32_t graph_cycle(const struct graph *graph, uint32_t node);

void flow_add(struct flow *to, const struct flow *flow);

/* Writes table 4. Returns false with `error` set. */
bool call_graph_write(const struct model *model, const struct tables_options *options, FILE *out,
                      struct session_error *error);
