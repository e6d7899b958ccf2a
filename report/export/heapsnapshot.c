/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's heap snapshots, as Chrome's memory panel opens them: the graph of the last references
 * between blocks. Blocks are objects with their type as constructor. Roots hang on the root node,
 * and blocks that nothing reaches on a node of their own, so that their sizes can be seen.
 *
 * The format:
 * https://chromium.googlesource.com/v8/v8/+/main/src/profiler/heap-snapshot-generator.h */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/retained.h"

/* Places in the lists of types below. */
enum { NODE_OBJECT = 3, NODE_SYNTHETIC = 9 };
enum { EDGE_ELEMENT = 1, EDGE_PROPERTY = 2, EDGE_WEAK = 6 };
/* Nodes before the session's own: the root, and the one of what is unreachable. */
enum { OWN_NODES = 2 };

static const char *const node_fields[] = {"type",       "name",          "id",          "self_size",
                                          "edge_count", "trace_node_id", "detachedness"};
static const char *const node_types[] = {"hidden",
                                         "array",
                                         "string",
                                         "object",
                                         "code",
                                         "closure",
                                         "regexp",
                                         "number",
                                         "native",
                                         "synthetic",
                                         "concatenated string",
                                         "sliced string",
                                         "symbol",
                                         "bigint",
                                         "object shape"};
static const char *const edge_fields[] = {"type", "name_or_index", "to_node"};
static const char *const edge_types[] = {"context", "element",  "property", "internal",
                                         "hidden",  "shortcut", "weak"};

#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

struct node {
    int64_t id; /* below 0: of a root, times -1 */
    uint64_t size;
    uint32_t name, edges;
    bool sure, unreachable, first; /* as in session_heap_node */
};

struct edge {
    uint32_t name, to; /* to: an index in `nodes` */
    bool weak;         /* it keeps nothing alive */
};

struct writing {
    const struct export *export;
    struct json *json;
    struct text_ids *texts;
    char **kept; /* texts that do not live in the session */
    size_t kept_count, kept_capacity;
    struct node *nodes; /* the session's, and from them its references, in the order of the file */
    struct edge *edges;
    size_t node_count, node_capacity, edge_count, edge_capacity, root_count;
    size_t groups; /* of unreachable blocks */
};

static bool fail(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the heap snapshot");
}

/* Stores the number of a text, which it copies if it is new. */
static bool find_text(struct writing *writing, const char *text, uint32_t *id)
{
    bool is_new;
    if (!array_grow(&writing->kept, &writing->kept_capacity, writing->kept_count + 1,
                    sizeof(char *)))
        return fail(writing);
    char *copy = strdup(text);
    if (!copy || !text_ids_find(writing->texts, copy, id, &is_new)) {
        free(copy);
        return fail(writing);
    }
    if (is_new)
        writing->kept[writing->kept_count++] = copy;
    else
        free(copy);
    return true;
}

static bool add_node(void *context, const struct session_heap_node *node)
{
    struct writing *writing = context;
    struct session *session = writing->export->own.session;
    char text[512];
    uint32_t name;
    if (node->id < 0)
        snprintf(text, sizeof(text), "%s (%s)", node->name, node->kind);
    else if (node->type)
        snprintf(text, sizeof(text), "%s", session_type_name(session, node->type));
    else
        snprintf(text, sizeof(text), "(unknown type) of %s",
                 node->function ? session_function_name(session, node->function) : "?");
    if (!find_text(writing, export_clean(&writing->export->own, text), &name))
        return false;
    if (!ARRAY_GROW(writing->nodes, writing->node_count, writing->node_capacity))
        return fail(writing);
    writing->nodes[writing->node_count++] =
        (struct node){node->id, node->size, name, 0, node->sure, node->unreachable, node->first};
    writing->root_count += node->id < 0;
    writing->groups += node->first;
    return true;
}

/* Returns the index of a node in `nodes`. */
static size_t index_of(const struct writing *writing, int64_t id)
{
    size_t low = id < 0 ? 0 : writing->root_count;
    const size_t end = id < 0 ? writing->root_count : writing->node_count;
    /* Roots have descending numbers, since theirs are below 0. */
    ARRAY_BISECT(low, end,
                 id < 0 ? writing->nodes[middle].id > id : writing->nodes[middle].id < id);
    return low;
}

static bool add_edge(void *context, const struct session_heap_reference *reference)
{
    struct writing *writing = context;
    char text[64];
    uint32_t name;
    snprintf(text, sizeof(text), "+%" PRIu64, reference->offset);
    if (reference->from < 0)
        snprintf(text, sizeof(text), "%" PRIx64, reference->offset);
    if (!find_text(
            writing,
            export_clean(&writing->export->own, reference->member ? reference->member : text),
            &name))
        return false;
    const size_t place = index_of(writing, reference->to);
    struct node *from = &writing->nodes[index_of(writing, reference->from)];
    const struct node *to = &writing->nodes[place];
    if (!ARRAY_GROW(writing->edges, writing->edge_count, writing->edge_capacity))
        return fail(writing);
    writing->edges[writing->edge_count++] =
        (struct edge){name, (uint32_t)place,
                      (from->unreachable && !to->unreachable) || (reference->doubt && to->sure)};
    from->edges++;
    return true;
}

static void put_node(struct json *json, int type, uint32_t name, uint64_t id, uint64_t size,
                     uint64_t edges)
{
    const uint64_t fields[] = {(uint64_t)type, name, id, size, edges, 0, 0};
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        json_number(json, fields[i]);
}

/* Puts an edge to the node at `index` in the file. */
static void put_edge(struct json *json, int type, uint64_t name, size_t index)
{
    json_put(json, "%lu, %lu, %lu", (uint64_t)type, name, index * COUNT_OF(node_fields));
}

static void put_list(struct json *json, const char *const *texts, size_t count)
{
    json_put(json, "[");
    for (size_t i = 0; i < count; i++)
        json_text(json, texts[i]);
    json_put(json, "]");
}

static void put_meta(struct writing *writing)
{
    static const char *const trace_fields[] = {"function_id", "name", "script_name",
                                               "script_id",   "line", "column"};
    static const char *const tree_fields[] = {"id", "function_info_index", "count", "size",
                                              "children"};
    static const char *const sample_fields[] = {"timestamp_us", "last_assigned_id"};
    static const char *const location_fields[] = {"object_index", "script_id", "line", "column"};
    struct json *json = writing->json;
    json_put(json, "snapshot: {meta: {node_fields:");
    put_list(json, node_fields, COUNT_OF(node_fields));
    json_put(json, "node_types: [");
    put_list(json, node_types, COUNT_OF(node_types));
    put_list(json,
             (const char *const[]){"string", "number", "number", "number", "number", "number"}, 6);
    json_put(json, "], edge_fields:");
    put_list(json, edge_fields, COUNT_OF(edge_fields));
    json_put(json, "edge_types: [");
    put_list(json, edge_types, COUNT_OF(edge_types));
    put_list(json, (const char *const[]){"string_or_number", "node"}, 2);
    json_put(json, "], trace_function_info_fields:");
    put_list(json, trace_fields, COUNT_OF(trace_fields));
    json_put(json, "trace_node_fields:");
    put_list(json, tree_fields, COUNT_OF(tree_fields));
    json_put(json, "sample_fields:");
    put_list(json, sample_fields, COUNT_OF(sample_fields));
    json_put(json, "location_fields:");
    put_list(json, location_fields, COUNT_OF(location_fields));
    json_put(json, "}, node_count: %lu, edge_count: %lu, trace_function_count: 0}",
             writing->node_count + OWN_NODES,
             writing->edge_count + writing->root_count + 1 + writing->groups);
}

static void put_nodes(const struct writing *writing, uint32_t roots, uint32_t unreachable)
{
    struct json *json = writing->json;
    json_put(json, "nodes: [");
    put_node(json, NODE_SYNTHETIC, roots, 1, 0, writing->root_count + 1);
    /* Roots have the even numbers from 2 on: the next one is free. */
    const int64_t last = writing->root_count ? writing->nodes[writing->root_count - 1].id : 0;
    put_node(json, NODE_SYNTHETIC, unreachable, (uint64_t)-last * 2 + 2, 0, writing->groups);
    for (size_t i = 0; i < writing->node_count; i++) {
        const struct node *node = &writing->nodes[i];
        /* V8's numbers of objects are odd. Those of blocks are twice their id plus 1. */
        put_node(json, node->id < 0 ? NODE_SYNTHETIC : NODE_OBJECT, node->name,
                 node->id < 0 ? (uint64_t)-node->id * 2 : (uint64_t)node->id * 2 + 1, node->size,
                 node->edges);
    }
    json_put(json, "]");
}

static void put_edges(const struct writing *writing)
{
    struct json *json = writing->json;
    uint64_t groups = 0;
    json_put(json, "edges: [");
    for (size_t i = 0; i < writing->root_count; i++)
        put_edge(json, EDGE_ELEMENT, i + 1, i + OWN_NODES);
    put_edge(json, EDGE_ELEMENT, writing->root_count + 1, 1);
    for (size_t i = 0; i < writing->node_count; i++)
        if (writing->nodes[i].first)
            put_edge(json, EDGE_ELEMENT, ++groups, i + OWN_NODES);
    for (size_t i = 0; i < writing->edge_count; i++) {
        const struct edge *edge = &writing->edges[i];
        put_edge(json, edge->weak ? EDGE_WEAK : EDGE_PROPERTY, edge->name, edge->to + OWN_NODES);
    }
    json_put(json, "]");
}

static bool put_file(struct writing *writing, int64_t snapshot)
{
    static const char *const empty[] = {"trace_function_infos", "trace_tree", "samples",
                                        "locations"};
    struct session *session = writing->export->own.session;
    struct json *json = writing->json;
    uint32_t roots, unreachable;
    if (!find_text(writing, "(roots)", &roots) ||
        !find_text(writing, "(unreachable)", &unreachable) ||
        !session_heap_nodes(session, snapshot, add_node, writing, writing->export->error) ||
        !session_heap_references(session, snapshot, add_edge, writing, writing->export->error))
        return false;
    json_put(json, "{");
    put_meta(writing);
    put_nodes(writing, roots, unreachable);
    put_edges(writing);
    for (size_t i = 0; i < COUNT_OF(empty); i++) {
        json_put(json, "%s: []", empty[i]);
    }
    json_put(json, "strings: [");
    for (size_t i = 0; i < text_ids_count(writing->texts); i++)
        json_text(json, text_ids_text(writing->texts, (uint32_t)i));
    json_put(json, "]}");
    return true;
}

bool export_heapsnapshot(struct export *export)
{
    struct session_heap_snapshots snapshots;
    struct writing writing = {.export = export};
    bool good = session_heap_snapshots(export->own.session, &snapshots, export->error);
    if (good && snapshots.count == 0) {
        snprintf(export->error->message, sizeof(export->error->message),
                 "%s: has no references between blocks; record them with mprof-run "
                 "--references=end",
                 session_path(export->own.session));
        good = false;
    }
    if (good) {
        writing.texts = text_ids_new();
        writing.json = json_begin(export->out, false);
        good = (writing.texts && writing.json) || fail(&writing);
        good = good && put_file(&writing, snapshots.rows[snapshots.count - 1].id);
        good = json_end(writing.json) && good;
    }
    text_ids_free(writing.texts);
    for (size_t i = 0; i < writing.kept_count; i++)
        free(writing.kept[i]);
    FREE_ALL(writing.kept, writing.nodes, writing.edges);
    session_heap_snapshots_free(&snapshots);
    return good;
}
