/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof's profiles: gzip around Protocol Buffers. The profile is written as many small messages
 * that a reader takes for one, so memory holds only the numbers of strings and places.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/gzip.h"
#include "report/export/ids.h"
#include "report/export/pprof_file.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/groups.h"

enum { VALUES = 4, LABELS_MOST = 4 + EXPORT_LABELS_MOST };
#define SPLIT (STACKS_BY_TYPE | STACKS_BY_THREAD | STACKS_BY_ARENA | STACKS_BY_SIZE)

struct writing {
    const struct export *export;
    struct pprof_file *file;
    const struct export_side *side;
    const struct session_arena *arenas;
    size_t arena_count;
    unsigned parts; /* of enum part */
    struct export_frames frames;
    struct export_nodes nodes; /* the numbers of their places */
    uint64_t *locations;       /* of the present stack */
    size_t capacity;
    uint32_t stack; /* of these */
    size_t location_count;
};

/* ---- places ---- */

static bool add_function(struct writing *writing, uint32_t id, uint64_t *number)
{
    const struct export_side *side = writing->side;
    struct session_function function = {.name = "?", .linkage_name = "?", .file = ""};
    bool is_new;
    if (!pprof_function_number(writing->file, side == &writing->export->base, id, number, &is_new))
        return false;
    if (!is_new)
        return true;
    if (id != 0 && !session_function(side->session, id, &function, writing->export->error))
        return false;
    const struct pprof_function described = {
        .number = *number,
        .name = export_function_name(side, id),
        .system_name = side->names && side->names[id] ? export_function_name(side, id)
                                                      : export_clean(side, function.linkage_name),
        .file = export_clean(side, function.file),
        .line = function.line,
    };
    return pprof_put_function(writing->file, &described);
}

/* Writes the place of the present frames. */
static bool put_location(struct writing *writing, uint64_t number)
{
    const struct export_frames *frames = &writing->frames;
    const struct session_code_frame *outer = &frames->frame[frames->count - 1];
    struct pprof_location location = {.number = number, .mapping = outer->module};
    bool good = export_address(writing->export, writing->side, outer, &location.address);
    if (writing->side == &writing->export->base)
        location.mapping = 0;
    if (good)
        good = pprof_location_begin(writing->file, &location, frames->count);
    for (size_t i = 0; good && i < frames->count; i++) {
        uint64_t function;
        good = add_function(writing, frames->frame[i].function, &function);
        if (good)
            pprof_location_line(writing->file, function, frames->frame[i].line);
    }
    return good && pprof_location_end(writing->file);
}

/* Stores the number of a node's place, which is written if it is new. */
static bool find_location(void *context, uint32_t node, uint32_t outward, uint32_t *number)
{
    struct writing *writing = context;
    uint64_t place;
    bool is_new;
    (void)outward;
    if (!export_group(writing->export, writing->side, node, &writing->frames) ||
        !pprof_location_number(writing->file, writing->side == &writing->export->base,
                               writing->frames.frame[0].id, writing->frames.count, &place, &is_new))
        return false;
    *number = (uint32_t)place;
    return !is_new || put_location(writing, place);
}

/* Finds the numbers of the stack's places, and writes those that are new. */
static bool find_locations(struct writing *writing, uint32_t stack)
{
    uint32_t node = writing->side->starts[stack], number;
    if (writing->location_count > 0 && writing->stack == stack)
        return true;
    if (!export_nodes_find(&writing->nodes, node, find_location, writing, &number))
        return false;
    writing->stack = stack;
    writing->location_count = 0;
    do {
        if (!array_grow(&writing->locations, &writing->capacity, writing->location_count + 1,
                        sizeof(*writing->locations)))
            return report_fail_memory(writing->export->error, "a stack");
        writing->locations[writing->location_count++] = writing->nodes.number[node];
        node = export_nodes_outward(&writing->nodes, node);
    } while (node != 0);
    return true;
}

/* ---- samples ---- */

static const char *arena_name(const struct writing *writing, uint32_t arena)
{
    for (size_t i = 0; i < writing->arena_count; i++) {
        if (writing->arenas[i].id == arena)
            return export_clean(writing->side, writing->arenas[i].name);
    }
    return "?";
}

/* The parts of a row that a profile of a window has: what was allocated in it, and what is live at
 * its end. */
enum part { PART_ALLOCATED = 1, PART_LIVE = 2 };

static bool put_row(struct writing *writing, const struct session_stack_sums *row, unsigned parts)
{
    const struct export_side *side = writing->side;
    const int64_t sign = side == &writing->export->base ? -1 : 1;
    const bool allocated = parts & PART_ALLOCATED, live = parts & PART_LIVE;
    const int64_t values[VALUES] = {
        allocated ? sign * (int64_t)row->allocations : 0,
        allocated ? sign * (int64_t)row->bytes : 0,
        live ? sign * (int64_t)row->live_count : 0,
        live ? sign * (int64_t)row->live_bytes : 0,
    };
    struct pprof_label labels[LABELS_MOST];
    size_t count = 0;
    if (values[0] == 0 && values[1] == 0 && values[2] == 0 && values[3] == 0)
        return true;
    if (!find_locations(writing, row->stack))
        return false;
    labels[count++] = (struct pprof_label){.key = "bytes", .number = row->size};
    if (row->thread != 0)
        labels[count++] = (struct pprof_label){
            .key = "thread",
            .text = export_clean(side, session_thread_name(side->session, row->thread))};
    if (row->type != 0)
        labels[count++] = (struct pprof_label){
            .key = "type", .text = export_clean(side, session_type_name(side->session, row->type))};
    if (row->arena != 0)
        labels[count++] =
            (struct pprof_label){.key = "arena", .text = arena_name(writing, row->arena)};
    for (size_t i = 0; i < writing->export->label_count; i++) {
        const struct export_label *label = &writing->export->labels[i];
        labels[count++] = (struct pprof_label){.key = label->key, .text = label->text};
    }
    return pprof_put_sample(writing->file, writing->locations, writing->location_count, values,
                            VALUES, labels, count);
}

static bool put_rows(void *context, const struct session_stack_sums *rows, size_t count)
{
    struct writing *writing = context;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = put_row(writing, &rows[i], writing->parts);
    return good;
}

static bool put_side(struct writing *writing, const struct export_side *side)
{
    writing->side = side;
    writing->parts = PART_ALLOCATED | PART_LIVE;
    writing->location_count = 0;
    return export_nodes_begin(&writing->nodes, writing->export, side, true) &&
           session_arenas(side->session, &writing->arenas, &writing->arena_count,
                          writing->export->error) &&
           export_each_sum(writing->export, side, SPLIT, put_rows, writing);
}

/* ---- the rest ---- */

static bool put_mapping(const struct writing *writing, const struct session_module *module)
{
    const struct export_side *side = &writing->export->own;
    const struct pprof_mapping mapping = {
        .number = module->id,
        .start = module->start,
        .end = module->end,
        .file = export_clean(side, module->path),
        .build_id = export_clean(side, module->build_id),
    };
    return pprof_put_mapping(writing->file, &mapping);
}

/* Writes the program's mapping first: readers take the first one for it. */
static bool put_mappings(const struct writing *writing)
{
    const struct session *session = writing->export->own.session;
    const char *program = session_meta(session, "executable");
    const struct session_module *modules;
    size_t count, main_module = 0;
    bool good =
        session_modules(writing->export->own.session, &modules, &count, writing->export->error);
    for (size_t i = 0; good && program && i < count; i++) {
        if (strcmp(modules[i].path, program) == 0)
            main_module = i;
    }
    good = good && (count == 0 || put_mapping(writing, &modules[main_module]));
    for (size_t i = 0; good && i < count; i++)
        good = i == main_module || put_mapping(writing, &modules[i]);
    return good;
}

static bool put_frame(struct writing *writing, uint64_t from_ns, uint64_t to_ns)
{
    static const struct pprof_value_type types[VALUES] = {{"alloc_objects", "count"},
                                                          {"alloc_space", "bytes"},
                                                          {"inuse_objects", "count"},
                                                          {"inuse_space", "bytes"}};
    const int64_t start = export_start_ns(writing->export->own.session);
    const struct pprof_about about = {.types = types,
                                      .type_count = VALUES,
                                      .default_type = "inuse_space",
                                      .start_ns = start == 0 ? 0 : start + (int64_t)from_ns,
                                      .duration_ns = (int64_t)(to_ns - from_ns)};
    return pprof_put_about(writing->file, &about) && put_mappings(writing);
}

/* Writes a profile: `put` writes its samples. */
static bool put_profile(struct export *export, FILE *out, uint64_t from_ns, uint64_t to_ns,
                        bool (*put)(struct writing *writing, uint64_t from_ns, uint64_t to_ns))
{
    struct writing writing = {.export = export, .side = &export->own};
    bool good = (writing.file = pprof_file_begin(out, export->error)) &&
                put_frame(&writing, from_ns, to_ns) && put(&writing, from_ns, to_ns);
    if (writing.file && !pprof_file_end(writing.file) && good)
        good = report_fail_memory(export->error, "the profile");
    export_frames_free(&writing.frames);
    export_nodes_free(&writing.nodes);
    free(writing.locations);
    return good;
}

static bool put_whole(struct writing *writing, uint64_t from_ns, uint64_t to_ns)
{
    const struct export *export = writing->export;
    (void)from_ns;
    (void)to_ns;
    return put_side(writing, &export->own) &&
           (!export->base.session || put_side(writing, &export->base));
}

/* ---- windows ---- */

enum { WINDOWS_MOST = 10000 };

/*
 * Puts what was allocated in a window, then what was live at its last nanosecond. Blocks that were
 * live when a rotated trace began have the time 0 and were not allocated in its first window.
 */
static bool put_window(struct writing *writing, uint64_t from_ns, uint64_t to_ns)
{
    struct export window = *writing->export;
    char steps[96];
    if (from_ns == 0 && to_ns > 1 && session_meta(window.own.session, "rotation"))
        from_ns = 1;
    snprintf(steps, sizeof(steps), "where alloc_time in %" PRIu64 "ns..%" PRIu64 "ns", from_ns,
             to_ns - 1);
    struct graph_result *result = selection_graph(window.own.selection, steps, window.error);
    if (!result)
        return false;
    struct export_side allocated = window.own;
    allocated.selection = graph_result_selection(result);
    writing->side = &allocated;
    writing->parts = PART_ALLOCATED;
    bool good =
        export_nodes_begin(&writing->nodes, &window, &window.own, true) &&
        session_arenas(allocated.session, &writing->arenas, &writing->arena_count, window.error) &&
        export_each_sum(&window, &allocated, SPLIT, put_rows, writing);
    graph_result_free(result);
    window.at = true;
    window.own.at_ns = to_ns - 1;
    writing->side = &window.own;
    writing->parts = PART_LIVE;
    good = good && export_each_sum(&window, &window.own, SPLIT, put_rows, writing);
    writing->side = &writing->export->own;
    return good;
}

/* Returns the name of a window's file: the number comes before the first dot of the last part. */
static char *window_path(const char *path, uint64_t number)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strchr(name, '.'), *end = dot ? dot : path + strlen(path);
    char *text;
    return asprintf(&text, "%.*s.%04" PRIu64 "%s", (int)(end - path), path, number, end) < 0 ? NULL
                                                                                             : text;
}

static bool put_window_file(struct export *export, uint64_t number, uint64_t from_ns,
                            uint64_t to_ns)
{
    char *path = window_path(export->path, number);
    struct output *output = path ? output_open(path, export->error) : NULL;
    if (!path)
        report_fail_memory(export->error, "a name");
    free(path);
    if (!output)
        return false;
    if (put_profile(export, output_stream(output), from_ns, to_ns, put_window))
        return output_close(output, export->error);
    output_discard(output);
    return false;
}

static bool put_windows(struct export *export)
{
    const uint64_t start = session_start_ns(export->own.session);
    const uint64_t end = session_duration_ns(export->own.session) + 1;
    const uint64_t length = export->window_ns;
    bool good = true;
    if ((end - start) / length >= WINDOWS_MOST)
        return report_fail(export->error,
                           "--window would make more than %d files: choose longer "
                           "windows",
                           WINDOWS_MOST);
    for (uint64_t number = 1, from = start; good && from < end; number++, from += length)
        good = put_window_file(export, number, from, end - from < length ? end : from + length);
    return good;
}

bool export_pprof(struct export *export)
{
    const struct session *session = export->own.session;
    return export->window_ns > 0 ? put_windows(export)
                                 : put_profile(export, export->out, session_start_ns(session),
                                               session_duration_ns(session), put_whole);
}
