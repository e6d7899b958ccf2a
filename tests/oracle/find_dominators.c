/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the dominators of graphs. Reads for each graph its nodes and edges, as numbers: how many,
 * then the two nodes of each edge. Writes a line for each graph: the dominator of each node, -1 if
 * it has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/write/dominators.h"

static bool find(uint32_t nodes, uint32_t count)
{
    struct graph graph = {0};
    struct dominators dominators = {0};
    uint32_t *from = calloc(count + 1, sizeof(*from)), *to = calloc(count + 1, sizeof(*to));
    bool good = from && to;
    for (uint32_t i = 0; good && i < count; i++)
        good = scanf("%" SCNu32 " %" SCNu32, &from[i], &to[i]) == 2;
    good =
        good && graph_make(&graph, nodes, from, to, count) && dominators_find(&dominators, &graph);
    for (uint32_t node = 0; good && node < nodes; node++)
        printf("%" PRId32 " ", (int32_t)dominators.of[node]);
    putchar('\n');
    dominators_free(&dominators);
    graph_free(&graph);
    free(from);
    free(to);
    return good;
}

int main(void)
{
    uint32_t nodes, count;
    while (scanf("%" SCNu32 " %" SCNu32, &nodes, &count) == 2)
        if (!find(nodes, count))
            return 1;
    return 0;
}
