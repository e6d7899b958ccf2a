/* SPDX-License-Identifier: BSD-2-Clause */
/* Dominators of a directed graph: node d dominates node v if each path from the root to v leads
 * through d. The immediate dominator of v is the nearest one.
 *
 * By the algorithm Semi-NCA: L. Georgiadis, R. E. Tarjan, R. F. Werneck: Finding Dominators in
 * Practice, Journal of Graph Algorithms and Applications 10 (2006), section 2.3. It takes
 * O(edges log nodes) in practice, and recurses nowhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The edges of node v lead to targets[first[v]] … targets[first[v + 1] - 1]. Node 0 is the root. */
struct graph {
    size_t nodes, edges;
    uint32_t *first; /* nodes + 1 */
    uint32_t *targets;
};

#define GRAPH_NONE UINT32_MAX

struct dominators {
    uint32_t *of; /* the immediate dominator of each node; GRAPH_NONE: the root, or not reached */
    uint32_t *order; /* the nodes that were reached, each after its dominator; the first is 0 */
    size_t reached;
};

/* Makes a graph of `count` edges, from sources[i] to targets[i], in any order. Edges of one node
 * keep their order. False if memory is exhausted; graph_free() in both cases. */
bool graph_make(struct graph *graph, size_t nodes, const uint32_t *sources, const uint32_t *targets,
                size_t count);
void graph_free(struct graph *graph);

/* Finds the dominators. Takes 28 bytes a node and 4 an edge beside the result. False if memory is
 * exhausted; dominators_free() in both cases. */
bool dominators_find(struct dominators *dominators, const struct graph *graph);
void dominators_free(struct dominators *dominators);
