/* SPDX-License-Identifier: BSD-2-Clause */
/* Strongly connected components (Tarjan: Depth-first search and linear graph algorithms, 1972),
 * without recursion. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"

struct components_search {
    const size_t *first;
    uint32_t *component;      /* UINT32_MAX: in none yet */
    uint32_t *order, *lowest; /* by node; order 0: not visited */
    uint32_t *stack;          /* of nodes without a component */
    uint32_t *path;
    size_t *next; /* the next edge to follow of each node on the path */
    uint32_t stacked, depth, visited, count;
};

static inline void components_enter(struct components_search *search, uint32_t node)
{
    search->order[node] = search->lowest[node] = ++search->visited;
    search->stack[search->stacked++] = node;
    search->next[search->depth] = search->first[node];
    search->path[search->depth++] = node;
}

/* Ends a node whose edges are all followed. */
static inline void components_leave(struct components_search *search)
{
    const uint32_t node = search->path[--search->depth];
    if (search->depth > 0) {
        uint32_t *lowest = &search->lowest[search->path[search->depth - 1]];
        *lowest = search->lowest[node] < *lowest ? search->lowest[node] : *lowest;
    }
    if (search->lowest[node] != search->order[node])
        return;
    uint32_t member;
    do {
        member = search->stack[--search->stacked];
        search->component[member] = search->count;
    } while (member != node);
    search->count++;
}

/* Stores the component of each node, from 0, and their number. The edges of a node lead to
 * targets[first[node]] up to, not including, targets[first[node + 1]]. Returns false if memory is
 * exhausted. */
static inline bool components_number(const size_t *first, const uint32_t *targets, uint32_t nodes,
                                     uint32_t *component, uint32_t *count)
{
    const size_t room = (size_t)nodes + 1;
    struct components_search search = {.first = first,
                                       .component = component,
                                       .order = calloc(room, sizeof(uint32_t)),
                                       .lowest = calloc(room, sizeof(uint32_t)),
                                       .stack = calloc(room, sizeof(uint32_t)),
                                       .path = calloc(room, sizeof(uint32_t)),
                                       .next = calloc(room, sizeof(size_t))};
    const bool good = search.order && search.lowest && search.stack && search.path && search.next;
    memset(component, 0xff, nodes * sizeof(*component));
    for (uint32_t root = 0; good && root < nodes; root++) {
        if (search.order[root] == 0)
            components_enter(&search, root);
        while (search.depth > 0) {
            const uint32_t node = search.path[search.depth - 1];
            size_t *next = &search.next[search.depth - 1];
            if (*next == first[node + 1]) {
                components_leave(&search);
                continue;
            }
            const uint32_t target = targets[(*next)++];
            if (search.order[target] == 0)
                components_enter(&search, target);
            else if (component[target] == UINT32_MAX && search.order[target] < search.lowest[node])
                search.lowest[node] = search.order[target];
        }
    }
    *count = search.count;
    FREE_ALL(search.order, search.lowest, search.stack, search.path, search.next);
    return good;
}
