/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"

bool graph_make(struct graph *graph, size_t nodes, const uint32_t *sources, const uint32_t *targets,
                size_t count)
{
    *graph = (struct graph){.nodes = nodes,
                            .edges = count,
                            .first = calloc(nodes + 2, sizeof(*graph->first)),
                            .targets = malloc((count + 1) * sizeof(*graph->targets))};
    if (!graph->first || !graph->targets)
        return false;
    /* Counted one place later, so that filling leaves each beginning where it belongs. */
    for (size_t i = 0; i < count; i++)
        graph->first[sources[i] + 2]++;
    for (size_t i = 2; i <= nodes; i++)
        graph->first[i] += graph->first[i - 1];
    for (size_t i = 0; i < count; i++)
        graph->targets[graph->first[sources[i] + 1]++] = targets[i];
    return true;
}

void graph_free(struct graph *graph)
{
    FREE_ALL(graph->first, graph->targets);
    *graph = (struct graph){.first = NULL};
}

/* The nodes that were reached have numbers in the order of a depth first search. All arrays are
 * indexed by these numbers, except `number`. */
struct search {
    const struct graph *graph;
    uint32_t *number; /* by node; GRAPH_NONE: not reached */
    uint32_t *node;   /* by number */
    uint32_t *parent; /* in the tree of the search; later an ancestor there */
    uint32_t *label;  /* the node with the least semidominator on the path to that ancestor */
    uint32_t *semi;   /* semidominators */
    uint32_t *dominator;
    uint32_t *stack;
    uint32_t *before_first, *before; /* the sources of each node's edges */
    uint32_t count;
};

static bool search_new(struct search *search, const struct graph *graph)
{
    const size_t nodes = graph->nodes;
    *search = (struct search){.graph = graph};
    uint32_t **const arrays[] = {&search->number, &search->node, &search->parent,
                                 &search->label,  &search->semi, &search->dominator,
                                 &search->stack};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        if (!(*arrays[i] = malloc((nodes + 1) * sizeof(**arrays[i]))))
            return false;
    memset(search->number, 0xff, nodes * sizeof(*search->number));
    return true;
}

static void reach(struct search *search, uint32_t node, uint32_t parent)
{
    const uint32_t number = search->count++;
    search->number[node] = number;
    search->node[number] = node;
    search->parent[number] = search->dominator[number] = parent;
    search->label[number] = search->semi[number] = number;
}

static void number_nodes(struct search *search)
{
    const struct graph *graph = search->graph;
    uint32_t *next = search->before_first; /* by node, not used yet */
    size_t depth = 0;
    memcpy(next, graph->first, graph->nodes * sizeof(*next));
    reach(search, 0, 0);
    search->stack[depth++] = 0;
    while (depth > 0) {
        const uint32_t node = search->stack[depth - 1];
        if (next[node] == graph->first[node + 1]) {
            depth--;
            continue;
        }
        const uint32_t target = graph->targets[next[node]++];
        if (search->number[target] == GRAPH_NONE) {
            reach(search, target, search->number[node]);
            search->stack[depth++] = target;
        }
    }
}

/* Lists for each number the numbers from which edges lead there. */
static void list_sources(struct search *search)
{
    const struct graph *graph = search->graph;
    uint32_t *first = search->before_first;
    memset(first, 0, (graph->nodes + 2) * sizeof(*first));
    for (uint32_t i = 0; i < search->count; i++)
        for (uint32_t e = graph->first[search->node[i]]; e < graph->first[search->node[i] + 1]; e++)
            first[search->number[graph->targets[e]] + 2]++;
    for (size_t i = 2; i <= search->count; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < search->count; i++)
        for (uint32_t e = graph->first[search->node[i]]; e < graph->first[search->node[i] + 1]; e++)
            search->before[first[search->number[graph->targets[e]] + 1]++] = i;
}

/* Returns the number with the least semidominator on the path from `number` up to the nodes below
 * `linked`, and shortens that path. */
static uint32_t least_above(struct search *search, uint32_t number, uint32_t linked)
{
    uint32_t *parent = search->parent, *label = search->label;
    size_t depth = 0;
    if (parent[number] < linked)
        return label[number];
    do {
        search->stack[depth++] = number;
        number = parent[number];
    } while (parent[number] >= linked);
    uint32_t above = number, least = label[number];
    while (depth > 0) {
        number = search->stack[--depth];
        parent[number] = parent[above];
        if (search->semi[least] < search->semi[label[number]])
            label[number] = least;
        else
            least = label[number];
        above = number;
    }
    return label[number];
}

static void find_semidominators(struct search *search)
{
    for (uint32_t i = search->count; i-- > 1;) {
        uint32_t least = search->dominator[i]; /* its parent */
        for (uint32_t e = search->before_first[i]; e < search->before_first[i + 1]; e++) {
            const uint32_t semi = search->semi[least_above(search, search->before[e], i + 1)];
            if (semi < least)
                least = semi;
        }
        search->semi[i] = least;
    }
}

static bool put_result(struct dominators *dominators, const struct search *search)
{
    dominators->of = malloc((search->graph->nodes + 1) * sizeof(*dominators->of));
    dominators->order = malloc((search->count + 1) * sizeof(*dominators->order));
    if (!dominators->of || !dominators->order)
        return false;
    memset(dominators->of, 0xff, search->graph->nodes * sizeof(*dominators->of));
    dominators->reached = search->count;
    for (uint32_t i = 0; i < search->count; i++) {
        dominators->order[i] = search->node[i];
        if (i > 0)
            dominators->of[search->node[i]] = search->node[search->dominator[i]];
    }
    return true;
}

bool dominators_find(struct dominators *dominators, const struct graph *graph)
{
    struct search search;
    *dominators = (struct dominators){.reached = 0};
    bool good = search_new(&search, graph);
    search.before_first = malloc((graph->nodes + 2) * sizeof(*search.before_first));
    search.before = malloc((graph->edges + 1) * sizeof(*search.before));
    good = good && search.before_first && search.before;
    if (good) {
        number_nodes(&search);
        list_sources(&search);
        find_semidominators(&search);
        for (uint32_t i = 1; i < search.count; i++)
            while (search.dominator[i] > search.semi[i])
                search.dominator[i] = search.dominator[search.dominator[i]];
        good = put_result(dominators, &search);
    }
    FREE_ALL(search.number, search.node, search.parent, search.label, search.semi, search.dominator,
             search.stack, search.before_first, search.before);
    return good;
}

void dominators_free(struct dominators *dominators)
{
    FREE_ALL(dominators->of, dominators->order);
    *dominators = (struct dominators){.reached = 0};
}
