/* SPDX-License-Identifier: BSD-2-Clause */
/* Strongly connected components: Tarjan's algorithm, without recursion. */
#ifndef MPROF_REPORT_NINETEEN88_COMPONENTS_H
#define MPROF_REPORT_NINETEEN88_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph_edge;

/*
 * Stores the component of each node, from 0, and their number. The edges are sorted by caller;
 * their ends are nodes below `nodes`. Returns false if memory is exhausted.
 */
bool graph_components_find(const struct graph_edge *edges, size_t edge_count, uint32_t nodes,
                           uint32_t *component, uint32_t *count);

#endif
