/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as one SVG file, with a script inside (svg.js): it fits the window, a click shows a
 * part in full width, a search marks names. data-bytes of each box is its exact value, with --base
 * data-base that of the base: red boxes have more than there, blue ones less. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/names.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "svg_js.h"

/* ---- the tree of names ------------------------------------------------------------------ */

/* The stacks of an export as a tree of names, from the outermost function inwards, with one value
 * of the session and one of its base.
 * Stacks that read the same share a node, also stacks of two sessions. */

struct name_node {
    uint32_t parent, label;     /* label: of name_tree_label() */
    uint32_t first_child, next; /* next: sibling; 0: none */
    uint64_t self[2], total[2]; /* of the session and its base; total: with all nodes below */
    uint64_t width; /* of the larger of both selves, with those below: so what went away has room */
};

/* Node 0 is the root, without a label. A node comes after its parent. */
struct name_tree {
    struct name_node *nodes;
    size_t count, capacity;
    struct pair_ids *edges;
    struct text_ids *labels;
};

/* Adds a node for the newest edge. */
static bool add_node(struct name_tree *tree, uint32_t parent, uint32_t label)
{
    if (!ARRAY_GROW(tree->nodes, tree->count, tree->capacity))
        return false;
    struct name_node *node = &tree->nodes[tree->count];
    *node = (struct name_node){.parent = parent, .label = label};
    if (tree->count > 0) {
        node->next = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = (uint32_t)tree->count;
    }
    tree->count++;
    return true;
}

/* Finds or makes the child of a node. Its number is that of the edge, plus 1 for the root. */
static bool find_child(struct name_tree *tree, uint32_t parent, const char *name, uint32_t *child)
{
    uint32_t label, edge;
    bool is_new;
    if (!text_ids_find(tree->labels, name, &label, &is_new) ||
        !pair_ids_find(tree->edges, parent, label, &edge, &is_new) ||
        (is_new && !add_node(tree, parent, label)))
        return false;
    *child = edge + 1;
    return true;
}

/* A side whose stacks become nodes. */
struct adding {
    struct name_tree *tree;
    const struct export *export;
    const struct export_side *side;
};

static bool add_frame(void *context, uint32_t node, uint32_t caller, uint32_t *number)
{
    const struct adding *adding = context;
    struct session_code_frame frame;
    if (!export_frame(adding->export, adding->side, node, &frame))
        return false;
    return find_child(adding->tree, caller, export_function_name(adding->side, frame.function),
                      number) ||
           report_fail_memory(adding->export->error, "the tree of functions");
}

static bool add_side(struct name_tree *tree, const struct export *export,
                     const struct export_side *side, enum export_value value, int place)
{
    struct adding adding = {tree, export, side};
    struct session_stack_sums *rows = NULL;
    struct export_nodes nodes = {.export = export};
    size_t count = 0;
    bool good = export_nodes_begin(&nodes, export, side, false) &&
                export_sums(export, side, 0, false, &rows, &count);
    for (size_t i = 0; good && i < count; i++) {
        const uint64_t of_row = export_value_of(value, &rows[i]);
        uint32_t node = 0;
        if (of_row == 0)
            continue;
        good = export_nodes_find(&nodes, side->starts[rows[i].stack], add_frame, &adding, &node);
        tree->nodes[node].self[place] += of_row;
    }
    free(rows);
    export_nodes_free(&nodes);
    return good;
}

/* Makes the tree of a value. Returns false with the error set. In any
 * case the caller frees it with name_tree_free(). */
static bool name_tree_make(struct name_tree *tree, const struct export *export,
                           enum export_value value)
{
    *tree = (struct name_tree){.edges = pair_ids_new(), .labels = text_ids_new()};
    if (!tree->edges || !tree->labels || !add_node(tree, 0, 0))
        return report_fail_memory(export->error, "the tree of functions");
    if (!add_side(tree, export, &export->own, value, 0) ||
        (export->base.session && !add_side(tree, export, &export->base, value, 1)))
        return false;
    for (size_t i = tree->count; i-- > 0;) {
        struct name_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
        node->width += node->self[0] > node->self[1] ? node->self[0] : node->self[1];
        for (int place = 0; place < 2; place++) {
            node->total[place] += node->self[place];
            parent->total[place] += i > 0 ? node->total[place] : 0;
        }
        parent->width += i > 0 ? node->width : 0;
    }
    return true;
}

static void name_tree_free(struct name_tree *tree)
{
    pair_ids_free(tree->edges);
    text_ids_free(tree->labels);
    free(tree->nodes);
    *tree = (struct name_tree){.count = 0};
}

static const char *name_tree_label(const struct name_tree *tree, uint32_t node)
{
    return text_ids_text(tree->labels, tree->nodes[node].label);
}

enum { WIDTH = 1200, ROW = 17, TOP = 40, LETTER = 7, LEAST_TENTHS = 1 /* of a pixel */ };

/* The place of a node in the picture. */
struct box {
    uint64_t start; /* the widths of what is left of it */
    uint32_t depth;
    bool drawn;
};

struct child {
    const char *name;
    uint32_t node;
};

ARRAY_ORDER(compare_children, struct child, strcmp(a->name, b->name))

static bool is_wide(const struct name_tree *tree, uint32_t node)
{
    return (unsigned __int128)tree->nodes[node].width * WIDTH * 10 >=
           (unsigned __int128)tree->nodes[0].width * LEAST_TENTHS;
}

/* Places the children of a node beside each other, by name. */
static void place_children(const struct name_tree *tree, uint32_t node, struct box *boxes,
                           struct child *children)
{
    uint64_t start = boxes[node].start;
    size_t count = 0;
    for (uint32_t child = tree->nodes[node].first_child; child != 0;
         child = tree->nodes[child].next)
        children[count++] = (struct child){name_tree_label(tree, child), child};
    qsort(children, count, sizeof(*children), compare_children);
    for (size_t i = 0; i < count; i++) {
        const uint32_t child = children[i].node;
        boxes[child] = (struct box){start, boxes[node].depth + 1, is_wide(tree, child)};
        start += tree->nodes[child].width;
    }
}

/* Returns a warm colour that is the same for the same name. */
static unsigned color_of(const char *name)
{
    unsigned hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (205 + hash % 50) << 16 | (80 + hash / 64 % 120) << 8 | (30 + hash / 8192 % 50);
}

/* Returns a grey, the redder the more a box has than the base, the bluer the less. */
static unsigned color_of_change(uint64_t now, uint64_t before)
{
    const uint64_t most = now > before ? now : before, least = now > before ? before : now;
    const unsigned faded =
        most > 0 ? 228 - (unsigned)(140 * (double)(most - least) / (double)most) : 228;
    return now > before   ? 228u << 16 | faded << 8 | faded
           : now < before ? faded << 16 | (faded + 228) / 2 << 8 | 228u
                          : 0xe4e4e4u;
}

/* Writes a name in so many letters, without its middle: the ends tell names apart. */
static void put_cut(FILE *out, const char *name, size_t room)
{
    const size_t length = name_text_columns(name);
    if (length > room && (room < 3 || length != strlen(name)))
        return; /* the script knows where letters of several bytes begin */
    if (length <= room) {
        name_put_xml(out, name);
        return;
    }
    const size_t tail = (room - 1) * 11 / 20;
    char *head = strndup(name, room - 1 - tail);
    if (head) {
        name_put_xml(out, head);
        fputs("\u2026", out);
        name_put_xml(out, name + length - tail);
    }
    free(head);
}

static void put_value(FILE *out, const struct export *export, uint64_t value)
{
    char room[32];
    fputs(session_sampled(export->own.session) ? "~" : "", out);
    if (export_value_is_bytes(export->value))
        fputs(bytes_human(value, room), out);
    else
        fprintf(out, "%" PRIu64 " block%s", value, value == 1 ? "" : "s");
}

static void put_box(const struct export *export, const struct name_tree *tree, uint32_t node,
                    const struct box *box, uint32_t height)
{
    FILE *out = export->out;
    const struct name_node *about = &tree->nodes[node];
    const uint64_t all = tree->nodes[0].width, total = tree->nodes[0].total[0];
    const uint64_t value = about->total[0], base = about->total[1];
    const double x = all ? (double)box->start * WIDTH / (double)all : 0;
    const double width = all ? (double)about->width * WIDTH / (double)all : WIDTH;
    const uint32_t y = height - (box->depth + 1) * ROW;
    const char *name = node == 0 ? "all" : name_tree_label(tree, node);
    const bool compared = export->base.session != NULL;
    fprintf(out, "<g class=\"box\" data-bytes=\"%" PRIu64 "\" data-depth=\"%" PRIu32 "\"", value,
            box->depth);
    if (compared)
        fprintf(out, " data-base=\"%" PRIu64 "\"", base);
    fputs("><title>", out);
    name_put_xml(out, name);
    fputs(" (", out);
    put_value(out, export, value);
    fprintf(out, ", %.2f%%", total ? 100.0 * (double)value / (double)total : 100.0);
    if (compared) {
        fputs(value < base ? ", -" : ", +", out);
        put_value(out, export, value < base ? base - value : value - base);
    }
    fprintf(out,
            ")</title><rect x=\"%.3f\" y=\"%" PRIu32 "\" width=\"%.3f\" height=\"%d\" "
            "fill=\"#%06x\"/><text x=\"%.3f\" y=\"%" PRIu32 "\">",
            x, y, width, ROW - 1, compared ? color_of_change(value, base) : color_of(name), x + 3,
            y + ROW - 5);
    put_cut(out, name, width > 6 + 2 * LETTER ? (size_t)((width - 6) / LETTER) : 0);
    fputs("</text></g>\n", out);
}

static void put_head(FILE *out, uint32_t height, const char *title)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"%d\" height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32
            "\" font-family=\"monospace\" font-size=\"12\">\n<style>rect { stroke: #fff } g.box { "
            "cursor: pointer } g.around { opacity: 0.5 } g.found rect { fill: #c79bf0 } text { "
            "pointer-events: none } text.button { pointer-events: all; cursor: pointer; "
            "text-decoration: underline }</style>\n<text x=\"3\" y=\"14\">",
            WIDTH, height, WIDTH, height);
    name_put_xml(out, title);
    fputs("</text>\n<text x=\"3\" y=\"32\" id=\"shown\"></text>\n"
          "<text x=\"1060\" y=\"14\" class=\"button\" id=\"reset\">reset</text>\n"
          "<text x=\"1120\" y=\"14\" class=\"button\" id=\"found\">search</text>\n",
          out);
}

static bool put_file(const struct export *export, const struct name_tree *tree)
{
    const char *program = session_meta(export->own.session, "program");
    struct box *boxes = calloc(tree->count, sizeof(*boxes));
    struct child *children = malloc(tree->count * sizeof(*children));
    uint32_t depth = 0;
    char *title = NULL;
    bool good =
        boxes && children &&
        asprintf(&title, "%s: %s%s", program ? program : "?", export_value_name(export->value),
                 export->base.session ? ", red: more than the base, blue: less" : "") >= 0;
    if (good) {
        boxes[0].drawn = true;
        for (uint32_t node = 0; node < tree->count; node++) {
            if (boxes[node].drawn)
                place_children(tree, node, boxes, children);
            if (boxes[node].drawn && boxes[node].depth > depth)
                depth = boxes[node].depth;
        }
        const uint32_t height = (depth + 1) * ROW + TOP;
        put_head(export->out, height, title);
        for (uint32_t node = 0; node < tree->count; node++)
            if (boxes[node].drawn)
                put_box(export, tree, node, &boxes[node], height);
        fprintf(export->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", svg_js);
    }
    FREE_ALL(title, boxes, children);
    return good || report_fail_memory(export->error, "the picture");
}

bool export_svg(struct export *export)
{
    struct name_tree tree;
    const bool good = name_tree_make(&tree, export, export->value) && put_file(export, &tree);
    name_tree_free(&tree);
    return good;
}
