/* SPDX-License-Identifier: BSD-2-Clause */
/* Table 4: the call graph. An entry is a function or a cycle, with its ancestors above it and its
 * descendents below it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/nineteen88/graph.h"
#include "schemas/array.h"

#define SEPARATOR "\n-------------------------------s--m--l--x----s--m--l--x----------\n\n"

/* A line above or below an entry. */
struct relative {
    uint32_t node; /* GRAPH_NONE: chains begin at the entry */
    bool inside;   /* of the same cycle: only `called` is known of it */
    struct flow flow;
};

struct writer {
    const struct model *model;
    struct graph graph;
    struct line line;
    uint32_t *order;   /* nodes in the order of their entries */
    uint32_t *index;   /* by node: its place in the order */
    uint64_t *out;     /* by function: allocations that it asked other functions for */
    size_t *by_callee; /* the places of the edges, by callee */
    size_t *first_callee, *first_caller; /* by function: its first edge in both orders */
    uint32_t *members;    /* functions by component, each in the order of their entries */
    size_t *first_member; /* by component */
    struct relative *relatives;
    size_t *relative_of; /* by node: its place among the relatives of a cycle, + 1 */
};

/* ---- order ------------------------------------------------------------------------------ */

static int by_total(const void *left, const void *right, void *context)
{
    const struct graph *graph = context;
    const uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
    const struct graph_node *a = &graph->nodes[first], *b = &graph->nodes[second];
    if (a->total.all != b->total.all)
        return a->total.all < b->total.all ? 1 : -1;
    if (a->total.calls != b->total.calls)
        return a->total.calls < b->total.calls ? 1 : -1;
    if (a->cycle != b->cycle)
        return a->cycle ? -1 : 1;
    /* Callers before their callees: Tarjan's algorithm numbers those first. */
    return ORDER(b->component, a->component) ?: ORDER(first, second);
}

static int by_callee(const void *left, const void *right, void *context)
{
    const struct graph_edge *edges = context;
    const struct graph_edge *a = &edges[*(const size_t *)left], *b = &edges[*(const size_t *)right];
    return ORDER(a->callee, b->callee) ?: ORDER(a->caller, b->caller);
}

static void list_members(struct writer *writer)
{
    const struct graph *graph = &writer->graph;
    for (uint32_t i = 0; i < graph->function_count; i++)
        writer->first_member[graph->nodes[i].component + 1]++;
    for (size_t i = 1; i <= graph->component_count; i++)
        writer->first_member[i] += writer->first_member[i - 1];
    /* Each function moves the end of its component, then the ends move back to the beginnings. */
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = &graph->nodes[writer->order[i]];
        if (!node->cycle)
            writer->members[writer->first_member[node->component]++] = writer->order[i];
    }
    memmove(writer->first_member + 1, writer->first_member,
            graph->component_count * sizeof(*writer->first_member));
    writer->first_member[0] = 0;
}

static bool prepare(struct writer *writer)
{
    struct graph *graph = &writer->graph;
    const size_t room = (size_t)graph->count + 1;
    writer->order = calloc(room, sizeof(*writer->order));
    writer->index = calloc(room, sizeof(*writer->index));
    writer->out = calloc(room, sizeof(*writer->out));
    writer->first_callee = calloc(room + 1, sizeof(*writer->first_callee));
    writer->first_caller = calloc(room + 1, sizeof(*writer->first_caller));
    writer->by_callee = calloc(graph->edge_count + 1, sizeof(*writer->by_callee));
    writer->relatives = calloc(graph->edge_count + 2, sizeof(*writer->relatives));
    writer->relative_of = calloc(room, sizeof(*writer->relative_of));
    writer->members = calloc(room, sizeof(*writer->members));
    writer->first_member =
        calloc((size_t)graph->component_count + 2, sizeof(*writer->first_member));
    if (!writer->order || !writer->index || !writer->out || !writer->first_callee ||
        !writer->first_caller || !writer->by_callee || !writer->relatives || !writer->relative_of ||
        !writer->members || !writer->first_member)
        return false;
    for (uint32_t i = 0; i < graph->count; i++)
        writer->order[i] = i;
    qsort_r(writer->order, graph->count, sizeof(*writer->order), by_total, graph);
    for (uint32_t i = 0; i < graph->count; i++)
        writer->index[writer->order[i]] = i;
    list_members(writer);
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        writer->by_callee[i] = i;
        writer->out[edge->caller] += edge->flow.calls;
        writer->first_callee[edge->callee + 1]++;
        writer->first_caller[edge->caller + 1]++;
    }
    for (size_t i = 1; i <= graph->count; i++) {
        writer->first_callee[i] += writer->first_callee[i - 1];
        writer->first_caller[i] += writer->first_caller[i - 1];
    }
    qsort_r(writer->by_callee, graph->edge_count, sizeof(*writer->by_callee), by_callee,
            graph->edges);
    return true;
}

static void release(struct writer *writer)
{
    FREE_ALL(writer->order, writer->index, writer->out, writer->by_callee, writer->first_callee,
             writer->first_caller, writer->relatives, writer->relative_of, writer->members,
             writer->first_member);
    graph_free(&writer->graph);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Writes "name <cycle 1> [7]". */
static void put_label(struct writer *writer, uint32_t place, const char *behind)
{
    const struct graph_node *node = &writer->graph.nodes[place];
    const uint32_t cycle = graph_cycle(&writer->graph, place);
    struct line *line = &writer->line;
    char text[64];
    if (!node->cycle) {
        line_name(line, model_name(writer->model, node->function));
        line_put(line, cycle == GRAPH_NONE ? "" : " ");
    }
    if (cycle != GRAPH_NONE) {
        snprintf(text, sizeof(text), "<cycle %" PRIu32 ">", writer->graph.nodes[cycle].function);
        line_put(line, text);
    }
    snprintf(text, sizeof(text), "%s [%" PRIu32 "]", behind, writer->index[place]);
    line_put(line, text);
    line_end(line);
}

/* Writes the columns up to the second bar. `fraction` NULL: none; its whole 0: dashes. */
static void put_flow(struct writer *writer, const struct flow *flow, uint64_t share_of,
                     bool fraction, uint64_t whole)
{
    static const uint64_t none[SIZE_CLASSES] = {0};
    struct line *line = &writer->line;
    line_number(line, 9, flow->all);
    line_put(line, " ");
    line_share(line, 5, share_of ? flow->all : 0, share_of);
    line_put(line, " |");
    line_breakdown(line, flow->bytes, flow->all);
    line_put(line, " |");
    if (fraction)
        line_breakdown(line, flow->bytes, whole);
    else if (whole)
        line_put(line, " -----------");
    else
        line_breakdown(line, none, 0);
    line_put(line, " |");
}

/* Writes `called` and the text after it, "/total" or "+recur". */
static void put_called(struct writer *writer, uint64_t called, char sign, uint64_t number)
{
    struct line *line = &writer->line;
    char text[32] = "";
    line_number(line, 8, called);
    if (sign)
        snprintf(text, sizeof(text), "%c%" PRIu64, sign, number);
    line->touches = false; /* both are one number */
    line_left(line, 9, text);
}

static void put_first_columns(struct writer *writer, const char *index, const char *share)
{
    line_left(&writer->line, 5, index);
    line_right(&writer->line, 7, share);
}

static int by_flow(const void *left, const void *right)
{
    const struct relative *a = left, *b = right;
    if (a->inside != b->inside)
        return a->inside ? 1 : -1;
    return ORDER(b->flow.all, a->flow.all) ?: ORDER(b->flow.calls, a->flow.calls) ?:
           ORDER(a->node, b->node);
}

static void put_relative(struct writer *writer, const struct relative *relative, bool ancestor,
                         uint64_t whole)
{
    struct line *line = &writer->line;
    const struct graph_node *node =
        relative->node == GRAPH_NONE ? NULL : &writer->graph.nodes[relative->node];
    put_first_columns(writer, "", "");
    if (relative->inside) {
        line_put(line, "                |             |             |");
        line_number(line, 8, relative->flow.calls);
        line_put(line, "         ");
    } else {
        put_flow(writer, &relative->flow, whole, true, whole);
        if (node)
            put_called(writer, relative->flow.calls, '/',
                       ancestor ? writer->out[relative->node] : node->total.calls);
        else
            put_called(writer, relative->flow.calls, 0, 0);
    }
    line_put(line, "    ");
    if (node)
        put_label(writer, relative->node, "");
    else {
        line_put(line, "<spontaneous>");
        line_end(line);
    }
}

/* ---- relatives -------------------------------------------------------------------------- */

/* Adds an edge to the list of relatives, joined with an earlier one of the same node. */
static size_t add_relative(struct writer *writer, size_t count, uint32_t node, bool inside,
                           const struct flow *flow)
{
    size_t *place = &writer->relative_of[node];
    if (*place != 0) {
        flow_add(&writer->relatives[*place - 1].flow, flow);
        return count;
    }
    writer->relatives[count] = (struct relative){node, inside, *flow};
    *place = count + 1;
    return count + 1;
}

/* Adds the callers or callees of one function as relatives of an entry. */
static size_t add_edges(struct writer *writer, size_t count, uint32_t function, bool ancestors,
                        bool cycle)
{
    const struct graph *graph = &writer->graph;
    const size_t *first = ancestors ? writer->first_callee : writer->first_caller;
    for (size_t i = first[function]; i < first[function + 1]; i++) {
        const struct graph_edge *edge = &graph->edges[ancestors ? writer->by_callee[i] : i];
        const uint32_t other = ancestors ? edge->caller : edge->callee;
        const bool inside =
            graph->nodes[edge->caller].component == graph->nodes[edge->callee].component;
        if (cycle && inside)
            continue;
        if (cycle)
            count = add_relative(writer, count, other, false, &edge->flow);
        else
            writer->relatives[count++] = (struct relative){other, inside, edge->flow};
    }
    return count;
}

/* Lists the ancestors or descendents of an entry, largest first. Returns their number. */
static size_t list_relatives(struct writer *writer, uint32_t entry, bool ancestors)
{
    const struct graph *graph = &writer->graph;
    const struct graph_node *node = &graph->nodes[entry];
    size_t count = 0;
    if (!node->cycle)
        count = add_edges(writer, 0, entry, ancestors, false);
    for (size_t i = writer->first_member[node->component];
         node->cycle && i < writer->first_member[node->component + 1]; i++)
        count = add_edges(writer, count, writer->members[i], ancestors, true);
    for (size_t i = 0; i < count; i++)
        writer->relative_of[writer->relatives[i].node] = 0;
    /* A node that some chains begin with and others do not. */
    bool outside = false;
    for (size_t i = 0; i < count; i++)
        outside = outside || !writer->relatives[i].inside;
    if (ancestors && outside && node->root.calls > 0)
        writer->relatives[count++] = (struct relative){GRAPH_NONE, false, node->root};
    qsort(writer->relatives, count, sizeof(*writer->relatives), by_flow);
    return count;
}

static void put_all(struct writer *writer, const struct flow *sum)
{
    put_first_columns(writer, "", "all");
    put_flow(writer, sum, 0, false, 0);
    line_end(&writer->line);
}

static void put_relatives(struct writer *writer, uint32_t entry, bool ancestors)
{
    struct flow sum = {.all = 0};
    size_t outside = 0;
    const size_t count = list_relatives(writer, entry, ancestors);
    for (size_t i = 0; i < count; i++)
        if (!writer->relatives[i].inside) {
            flow_add(&sum, &writer->relatives[i].flow);
            outside++;
        }
    if (ancestors && outside > 1)
        put_all(writer, &sum);
    const uint64_t whole = ancestors ? writer->graph.nodes[entry].total.all : sum.all;
    for (size_t i = 0; i < count; i++)
        put_relative(writer, &writer->relatives[i], ancestors, whole);
    if (!ancestors && outside > 1)
        put_all(writer, &sum);
}

/* ---- entries ---------------------------------------------------------------------------- */

static void put_own(struct writer *writer, uint32_t entry, const char *behind)
{
    const struct graph_node *node = &writer->graph.nodes[entry];
    char index[24], share[16];
    snprintf(index, sizeof(index), "[%" PRIu32 "]", writer->index[entry]);
    line_decimal(share, node->total.all, writer->model->all.bytes);
    put_first_columns(writer, index, share);
    put_flow(writer, &node->self, node->total.all, false, 1);
    put_called(writer, node->total.calls, node->recursions ? '+' : 0, node->recursions);
    put_label(writer, entry, behind);
}

/* Lists the members of a cycle, with what each allocated itself. */
static void put_members(struct writer *writer, uint32_t entry)
{
    const struct graph *graph = &writer->graph;
    const struct graph_node *cycle = &graph->nodes[entry];
    put_own(writer, entry, " as a whole");
    for (size_t i = writer->first_member[cycle->component];
         i < writer->first_member[cycle->component + 1]; i++) {
        const uint32_t member = writer->members[i];
        const struct graph_node *node = &graph->nodes[member];
        put_first_columns(writer, "", "");
        put_flow(writer, &node->self, cycle->self.all, true, cycle->self.all);
        line_put(&writer->line, "                     ");
        put_label(writer, member, "");
    }
    fputs(SEPARATOR, writer->line.out);
}

static void put_head(FILE *out)
{
    static const char form[] = "%-5s%7s%9s %-5s |%-12s |%-12s |%8s%-9s%s\n";
    fprintf(out, form, "", "self", "", "", "     /ances", "     /ances", "called", "/total",
            "    ancestors");
    fprintf(out, form, "index", "+  ", "self", "(%)", " size-func", " frac", "called", "+recur",
            "name [index]");
    fprintf(out, form, "", "desc", "", "", "     \\desc", "     \\desc", "called", "/total",
            "    descendents");
    fputs(SEPARATOR, out);
}

bool call_graph_write(const struct model *model, const struct tables_options *options, FILE *out,
                      struct session_error *error)
{
    struct writer writer = {.model = model, .line = {.out = out, .estimated = model->estimated}};
    bool good = graph_make(&writer.graph, model, error);
    if (good && !prepare(&writer))
        good = report_fail_memory(error, "the call graph");
    if (good) {
        fputs("---------  Allocation Call Graph ------------\n\n", out);
        put_head(out);
    }
    for (uint32_t i = 0; good && i < writer.graph.count && (!options->top || i < options->top);
         i++) {
        const uint32_t entry = writer.order[i];
        if (writer.graph.nodes[entry].cycle)
            put_members(&writer, entry);
        put_relatives(&writer, entry, true);
        put_own(&writer, entry, "");
        put_relatives(&writer, entry, false);
        fputs(SEPARATOR, out);
    }
    release(&writer);
    return good;
}
