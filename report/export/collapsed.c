/* SPDX-License-Identifier: BSD-2-Clause */
/* Collapsed stacks, one a line, outermost function first: for flame graphs.
 *
 * Stacks whose functions have the same names share a line. Each such path is known by a hash of 128
 * bits and by a node that has it, so memory holds some bytes for each node of the tree of stacks,
 * and no text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/output.h"
#include "schemas/array.h"

/* The numbers of the names of a side's frames, plus 1, by frame; 0: not asked yet. */
struct frame_names {
    uint32_t *name;
    size_t capacity;
};

/* A line of the output: a node that has its path, and the sum of all stacks with this path. */
struct line {
    int64_t value;
    uint32_t node;
    bool of_base;
};

struct path_hash {
    uint64_t first, second;
};

struct collapsing {
    const struct export *export;
    struct text_ids *names;
    struct pair_ids *paths; /* by hash; their numbers are those of the lines */
    struct line *lines;
    size_t line_capacity;
    struct frame_names own, base;
    uint32_t *path; /* the names of the present line, innermost first */
    size_t path_capacity;
    int64_t *values; /* of the present side, by stack */
};

static bool fail(const struct collapsing *all)
{
    return report_fail_memory(all->export->error, "the paths");
}

static bool find_name(struct collapsing *all, const char *name, uint32_t *number)
{
    bool is_new;
    return text_ids_find(all->names, name, number, &is_new) || fail(all);
}

static bool name_frame(struct collapsing *all, const struct export_side *side,
                       struct frame_names *known, uint32_t id)
{
    struct session_code_frame frame;
    uint32_t number;
    const size_t before = known->capacity;
    if (!session_code_frame(side->session, id, &frame, all->export->error) ||
        !find_name(all, export_function_name(side, frame.function), &number))
        return false;
    if (!ARRAY_GROW(known->name, id, known->capacity))
        return fail(all);
    if (known->capacity > before)
        memset(known->name + before, 0, (known->capacity - before) * sizeof(*known->name));
    known->name[id] = number + 1;
    return true;
}

static bool name_node(struct collapsing *all, const struct export_side *side, uint32_t node,
                      uint32_t *name)
{
    struct frame_names *known = side == &all->export->base ? &all->base : &all->own;
    const uint32_t frame = node == 0 ? 0 : session_stack_node(side->session, node).frame;
    if (node == 0)
        return find_name(all, "?", name);
    if ((frame >= known->capacity || known->name[frame] == 0) &&
        !name_frame(all, side, known, frame))
        return false;
    *name = known->name[frame] - 1;
    return true;
}

static bool add_name(struct path_hash *hash, struct collapsing *all, const struct export_side *side,
                     uint32_t node)
{
    uint32_t name;
    if (!name_node(all, side, node, &name))
        return false;
    hash->first = (hash->first ^ name) * UINT64_C(0x9e3779b97f4a7c15);
    hash->first ^= hash->first >> 32;
    hash->second = (hash->second ^ name) * UINT64_C(0xc2b2ae3d27d4eb4f);
    hash->second ^= hash->second >> 29;
    return true;
}

static bool hash_paths(struct collapsing *all, const struct export_side *side,
                       struct path_hash *hashes)
{
    bool good = true;
    hashes[0] = (struct path_hash){1, 2};
    for (uint32_t node = session_stack_nodes(side->session); good && node > 0; node--) {
        hashes[node] = hashes[session_stack_node(side->session, node).caller];
        good = add_name(&hashes[node], all, side, node);
    }
    return good && add_name(&hashes[0], all, side, 0);
}

static bool add_node(struct collapsing *all, const struct export_side *side, uint32_t node,
                     const struct path_hash *hash, int64_t value)
{
    uint32_t line;
    bool is_new;
    if (!pair_ids_find(all->paths, hash->first, hash->second, &line, &is_new) ||
        !ARRAY_GROW(all->lines, line, all->line_capacity))
        return fail(all);
    if (is_new)
        all->lines[line] = (struct line){.node = node, .of_base = side == &all->export->base};
    all->lines[line].value += value;
    return true;
}

static bool add_values(void *context, const struct session_stack_sums *rows, size_t count)
{
    struct collapsing *all = context;
    for (size_t i = 0; i < count; i++)
        all->values[rows[i].stack] += (int64_t)export_value_of(all->export->value, &rows[i]);
    return true;
}

static bool add_side(struct collapsing *all, const struct export_side *side, bool negative)
{
    const size_t stacks = (size_t)session_stack_largest(side->session) + 1;
    struct path_hash *hashes =
        calloc((size_t)session_stack_nodes(side->session) + 1, sizeof(*hashes));
    all->values = calloc(stacks, sizeof(*all->values));
    bool good = (hashes && all->values) || fail(all);
    good = good && export_each_sum(all->export, side, 0, add_values, all) &&
           hash_paths(all, side, hashes);
    for (uint32_t stack = 0; good && stack < stacks; stack++)
        good = all->values[stack] == 0 ||
               add_node(all, side, side->starts[stack], &hashes[side->starts[stack]],
                        negative ? -all->values[stack] : all->values[stack]);
    FREE_ALL(all->values, hashes);
    return good;
}

/* Writes the name of a function; `;` parts functions. */
static void put_name(FILE *out, const char *name)
{
    for (const char *end; (end = strchr(name, ';')); name = end + 1) {
        fwrite_unlocked(name, 1, (size_t)(end - name), out);
        fputc_unlocked(':', out);
    }
    fputs_unlocked(name, out);
}

/* Writes the path of a node, the outermost function first, and its value. */
static bool put_line(struct collapsing *all, const struct line *line)
{
    const struct export_side *side = line->of_base ? &all->export->base : &all->export->own;
    FILE *out = all->export->out;
    size_t depth = 0;
    uint32_t node = line->node;
    do {
        if (!ARRAY_GROW(all->path, depth, all->path_capacity))
            return fail(all);
        if (!name_node(all, side, node, &all->path[depth++]))
            return false;
        node = node == 0 ? 0 : session_stack_node(side->session, node).caller;
    } while (node != 0);
    while (depth-- > 0) {
        put_name(out, text_ids_text(all->names, all->path[depth]));
        fputc_unlocked(depth > 0 ? ';' : ' ', out);
    }
    fprintf(out, "%" PRId64 "\n", line->value);
    return true;
}

bool export_collapsed(struct export *export)
{
    struct collapsing all = {.export = export, .names = text_ids_new(), .paths = pair_ids_new()};
    bool good = (all.names && all.paths) || fail(&all);
    good = good && add_side(&all, &export->own, false) &&
           (!export->base.session || add_side(&all, &export->base, true));
    for (size_t i = 0; good && i < pair_ids_count(all.paths); i++)
        good = all.lines[i].value == 0 || put_line(&all, &all.lines[i]);
    text_ids_free(all.names);
    pair_ids_free(all.paths);
    FREE_ALL(all.lines, all.own.name, all.base.name, all.path);
    return good;
}
