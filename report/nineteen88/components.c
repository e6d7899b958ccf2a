/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/components.h"

#include <stdlib.h>

#include "report/nineteen88/graph.h"

struct search {
    const struct graph_edge *edges;
    size_t *next, *end;       /* by node: its edges that are not followed yet */
    uint32_t *order, *lowest; /* by node: order 0: not seen yet */
    bool *open;               /* by node: on `stack` */
    uint32_t *stack, *path;   /* nodes without a component; the nodes from the root of the search */
    size_t stacked, depth;
    uint32_t seen;
    uint32_t *component, count;
};

static void enter(struct search *search, uint32_t node)
{
    search->order[node] = search->lowest[node] = ++search->seen;
    search->stack[search->stacked++] = node;
    search->open[node] = true;
    search->path[search->depth++] = node;
}

/* Ends a node whose edges are all followed. */
static void leave(struct search *search, uint32_t node)
{
    search->depth--;
    if (search->depth > 0) {
        uint32_t *lowest = &search->lowest[search->path[search->depth - 1]];
        if (search->lowest[node] < *lowest)
            *lowest = search->lowest[node];
    }
    if (search->lowest[node] != search->order[node])
        return;
    uint32_t member;
    do {
        member = search->stack[--search->stacked];
        search->open[member] = false;
        search->component[member] = search->count;
    } while (member != node);
    search->count++;
}

static void visit(struct search *search, uint32_t root)
{
    enter(search, root);
    while (search->depth > 0) {
        const uint32_t node = search->path[search->depth - 1];
        if (search->next[node] == search->end[node]) {
            leave(search, node);
            continue;
        }
        const uint32_t callee = search->edges[search->next[node]++].callee;
        if (search->order[callee] == 0)
            enter(search, callee);
        else if (search->open[callee] && search->order[callee] < search->lowest[node])
            search->lowest[node] = search->order[callee];
    }
}

bool graph_components_find(const struct graph_edge *edges, size_t edge_count, uint32_t nodes,
                           uint32_t *component, uint32_t *count)
{
    const size_t room = (size_t)nodes + 1;
    struct search search = {.edges = edges,
                            .next = calloc(room, sizeof(size_t)),
                            .end = calloc(room, sizeof(size_t)),
                            .order = calloc(room, sizeof(uint32_t)),
                            .lowest = calloc(room, sizeof(uint32_t)),
                            .open = calloc(room, sizeof(bool)),
                            .stack = calloc(room, sizeof(uint32_t)),
                            .path = calloc(room, sizeof(uint32_t)),
                            .component = component};
    const bool good = search.next && search.end && search.order && search.lowest && search.open &&
                      search.stack && search.path;
    for (size_t i = edge_count; good && i-- > 0;) {
        search.next[edges[i].caller] = i;
        if (search.end[edges[i].caller] == 0)
            search.end[edges[i].caller] = i + 1;
    }
    for (uint32_t i = 0; good && i < nodes; i++)
        if (search.order[i] == 0)
            visit(&search, i);
    *count = search.count;
    free(search.next);
    free(search.end);
    free(search.order);
    free(search.lowest);
    free(search.open);
    free(search.stack);
    free(search.path);
    return good;
}
