/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the call graph of the tables of 1988 against the tables of a session.
 *
 * usage: check_graph SESSION
 *
 * A node's bytes and calls are function_total.total_bytes and total_count; what comes from the
 * ancestors, or begins at the node, is what the node and its descendents hold; the chains sum to
 * meta. Prints one line with the numbers that it checked.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "report/nineteen88/graph.h"

static unsigned failures, checked;

static void equal(const char *what, const char *name, uint64_t got, uint64_t wanted)
{
    checked++;
    if (got == wanted)
        return;
    failures++;
    printf("%s of %s: %" PRIu64 ", not %" PRIu64 "\n", what, name, got, wanted);
}

/* Compares the functions with function_total, except allocators, which are also inside call sites.
 * In a sample the table has the recorded blocks, and the graph estimates. */
static void check_functions(const char *path, const struct model *model, const struct graph *graph)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *query = NULL;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(database,
                           "SELECT total_bytes, total_count FROM function_total t JOIN function f "
                           "ON f.id = t.function_id WHERE f.id = ? AND f.role IS NULL",
                           -1, &query, NULL) != SQLITE_OK) {
        printf("%s: %s\n", path, sqlite3_errmsg(database));
        failures++;
    }
    for (uint32_t i = 0; query && i < graph->function_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        sqlite3_reset(query);
        sqlite3_bind_int64(query, 1, node->function);
        if (sqlite3_step(query) != SQLITE_ROW)
            continue;
        const char *name = model_name(model, node->function);
        equal("bytes", name, node->total.all, (uint64_t)sqlite3_column_int64(query, 0));
        equal("calls", name, node->total.calls, (uint64_t)sqlite3_column_int64(query, 1));
    }
    sqlite3_finalize(query);
    sqlite3_close(database);
}

/* Adds what enters and what leaves a node's component over edges. */
static void add_edges(const struct graph *graph, uint32_t component, struct flow *in,
                      struct flow *out)
{
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        const uint32_t from = graph->nodes[edge->caller].component,
                       to = graph->nodes[edge->callee].component;
        if (from != to && to == component)
            flow_add(in, &edge->flow);
        if (from != to && from == component)
            flow_add(out, &edge->flow);
    }
}

/* A chain that goes around in a cycle counts once at each edge. */
static void check_edges(const struct model *model, const struct graph *graph)
{
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        const struct graph_node *callee = &graph->nodes[edge->callee];
        const struct graph_node *caller = &graph->nodes[edge->caller];
        equal("more calls by an edge than", model_name(model, callee->function),
              edge->flow.calls > callee->total.calls || edge->flow.calls > caller->total.calls, 0);
    }
    for (uint32_t i = 0; i < graph->count; i++)
        equal("more recursions than calls", graph->nodes[i].cycle ? "a cycle" : "a function",
              graph->nodes[i].recursions > graph->nodes[i].total.calls, 0);
}

/* Checks all nodes but the functions within cycles, where chains come and go. */
static void check_flows(const struct model *model, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        if (!node->cycle && graph_cycle(graph, i) != GRAPH_NONE)
            continue;
        const char *name = node->cycle ? "a cycle" : model_name(model, node->function);
        struct flow in = node->root, out = node->self;
        add_edges(graph, node->component, &in, &out);
        equal("what comes from the ancestors", name, in.all, node->total.all);
        equal("self and descendents", name, out.all, node->total.all);
        equal("calls from the ancestors", name, in.calls, node->total.calls);
        for (int class = 0; class < SIZE_CLASSES; class ++) {
            equal("a class from the ancestors", name, in.bytes[class], node->total.bytes[class]);
            equal("a class of self and descendents", name, out.bytes[class],
                  node->total.bytes[class]);
        }
    }
}

int main(int argc, char **argv)
{
    struct session_error error = {.message = ""};
    struct model model = {.session = NULL};
    struct graph graph = {.nodes = NULL};
    struct session *session = argc == 2 ? session_open(argv[1], &error) : NULL;
    const struct report_request request = {.session = session};
    bool good = session && session_select_process(session, 0, &error) &&
                model_read(&model, &request, &error) && graph_make(&graph, &model, &error);
    if (good) {
        if (!session_sampled(session)) {
            equal("bytes", "all", model.all.bytes,
                  (uint64_t)session_meta_number(session, "bytes_allocated"));
            equal("bytes kept", "all", model.all.kept_bytes,
                  (uint64_t)session_meta_number(session, "live_bytes_end"));
            check_functions(argv[1], &model, &graph);
        }
        check_flows(&model, &graph);
        check_edges(&model, &graph);
        printf("%u nodes, %u cycles: %u numbers, %u differ\n", graph.count,
               graph.count - graph.function_count, checked, failures);
    } else
        printf("%s\n", error.message);
    graph_free(&graph);
    model_free(&model);
    session_close(session);
    return good && failures == 0 && checked > 0 ? 0 : 1;
}
