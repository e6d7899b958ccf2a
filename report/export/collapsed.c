/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collapsed stacks, one a line, outermost function first: for flame graphs.
 *
 * Stacks whose functions have the same names share a line. Each such path is known by a hash of 128
 * bits and by the first stack that has it, so memory holds some bytes for each stack, and neither
 * the tree of all paths nor their text.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/ids.h"
#include "report/output.h"
#include "schemas/array.h"

/* The numbers of the names of a side's frames, plus 1, by frame; 0: not asked yet. */
struct frame_names {
    uint32_t *name;
    size_t capacity;
};

/* A line of the output: the first stack with its path, and the sum of all. */
struct line {
    int64_t value;
    uint32_t stack;
    bool of_base;
};

struct collapsing {
    const struct export *export;
    struct text_ids *names;
    struct pair_ids *paths; /* by hash; their numbers are those of the lines */
    struct line *lines;
    size_t line_capacity;
    struct frame_names own, base;
    uint32_t *path; /* the names of the present stack, outermost first */
    size_t depth, path_capacity;
    int64_t *values; /* of the present side, by stack */
};

static bool fail(const struct collapsing *all)
{
    return report_fail_memory(all->export->error, "the paths");
}

/* Stores the number of a name. */
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
    if (!array_grow(&known->name, &known->capacity, (size_t)id + 1, sizeof(*known->name)))
        return fail(all);
    if (known->capacity > before)
        memset(known->name + before, 0, (known->capacity - before) * sizeof(*known->name));
    known->name[id] = number + 1;
    return true;
}

/* Reads the path of a stack. */
static bool read_path(struct collapsing *all, const struct export_side *side, uint32_t stack)
{
    struct frame_names *known = side == &all->export->base ? &all->base : &all->own;
    const uint32_t *ids;
    size_t count, first = 0;
    if (!session_stack_frames(side->session, stack, &ids, &count, all->export->error))
        return false;
    if (!array_grow(&all->path, &all->path_capacity, count + 1, sizeof(*all->path)))
        return fail(all);
    all->depth = 0;
    if (count == 0)
        return find_name(all, "?", &all->path[all->depth++]);
    for (size_t i = count; i-- > 0;) {
        if ((ids[i] >= known->capacity || known->name[ids[i]] == 0) &&
            !name_frame(all, side, known, ids[i]))
            return false;
        all->path[all->depth++] = known->name[ids[i]] - 1;
    }
    if (!all->export->all_frames)
        first = session_stack_call_site(side->session, stack);
    if (first < count)
        all->depth -= first;
    return true;
}

static bool add_stack(struct collapsing *all, const struct export_side *side, uint32_t stack,
                      int64_t value)
{
    uint64_t first = 1, second = 2;
    uint32_t line;
    bool is_new;
    if (!read_path(all, side, stack))
        return false;
    for (size_t i = 0; i < all->depth; i++) {
        first = (first ^ all->path[i]) * UINT64_C(0x9e3779b97f4a7c15);
        first ^= first >> 32;
        second = (second ^ all->path[i]) * UINT64_C(0xc2b2ae3d27d4eb4f);
        second ^= second >> 29;
    }
    if (!pair_ids_find(all->paths, first, second, &line, &is_new) ||
        !array_grow(&all->lines, &all->line_capacity, (size_t)line + 1, sizeof(*all->lines)))
        return fail(all);
    if (is_new)
        all->lines[line] = (struct line){.stack = stack, .of_base = side == &all->export->base};
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
    all->values = calloc(stacks, sizeof(*all->values));
    bool good = all->values || fail(all);
    good = good && export_each_sum(all->export, side, 0, add_values, all);
    for (uint32_t stack = 0; good && stack < stacks; stack++)
        good = all->values[stack] == 0 ||
               add_stack(all, side, stack, negative ? -all->values[stack] : all->values[stack]);
    free(all->values);
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

static bool put_line(struct collapsing *all, const struct line *line)
{
    FILE *out = all->export->out;
    if (!read_path(all, line->of_base ? &all->export->base : &all->export->own, line->stack))
        return false;
    for (size_t i = 0; i < all->depth; i++) {
        put_name(out, text_ids_text(all->names, all->path[i]));
        fputc_unlocked(i + 1 < all->depth ? ';' : ' ', out);
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
    free(all.lines);
    free(all.own.name);
    free(all.base.name);
    free(all.path);
    return good;
}
