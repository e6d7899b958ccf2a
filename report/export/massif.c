/* SPDX-License-Identifier: BSD-2-Clause */
/* Massif's output, which ms_print and massif-visualizer read: the live bytes at moments of the run,
 * and at some of them, and at the peak, the tree of stacks from the call sites outward. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/output.h"
#include "schemas/array.h"

enum { SNAPSHOTS = 40, DETAILED_EACH = 10, NS_A_MS = 1000000, THRESHOLD = 100 /* 1 % */ };

/* The live bytes of stacks that begin, or go on, at a node. */
struct part {
    uint32_t node, frame;
    uint64_t bytes;
};

/* A line of a tree that is still to be written: of parts that have the same frames up to here.
 * Those of the lines below it are made when it is written, so a stack is in memory once. */
struct branch {
    struct part *parts; /* NULL: it stands for `count` branches below the threshold */
    size_t count, depth;
    uint64_t bytes;
    bool only; /* no branch beside these is above the threshold */
};

struct writing {
    struct export *export;
    uint64_t least; /* bytes of a branch with a line of its own */
    struct branch *branches;
    size_t count, capacity;
};

static bool no_memory(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the tree of stacks");
}

/* ---- the parts of a line ---- */

ARRAY_ORDER(compare_parts, struct part, ORDER(a->frame, b->frame) ?: ORDER(a->node, b->node))

/* Sorts parts by frame and node, and joins those of one node. Returns the number that is left. */
static size_t sort_parts(const struct session *session, struct part *parts, size_t count)
{
    bool sorted = true;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i].frame = parts[i].node == 0 ? 0 : session_stack_node(session, parts[i].node).frame;
        sorted = sorted && (i == 0 || compare_parts(&parts[i - 1], &parts[i]) <= 0);
    }
    if (!sorted)
        qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0; i < count; i++)
        if (left > 0 && parts[left - 1].node == parts[i].node)
            parts[left - 1].bytes += parts[i].bytes;
        else
            parts[left++] = parts[i];
    return left;
}

/* Moves parts to the nodes outward of theirs. Returns the number that is left. */
static size_t move_outward(const struct session *session, struct part *parts, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        parts[left] = parts[i];
        if (parts[i].node != 0)
            parts[left].node = session_stack_node(session, parts[i].node).caller;
        left += parts[left].node != 0;
    }
    return sort_parts(session, parts, left);
}

/* ---- branches ---- */

/* The largest comes last. */
ARRAY_ORDER(compare_branches, struct branch,
            ORDER(a->bytes, b->bytes) ?: -compare_parts(a->parts, b->parts))

static bool add_branch(struct writing *writing, struct branch branch)
{
    if (!ARRAY_GROW(writing->branches, writing->count, writing->capacity))
        return no_memory(writing);
    writing->branches[writing->count++] = branch;
    return true;
}

/* Adds a branch for each frame of sorted parts, and before them one for those below the threshold.
 * `*lines` counts them. The branches own copies of the parts. */
static bool add_branches(struct writing *writing, const struct part *parts, size_t count,
                         size_t depth, size_t *lines)
{
    const size_t first = writing->count;
    struct branch rest = {.depth = depth};
    bool good = add_branch(writing, rest);
    for (size_t i = 0, end; good && i < count; i = end) {
        struct branch branch = {.depth = depth};
        for (end = i; end < count && parts[end].frame == parts[i].frame; end++)
            branch.bytes += parts[end].bytes;
        if (branch.bytes < writing->least) {
            rest.bytes += branch.bytes;
            rest.count++;
            continue;
        }
        branch.count = end - i;
        branch.parts = malloc(branch.count * sizeof(*parts));
        if (!branch.parts)
            return no_memory(writing);
        memcpy(branch.parts, parts + i, branch.count * sizeof(*parts));
        good = add_branch(writing, branch);
        if (!good)
            free(branch.parts);
    }
    if (!good)
        return false;
    const size_t large = writing->count - first - 1;
    qsort(writing->branches + first + 1, large, sizeof(*writing->branches), compare_branches);
    rest.only = large == 0;
    writing->branches[first] = rest;
    *lines = large + (rest.count > 0);
    return true;
}

/* Writes the line of a branch and adds the branches below it. At depth 0 its parts are not moved.
 */
static bool put_branch(struct writing *writing, struct branch *branch)
{
    FILE *out = writing->export->out;
    const struct export_side *side = &writing->export->own;
    struct session_code_frame frame;
    char *place = NULL;
    size_t lines = 0;
    if (branch->depth > 0) {
        if (!export_frame(writing->export, side, branch->parts[0].node, &frame) ||
            !(place = export_place(writing->export, side, &frame)))
            return false;
        branch->count = move_outward(side->session, branch->parts, branch->count);
    }
    const bool good =
        add_branches(writing, branch->parts, branch->count, branch->depth + 1, &lines);
    if (good)
        fprintf(out, "%*sn%zu: %" PRIu64 " %s\n", (int)branch->depth, "", lines, branch->bytes,
                place ? place : "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    free(place);
    return good;
}

static void put_rest(FILE *out, const struct branch *rest)
{
    if (rest->count > 0)
        fprintf(out, "%*sn0: %" PRIu64 " in %zu place%s, %sbelow massif's threshold (1.00%%)\n",
                (int)rest->depth, "", rest->bytes, rest->count, rest->count == 1 ? "" : "s",
                rest->only ? "all " : "");
}

/* ---- snapshots ---- */

static bool put_tree(struct writing *writing, const struct session_stack_sums *rows, size_t count,
                     bool is_peak)
{
    const struct export_side *side = &writing->export->own;
    struct branch all = {.parts = calloc(count + 1, sizeof(struct part))};
    bool good = all.parts || no_memory(writing);
    for (size_t i = 0; good && i < count; i++) {
        if (rows[i].live_bytes == 0)
            continue;
        all.parts[all.count++] = (struct part){side->starts[rows[i].stack], 0, rows[i].live_bytes};
        all.bytes += rows[i].live_bytes;
    }
    writing->least = all.bytes / THRESHOLD + (all.bytes % THRESHOLD > 0);
    fprintf(writing->export->out, "heap_tree=%s\n", is_peak ? "peak" : "detailed");
    if (good)
        all.count = sort_parts(side->session, all.parts, all.count);
    good = good && add_branch(writing, all);
    if (!good)
        free(all.parts);
    while (writing->count > 0) {
        struct branch branch = writing->branches[--writing->count];
        if (good && branch.parts)
            good = put_branch(writing, &branch);
        else if (good)
            put_rest(writing->export->out, &branch);
        free(branch.parts);
    }
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
    free(writing.branches);
    return good;
}
