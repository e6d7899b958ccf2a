/* SPDX-License-Identifier: BSD-2-Clause */
/* pprof's profiles: gzip around Protocol Buffers. The profile is written as many small messages
 * that a reader takes for one, so memory holds only the numbers of strings and places. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pprof.pb-c.h"
#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/groups.h"
#include "session/session.h"

/* ---- the parts of a profile ---- */

struct pprof_value_type {
    const char *type, *unit;
};
struct pprof_about {
    const struct pprof_value_type *types;
    size_t type_count;
    const char *default_type;
    int64_t start_ns, duration_ns; /* start_ns: since 1970 */
};

struct pprof_mapping {
    uint64_t number, start, end; /* number: from 1 */
    const char *file, *build_id;
};

/* Functions and places of a base session have numbers of their own. */
struct pprof_function {
    uint64_t number;
    const char *name, *system_name, *file;
    uint32_t line;
};

struct pprof_location {
    uint64_t number, mapping, address; /* mapping 0: none */
};

struct pprof_label {
    const char *key, *text; /* text NULL: `number` in bytes */
    uint64_t number;
};

/* ---- gzip ---- */

/* 15 bits of window, and 16 for the head of gzip. Profiles are lists of small numbers: level 4
 * takes a third of the time of the default level 6 and leaves 3 % more. */
enum { LEVEL = 4, WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, BUFFER_SIZE = 64 * 1024 };

struct gzip {
    FILE *out;
    z_stream stream;
    unsigned char buffer[BUFFER_SIZE];
};

/* Returns NULL if memory is exhausted. Errors of writing stay in `out`. */
static struct gzip *gzip_begin(FILE *out)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));
    if (!gzip)
        return NULL;
    gzip->out = out;
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

/* Compresses the input until it is used up; with Z_FINISH until the stream is complete. */
static void pump(struct gzip *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = BUFFER_SIZE;
        deflate(&gzip->stream, flush);
        fwrite(gzip->buffer, 1, BUFFER_SIZE - gzip->stream.avail_out, gzip->out);
    } while (gzip->stream.avail_out == 0);
}

static void gzip_write(struct gzip *gzip, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size > 0) {
        const uInt part = size > BUFFER_SIZE ? BUFFER_SIZE : (uInt)size;
        gzip->stream.next_in = (Bytef *)next; /* zlib only reads */
        gzip->stream.avail_in = part;
        pump(gzip, Z_NO_FLUSH);
        next += part;
        size -= part;
    }
}

/* Writes what is left and frees `gzip`. NULL is ignored. */
static void gzip_end(struct gzip *gzip)
{
    if (!gzip)
        return;
    pump(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    free(gzip);
}

enum { PROFILE_LABELS_MOST = 4 + EXPORT_LABELS_MOST, TYPES_MOST = 8 };
/* Marks the numbers of a base session. */
#define OF_BASE (UINT64_C(1) << 32)

struct pprof_file {
    struct gzip *gzip;
    struct text_ids *strings;
    struct pair_ids *functions, *locations;
    struct session_error *error;
    uint8_t *packed; /* the message that is written */
    size_t packed_size;
    Pprof__Location location;
    Pprof__Line *lines, **line_pointers;
    size_t line_capacity;
    bool failed;
};

static bool fail(struct pprof_file *file)
{
    file->failed = true;
    return report_fail_memory(file->error, "the profile");
}

/* Writes a profile that holds a part of the whole. */
static bool put(struct pprof_file *file, const Pprof__Profile *profile)
{
    const size_t size = pprof__profile__get_packed_size(profile);
    if (!array_grow(&file->packed, &file->packed_size, size, 1))
        return fail(file);
    gzip_write(file->gzip, file->packed, pprof__profile__pack(profile, file->packed));
    return true;
}

/* Returns the position of a text in the table of strings. A new one is written. */
static int64_t string(struct pprof_file *file, const char *text)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    char *strings[1] = {(char *)text}; /* protobuf-c only reads */
    uint32_t id;
    bool is_new;
    if (!text_ids_find(file->strings, text, &id, &is_new)) {
        fail(file);
        return 0;
    }
    if (is_new) {
        profile.n_string_table = 1;
        profile.string_table = strings;
        put(file, &profile);
    }
    return id;
}

/* Ends it and frees `file`. Returns false if memory was exhausted. */
static bool pprof_file_end(struct pprof_file *file)
{
    const bool good = !file->failed;
    gzip_end(file->gzip);
    text_ids_free(file->strings);
    pair_ids_free(file->functions);
    pair_ids_free(file->locations);
    FREE_ALL(file->packed, file->lines, file->line_pointers, file);
    return good;
}

/* Begins a profile. Returns NULL with `error` set. */
static struct pprof_file *pprof_file_begin(FILE *out, struct session_error *error)
{
    struct pprof_file *file = calloc(1, sizeof(*file));
    if (!file) {
        report_fail_memory(error, "the profile");
        return NULL;
    }
    *file = (struct pprof_file){.gzip = gzip_begin(out),
                                .strings = text_ids_new(),
                                .functions = pair_ids_new(),
                                .locations = pair_ids_new(),
                                .error = error};
    if (!file->gzip || !file->strings || !file->functions || !file->locations ||
        string(file, "") != 0 || file->failed) {
        fail(file);
        pprof_file_end(file);
        return NULL;
    }
    return file;
}

/* ---- the profile while it is written ----
 *
 * It numbers strings, functions and places, and packs messages by protobuf-c. The functions that
 * return bool return false with the error set. Order of calls: pprof_file_begin(), then anything
 * in any order, pprof_file_end(). */

static bool pprof_put_about(struct pprof_file *file, const struct pprof_about *about)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__ValueType types[TYPES_MOST], period = PPROF__VALUE_TYPE__INIT, *pointers[TYPES_MOST];
    for (size_t i = 0; i < about->type_count && i < TYPES_MOST; i++) {
        types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
        types[i].type = string(file, about->types[i].type);
        types[i].unit = string(file, about->types[i].unit);
        pointers[i] = &types[i];
    }
    period.type = string(file, "space");
    period.unit = string(file, "bytes");
    profile.n_sample_type = about->type_count;
    profile.sample_type = pointers;
    profile.time_nanos = about->start_ns;
    profile.duration_nanos = about->duration_ns;
    profile.period_type = &period;
    profile.period = 1;
    profile.default_sample_type = string(file, about->default_type);
    return put(file, &profile) && !file->failed;
}

static bool pprof_put_mapping(struct pprof_file *file, const struct pprof_mapping *mapping)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Mapping message = PPROF__MAPPING__INIT, *pointer = &message;
    message.id = mapping->number;
    message.memory_start = mapping->start;
    message.memory_limit = mapping->end;
    message.filename = string(file, mapping->file);
    message.build_id = string(file, mapping->build_id);
    message.has_functions = message.has_filenames = true;
    message.has_line_numbers = message.has_inline_frames = true;
    profile.n_mapping = 1;
    profile.mapping = &pointer;
    return put(file, &profile) && !file->failed;
}

/* Numbers of pprof begin at 1. */
static bool number_of(struct pprof_file *file, struct pair_ids *ids, uint64_t first,
                      uint64_t second, uint64_t *number, bool *is_new)
{
    uint32_t id;
    if (!pair_ids_find(ids, first, second, &id, is_new))
        return fail(file);
    *number = (uint64_t)id + 1;
    return true;
}

/* Stores the number of a function by its id. If it is new, the caller puts it. */
static bool pprof_function_number(struct pprof_file *file, bool of_base, uint32_t id,
                                  uint64_t *number, bool *is_new)
{
    return number_of(file, file->functions, id, of_base, number, is_new);
}

static bool pprof_put_function(struct pprof_file *file, const struct pprof_function *function)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Function message = PPROF__FUNCTION__INIT, *pointer = &message;
    message.id = function->number;
    message.name = string(file, function->name);
    message.system_name = string(file, function->system_name);
    message.filename = string(file, function->file);
    message.start_line = function->line;
    profile.n_function = 1;
    profile.function = &pointer;
    return put(file, &profile) && !file->failed;
}

/* Stores the number of a place by its innermost frame and the number of frames there. If it is new,
 * the caller puts it: begin, each line from the innermost, end. */
static bool pprof_location_number(struct pprof_file *file, bool of_base, uint32_t frame,
                                  size_t frames, uint64_t *number, bool *is_new)
{
    return number_of(file, file->locations, frame | (of_base ? OF_BASE : 0), frames, number,
                     is_new);
}

static bool make_room(struct pprof_file *file, size_t lines)
{
    if (lines <= file->line_capacity)
        return true;
    FREE_ALL(file->lines, file->line_pointers);
    file->lines = malloc(lines * 2 * sizeof(*file->lines));
    file->line_pointers = calloc(lines * 2, sizeof(void *));
    file->line_capacity = file->lines && file->line_pointers ? lines * 2 : 0;
    return file->line_capacity > 0 || fail(file);
}

static bool pprof_location_begin(struct pprof_file *file, const struct pprof_location *location,
                                 size_t lines)
{
    if (!make_room(file, lines))
        return false;
    file->location = (Pprof__Location)PPROF__LOCATION__INIT;
    file->location.id = location->number;
    file->location.mapping_id = location->mapping;
    file->location.address = location->address;
    file->location.line = file->line_pointers;
    return true;
}

static void pprof_location_line(struct pprof_file *file, uint64_t function, uint32_t line)
{
    const size_t place = file->location.n_line++;
    file->lines[place] = (Pprof__Line)PPROF__LINE__INIT;
    file->lines[place].function_id = function;
    file->lines[place].line = line;
    file->line_pointers[place] = &file->lines[place];
}

static bool pprof_location_end(struct pprof_file *file)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Location *pointer = &file->location;
    profile.n_location = 1;
    profile.location = &pointer;
    return put(file, &profile) && !file->failed;
}

static bool pprof_put_sample(struct pprof_file *file, const uint64_t *locations,
                             size_t location_count, const int64_t *values, size_t value_count,
                             const struct pprof_label *labels, size_t label_count)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *pointer = &sample;
    Pprof__Label messages[PROFILE_LABELS_MOST], *pointers[PROFILE_LABELS_MOST];
    for (size_t i = 0; i < label_count && i < PROFILE_LABELS_MOST; i++) {
        messages[i] = (Pprof__Label)PPROF__LABEL__INIT;
        messages[i].key = string(file, labels[i].key);
        if (labels[i].text) {
            messages[i].str = string(file, labels[i].text);
        } else {
            messages[i].num = (int64_t)labels[i].number;
            messages[i].num_unit = string(file, "bytes");
        }
        pointers[i] = &messages[i];
    }
    sample.n_location_id = location_count;
    sample.location_id = (uint64_t *)locations; /* protobuf-c only reads */
    sample.n_value = value_count;
    sample.value = (int64_t *)values;
    sample.n_label = label_count;
    sample.label = pointers;
    profile.n_sample = 1;
    profile.sample = &pointer;
    return put(file, &profile) && !file->failed;
}

enum { VALUES = 4 };
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
    uint64_t place = 0;
    bool is_new;
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
        if (!ARRAY_GROW(writing->locations, writing->location_count, writing->capacity))
            return report_fail_memory(writing->export->error, "a stack");
        writing->locations[writing->location_count++] = writing->nodes.number[node];
        node = export_nodes_outward(&writing->nodes, node);
    } while (node != 0);
    return true;
}

/* ---- samples ---- */

static const char *arena_name(const struct writing *writing, uint32_t arena)
{
    for (size_t i = 0; i < writing->arena_count; i++)
        if (writing->arenas[i].id == arena)
            return export_clean(writing->side, writing->arenas[i].name);
    return "?";
}

/* A row's parts in a profile of a window: what was allocated in it, and is live at its end. */
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
    struct pprof_label labels[PROFILE_LABELS_MOST];
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
    for (size_t i = 0; good && program && i < count; i++)
        if (strcmp(modules[i].path, program) == 0)
            main_module = i;
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

static bool put_profile(struct export *export, FILE *out, uint64_t from_ns, uint64_t to_ns,
                        bool (*put_samples)(struct writing *writing, uint64_t from_ns,
                                            uint64_t to_ns))
{
    struct writing writing = {.export = export, .side = &export->own};
    bool good = (writing.file = pprof_file_begin(out, export->error)) &&
                put_frame(&writing, from_ns, to_ns) && put_samples(&writing, from_ns, to_ns);
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
    return put_side(writing, &export->own) &&
           (!export->base.session || put_side(writing, &export->base));
}

/* ---- windows ---- */

enum { WINDOWS_MOST = 10000 };

/* Puts what was allocated in a window, then what was live at its last nanosecond. Blocks that were
 * live when a rotated trace began have the time 0 and were not allocated in its first window. */
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
    const char *dot = strchr(basename(path), '.'), *end = dot ? dot : path + strlen(path);
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
