/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares dominators with their definition, on random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/write/dominators.h"

#define NODES_MAX 40u
#define EDGES_MAX (3 * NODES_MAX)

static uint64_t state_of_random = 42;

static uint64_t draw(uint64_t below)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return state_of_random % below;
}

/* Marks the nodes that the root reaches without `removed`. */
static void reach_without(const struct graph *graph, uint32_t removed, bool *reached)
{
    uint32_t todo[NODES_MAX];
    size_t count = 0;
    memset(reached, 0, NODES_MAX * sizeof(*reached));
    if (removed != 0) {
        reached[0] = true;
        todo[count++] = 0;
    }
    while (count > 0) {
        const uint32_t node = todo[--count];
        for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
            const uint32_t target = graph->targets[e];
            if (target == removed || reached[target])
                continue;
            reached[target] = true;
            todo[count++] = target;
        }
    }
}

/* Returns the dominator of `node` that most others dominate: the nearest one. */
static uint32_t nearest(bool without[][NODES_MAX], const bool *all, size_t nodes, uint32_t node)
{
    uint32_t found = GRAPH_NONE;
    int most = -1;
    for (uint32_t d = 0; d < nodes; d++) {
        int above = 0;
        if (d == node || !all[d] || without[d][node])
            continue;
        for (uint32_t other = 0; other < nodes; other++)
            above += other != d && all[other] && !without[other][d];
        if (above > most) {
            most = above;
            found = d;
        }
    }
    return found;
}

static void test_random_graphs(void **state)
{
    for (int round = 0; round < 500; round++) {
        const size_t nodes = 2 + draw(NODES_MAX - 1);
        const size_t edges = draw(3 * nodes);
        uint32_t from[EDGES_MAX], to[EDGES_MAX];
        static bool all[NODES_MAX], without[NODES_MAX][NODES_MAX];
        struct graph graph;
        struct dominators dominators;
        for (size_t i = 0; i < edges; i++) {
            from[i] = (uint32_t)draw(nodes);
            to[i] = (uint32_t)draw(nodes);
        }
        assert_true(graph_make(&graph, nodes, from, to, edges));
        assert_true(dominators_find(&dominators, &graph));
        reach_without(&graph, GRAPH_NONE, all);
        for (uint32_t d = 0; d < nodes; d++)
            reach_without(&graph, d, without[d]);
        assert_int_equal(dominators.of[0], GRAPH_NONE);
        for (uint32_t node = 1; node < nodes; node++)
            assert_int_equal(dominators.of[node],
                             all[node] ? nearest(without, all, nodes, node) : GRAPH_NONE);
        for (size_t i = 1; i < dominators.reached; i++) {
            size_t before = 0;
            while (dominators.order[before] != dominators.of[dominators.order[i]])
                before++;
            assert_true(before < i);
        }
        dominators_free(&dominators);
        graph_free(&graph);
    }
}

/* A path of a million nodes: nothing may recurse. */
static void test_long_path(void **state)
{
    enum { LENGTH = 1000000 };
    uint32_t *from = malloc(LENGTH * sizeof(*from)), *to = malloc(LENGTH * sizeof(*to));
    struct graph graph;
    struct dominators dominators;
    assert_non_null(from);
    assert_non_null(to);
    for (uint32_t i = 0; i < LENGTH; i++) {
        from[i] = i;
        to[i] = i + 1;
    }
    assert_true(graph_make(&graph, LENGTH + 1, from, to, LENGTH));
    assert_true(dominators_find(&dominators, &graph));
    assert_int_equal(dominators.reached, LENGTH + 1);
    assert_int_equal(dominators.of[LENGTH], LENGTH - 1);
    dominators_free(&dominators);
    graph_free(&graph);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
