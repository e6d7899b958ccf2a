/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Massif's output, which ms_print and massif-visualizer read: the live bytes at moments of the run,
 * and at some of them, and at the peak, the tree of stacks from the call sites outward.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/ids.h"
#include "report/output.h"
#include "schemas/array.h"

enum { SNAPSHOTS = 40, DETAILED_EACH = 10, NS_A_MS = 1000000, THRESHOLD = 100 /* 1 % */ };

struct node {
    struct session_code_frame frame;
    uint32_t first_child, next; /* 0: none */
    uint64_t bytes;
};

struct tree {
    struct pair_ids *edges; /* by parent and frame; node n is edge n - 1 */
    struct node *nodes;
    size_t capacity;
};

struct writing {
    struct export *export;
    struct tree tree;
    struct export_frames frames;
};

static bool no_memory(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the tree of stacks");
}

static bool find_child(struct writing *writing, uint32_t parent,
                       const struct session_code_frame *frame, uint32_t *child)
{
    struct tree *tree = &writing->tree;
    uint32_t edge;
    bool is_new;
    if (!pair_ids_find(tree->edges, parent, frame->id, &edge, &is_new) ||
        !array_grow(&tree->nodes, &tree->capacity, (size_t)edge + 2, sizeof(*tree->nodes)))
        return no_memory(writing);
    *child = edge + 1;
    if (is_new) {
        tree->nodes[*child] =
            (struct node){.frame = *frame, .next = tree->nodes[parent].first_child};
        tree->nodes[parent].first_child = *child;
    }
    return true;
}

/* Adds the live blocks of a stack, from its call site outward. */
static bool add_stack(struct writing *writing, const struct session_stack_sums *row)
{
    uint32_t node = 0;
    if (!export_frames(writing->export, &writing->export->own, row->stack, &writing->frames))
        return false;
    writing->tree.nodes[0].bytes += row->live_bytes;
    for (size_t i = 0; i < writing->frames.count; i++) {
        if (!find_child(writing, node, &writing->frames.frame[i], &node))
            return false;
        writing->tree.nodes[node].bytes += row->live_bytes;
    }
    return true;
}

/* ---- writing the tree ---- */

struct child {
    uint32_t node;
    uint64_t bytes;
};

static int compare_children(const void *left, const void *right)
{
    const struct child *a = left;
    const struct child *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Stores the children of a node, largest first. The caller frees them. */
static bool sort_children(const struct writing *writing, uint32_t node, struct child **children,
                          size_t *count)
{
    const struct node *nodes = writing->tree.nodes;
    *count = 0;
    for (uint32_t child = nodes[node].first_child; child != 0; child = nodes[child].next)
        ++*count;
    *children = malloc((*count + 1) * sizeof(**children));
    if (!*children)
        return no_memory(writing);
    *count = 0;
    for (uint32_t child = nodes[node].first_child; child != 0; child = nodes[child].next)
        (*children)[(*count)++] = (struct child){child, nodes[child].bytes};
    qsort(*children, *count, sizeof(**children), compare_children);
    return true;
}

static void put_indent(FILE *out, size_t depth)
{
    while (depth-- > 0)
        fputc(' ', out);
}

/* Writes the line for the children below the threshold. */
static void put_rest(FILE *out, const struct child *children, size_t count, size_t depth)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += children[i].bytes;
    put_indent(out, depth);
    fprintf(out, "n0: %" PRIu64 " in %zu place%s, %sbelow massif's threshold (1.00%%)\n", bytes,
            count, count == 1 ? "" : "s", count == 1 ? "" : "all ");
}

static bool put_node(const struct writing *writing, uint32_t node,
                     size_t depth) /* NOLINT(misc-no-recursion) */
{
    FILE *out = writing->export->out;
    const struct node *here = &writing->tree.nodes[node];
    const uint64_t least = (writing->tree.nodes[0].bytes + THRESHOLD - 1) / THRESHOLD;
    struct child *children;
    size_t count, large = 0;
    char *place = NULL;
    if (node != 0 && !(place = export_place(writing->export, &writing->export->own, &here->frame)))
        return false;
    bool good = sort_children(writing, node, &children, &count);
    while (good && large < count && children[large].bytes >= least)
        large++;
    if (good) {
        put_indent(out, depth);
        fprintf(out, "n%zu: %" PRIu64 " %s\n", large + (count > large), here->bytes,
                place ? place : "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    }
    free(place);
    for (size_t i = 0; good && i < large; i++)
        good = put_node(writing, children[i].node, depth + 1);
    if (good && count > large)
        put_rest(out, children + large, count - large, depth + 1);
    free(children);
    return good;
}

/* ---- snapshots ---- */

static bool put_tree(struct writing *writing, const struct session_stack_sums *rows, size_t count,
                     bool is_peak)
{
    bool good = (writing->tree.edges = pair_ids_new()) &&
                array_grow(&writing->tree.nodes, &writing->tree.capacity, 1, sizeof(struct node));
    if (!good)
        no_memory(writing);
    else
        writing->tree.nodes[0] = (struct node){.bytes = 0};
    for (size_t i = 0; good && i < count; i++)
        good = rows[i].live_bytes == 0 || add_stack(writing, &rows[i]);
    fprintf(writing->export->out, "heap_tree=%s\n", is_peak ? "peak" : "detailed");
    good = good && put_node(writing, 0, 0);
    pair_ids_free(writing->tree.edges);
    writing->tree.edges = NULL;
    return good;
}

static bool put_snapshot(struct writing *writing, size_t number, uint64_t ns, bool is_peak)
{
    struct export *export = writing->export;
    struct session_stack_sums *rows = NULL;
    uint64_t bytes = 0;
    size_t count = 0;
    export->at = true;
    export->own.at_ns = ns;
    if (!export_sums(export, &export->own, 0, false, &rows, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        bytes += rows[i].live_bytes;
    fprintf(export->out,
            "#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
            "\nmem_heap_extra_B=0\nmem_stacks_B=0\n",
            number, ns / NS_A_MS, bytes);
    bool good = true;
    if ((is_peak || number % DETAILED_EACH == DETAILED_EACH - 1) && bytes > 0)
        good = put_tree(writing, rows, count, is_peak);
    else
        fputs("heap_tree=empty\n", export->out);
    free(rows);
    return good;
}

static bool put_snapshots(struct writing *writing)
{
    const struct session *session = writing->export->own.session;
    const uint64_t peak = selection_peak_ns(writing->export->own.selection);
    const uint64_t start = session_start_ns(session);
    const uint64_t length = session_duration_ns(session) - start;
    size_t number = 0;
    bool peak_done = false, good = true;
    for (uint64_t i = 0; good && i <= SNAPSHOTS; i++) {
        const uint64_t ns = start + (uint64_t)((unsigned __int128)length * i / SNAPSHOTS);
        if (!peak_done && peak <= ns) {
            good = put_snapshot(writing, number++, peak, true);
            peak_done = true;
            if (peak == ns)
                continue;
        }
        good = good && put_snapshot(writing, number++, ns, false);
    }
    if (good && !peak_done)
        good = put_snapshot(writing, number++, peak, true);
    return good;
}

bool export_massif(struct export *export)
{
    struct writing writing = {.export = export};
    const char *command = session_meta(export->own.session, "argv");
    fprintf(export->out, "desc: --time-unit=ms (mprof-export)\ncmd: %s\ntime_unit: ms\n",
            export_clean(&export->own, command ? command : ""));
    const bool good = put_snapshots(&writing);
    free(writing.tree.nodes);
    export_frames_free(&writing.frames);
    return good;
}
