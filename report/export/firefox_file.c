/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/firefox_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/ids.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"

enum { VERSION = 49, GECKO_VERSION = 24, BREAKPAD_DIGITS = 32 };

struct frame_entry {
    struct session_code_frame code;
    uint32_t inline_depth, function; /* function: its number */
};

struct stack_entry {
    uint32_t prefix, frame; /* prefix: number + 1, 0: none */
};

struct firefox_file {
    const struct export *export;
    struct text_ids *strings;
    struct pair_ids *functions; /* by the session's id */
    struct pair_ids *frames;    /* by frame id */
    struct pair_ids *stacks;    /* by prefix and frame */
    struct pair_ids *resources; /* by module */
    struct export_nodes nodes;  /* their stacks, + 1 */
    struct frame_entry *frame;  /* by number */
    uint32_t *function;         /* by number: the session's id */
    struct stack_entry *stack;
    size_t frame_capacity, function_capacity, stack_capacity;
    const struct session_module *modules;
    size_t module_count;
    bool failed;
};

static bool no_memory(const struct firefox_file *file)
{
    return report_fail_memory(file->export->error, "the profile");
}

struct firefox_file *firefox_file_new(const struct export *export)
{
    struct firefox_file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    *file = (struct firefox_file){.export = export,
                                  .strings = text_ids_new(),
                                  .functions = pair_ids_new(),
                                  .frames = pair_ids_new(),
                                  .stacks = pair_ids_new(),
                                  .resources = pair_ids_new()};
    if (file->strings && file->functions && file->frames && file->stacks && file->resources &&
        export_nodes_begin(&file->nodes, export, &export->own, false))
        return file;
    firefox_file_free(file);
    return NULL;
}

void firefox_file_free(struct firefox_file *file)
{
    if (!file)
        return;
    text_ids_free(file->strings);
    pair_ids_free(file->functions);
    pair_ids_free(file->frames);
    pair_ids_free(file->stacks);
    pair_ids_free(file->resources);
    export_nodes_free(&file->nodes);
    free(file->frame);
    free(file->function);
    free(file->stack);
    free(file);
}

static bool add_function(struct firefox_file *file, uint32_t id, uint32_t *number)
{
    bool is_new;
    if (!pair_ids_find(file->functions, id, 0, number, &is_new) ||
        !array_grow(&file->function, &file->function_capacity, (size_t)*number + 1,
                    sizeof(*file->function)))
        return no_memory(file);
    file->function[*number] = id;
    return true;
}

static bool add_frame(struct firefox_file *file, const struct session_code_frame *frame,
                      uint32_t depth, uint32_t *number)
{
    bool is_new;
    if (!pair_ids_find(file->frames, frame->id, 0, number, &is_new))
        return no_memory(file);
    if (!is_new)
        return true;
    if (!array_grow(&file->frame, &file->frame_capacity, (size_t)*number + 1, sizeof(*file->frame)))
        return no_memory(file);
    file->frame[*number] = (struct frame_entry){.code = *frame, .inline_depth = depth};
    return add_function(file, frame->function, &file->frame[*number].function);
}

/* Adds a frame with its callers, whose stack has the number `outward` - 1. */
static bool add_node(void *context, uint32_t node, uint32_t outward, uint32_t *number)
{
    struct firefox_file *file = context;
    struct session_code_frame code;
    uint32_t frame = 0, stack = 0;
    bool is_new;
    if (!export_frame(file->export, &file->export->own, node, &code))
        return false;
    const uint32_t depth = code.inlined && outward != 0
                               ? file->frame[file->stack[outward - 1].frame].inline_depth + 1
                               : code.inlined;
    if (!add_frame(file, &code, depth, &frame))
        return false;
    if (!pair_ids_find(file->stacks, outward, frame, &stack, &is_new) ||
        !array_grow(&file->stack, &file->stack_capacity, (size_t)stack + 1, sizeof(*file->stack)))
        return no_memory(file);
    file->stack[stack] = (struct stack_entry){outward, frame};
    *number = stack + 1;
    return true;
}

bool firefox_add_stack(struct firefox_file *file, uint32_t stack, uint32_t *number)
{
    if (!export_nodes_find(&file->nodes, file->export->own.starts[stack], add_node, file, number))
        return false;
    --*number;
    return true;
}

/* ---- writing ---- */

static uint32_t string(struct firefox_file *file, const char *text)
{
    uint32_t id = 0;
    bool is_new;
    if (!text_ids_find(file->strings, text, &id, &is_new))
        file->failed = true;
    return id;
}

/* Writes a column of the same value. */
enum constant { CONSTANT_ZERO, CONSTANT_NULL, CONSTANT_FALSE };

static void put_constant(struct json *json, const char *name, enum constant value, size_t count)
{
    json_key(json, name);
    json_array(json);
    for (size_t i = 0; i < count; i++) {
        if (value == CONSTANT_ZERO)
            json_number(json, 0);
        else if (value == CONSTANT_NULL)
            json_null(json);
        else
            json_truth(json, false);
    }
    json_array_end(json);
}

void firefox_put_meta(struct json *json, const char *program, int64_t start_ns)
{
    json_key(json, "meta");
    json_object(json);
    json_key(json, "categories");
    json_array(json);
    json_object(json);
    json_member_text(json, "name", "Other");
    json_member_text(json, "color", "grey");
    json_key(json, "subcategories");
    json_array(json);
    json_text(json, "Other");
    json_array_end(json);
    json_object_end(json);
    json_array_end(json);
    json_key(json, "debug");
    json_truth(json, false);
    json_key(json, "extensions");
    json_object(json);
    json_member_number(json, "length", 0);
    put_constant(json, "baseURL", CONSTANT_NULL, 0);
    put_constant(json, "id", CONSTANT_NULL, 0);
    put_constant(json, "name", CONSTANT_NULL, 0);
    json_object_end(json);
    json_member_number(json, "interval", 1);
    json_member_number(json, "preprocessedProfileVersion", VERSION);
    json_member_number(json, "version", GECKO_VERSION);
    json_member_number(json, "processType", 0);
    json_member_text(json, "product", program);
    json_member_text(json, "importedFrom", "mprof");
    json_key(json, "startTime");
    json_real(json, (double)start_ns / 1e6);
    json_member_number(json, "stackwalk", 1);
    put_constant(json, "pausedRanges", CONSTANT_NULL, 0);
    put_constant(json, "markerSchema", CONSTANT_NULL, 0);
    json_key(json, "symbolicated");
    json_truth(json, true);
    json_key(json, "sourceCodeIsNotOnSearchfox");
    json_truth(json, true);
    json_key(json, "usesOnlyOneStackType");
    json_truth(json, true);
    json_key(json, "sampleUnits");
    json_object(json);
    json_member_text(json, "time", "ms");
    json_member_text(json, "eventDelay", "ms");
    json_member_text(json, "threadCPUDelta", "ns");
    json_object_end(json);
    json_object_end(json);
}

/* Writes a build-id as the identifier of symbols: the first parts are little-endian numbers. */
static void breakpad_id(const char *build_id, char id[BREAKPAD_DIGITS + 2])
{
    static const unsigned char order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    id[0] = '\0';
    if (strlen(build_id) < BREAKPAD_DIGITS)
        return;
    for (size_t i = 0; i < 16; i++) {
        const size_t digit = (size_t)order[i] * 2;
        id[2 * i] = (char)toupper((unsigned char)build_id[digit]);
        id[2 * i + 1] = (char)toupper((unsigned char)build_id[digit + 1]);
    }
    id[BREAKPAD_DIGITS] = '0';
    id[BREAKPAD_DIGITS + 1] = '\0';
}

bool firefox_put_libraries(struct firefox_file *file, struct json *json)
{
    const struct export_side *side = &file->export->own;
    if (!session_modules(side->session, &file->modules, &file->module_count, file->export->error))
        return false;
    json_key(json, "libs");
    json_array(json);
    for (size_t i = 0; i < file->module_count; i++) {
        const struct session_module *module = &file->modules[i];
        char id[BREAKPAD_DIGITS + 2];
        breakpad_id(module->build_id, id);
        json_object(json);
        json_member_text(json, "name", export_clean(side, module->name));
        json_member_text(json, "path", export_clean(side, module->path));
        json_member_text(json, "debugName", export_clean(side, module->name));
        json_member_text(json, "debugPath", export_clean(side, module->path));
        json_member_text(json, "breakpadId", id);
        json_member_text(json, "codeId", module->build_id);
        json_member_text(json, "arch", "x86_64");
        json_object_end(json);
    }
    json_array_end(json);
    return true;
}

void firefox_put_marks(struct firefox_file *file, struct json *json,
                       const struct session_mark *marks, size_t count)
{
    const struct export_side *side = &file->export->own;
    json_key(json, "markers");
    json_object(json);
    json_member_number(json, "length", count);
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "data", CONSTANT_NULL, count);
    put_constant(json, "endTime", CONSTANT_NULL, count);
    put_constant(json, "phase", CONSTANT_ZERO, count);
    json_key(json, "name");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, string(file, export_clean(side, marks[i].name && marks[i].name[0]
                                                              ? marks[i].name
                                                              : marks[i].kind)));
    json_array_end(json);
    json_key(json, "startTime");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_real(json, (double)marks[i].ns / 1e6);
    json_array_end(json);
    json_object_end(json);
}

static void put_stacks(const struct firefox_file *file, struct json *json)
{
    const size_t count = pair_ids_count(file->stacks);
    json_key(json, "stackTable");
    json_object(json);
    json_member_number(json, "length", count);
    json_key(json, "prefix");
    json_array(json);
    for (size_t i = 0; i < count; i++) {
        if (file->stack[i].prefix == 0)
            json_null(json);
        else
            json_number(json, file->stack[i].prefix - 1);
    }
    json_array_end(json);
    json_key(json, "frame");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, file->stack[i].frame);
    json_array_end(json);
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "subcategory", CONSTANT_ZERO, count);
    json_object_end(json);
}

static void put_line(struct json *json, uint32_t line)
{
    if (line != 0)
        json_number(json, line);
    else
        json_null(json);
}

static void put_frames(const struct firefox_file *file, struct json *json)
{
    const size_t count = pair_ids_count(file->frames);
    json_key(json, "frameTable");
    json_object(json);
    json_member_number(json, "length", count);
    json_key(json, "address");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].code.pc & ((UINT64_C(1) << 53) - 1));
    json_array_end(json);
    json_key(json, "inlineDepth");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].inline_depth);
    json_array_end(json);
    json_key(json, "func");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].function);
    json_array_end(json);
    json_key(json, "line");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        put_line(json, file->frame[i].code.line);
    json_array_end(json);
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "subcategory", CONSTANT_ZERO, count);
    put_constant(json, "nativeSymbol", CONSTANT_NULL, count);
    put_constant(json, "innerWindowID", CONSTANT_ZERO, count);
    put_constant(json, "implementation", CONSTANT_NULL, count);
    put_constant(json, "column", CONSTANT_NULL, count);
    json_object_end(json);
}

/* A row of the table of functions. */
static struct session_function facts_of(const struct firefox_file *file, size_t number)
{
    struct session_function facts = {.file = ""};
    if (file->function[number] != 0)
        session_function(file->export->own.session, file->function[number], &facts, NULL);
    return facts;
}

static void put_resource(struct firefox_file *file, struct json *json, uint32_t module)
{
    uint32_t resource;
    bool is_new;
    if (module == 0 || module > file->module_count)
        json_signed(json, -1);
    else if (!pair_ids_find(file->resources, module, 0, &resource, &is_new))
        file->failed = true;
    else
        json_number(json, resource);
}

static void put_functions(struct firefox_file *file, struct json *json)
{
    const struct export_side *side = &file->export->own;
    const size_t count = pair_ids_count(file->functions);
    json_key(json, "funcTable");
    json_object(json);
    json_member_number(json, "length", count);
    json_key(json, "name");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, string(file, export_function_name(side, file->function[i])));
    json_array_end(json);
    json_key(json, "resource");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        put_resource(file, json, facts_of(file, i).module);
    json_array_end(json);
    json_key(json, "fileName");
    json_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct session_function facts = facts_of(file, i);
        if (facts.file[0])
            json_number(json, string(file, export_clean(side, facts.file)));
        else
            json_null(json);
    }
    json_array_end(json);
    json_key(json, "lineNumber");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        put_line(json, facts_of(file, i).line);
    json_array_end(json);
    put_constant(json, "isJS", CONSTANT_FALSE, count);
    put_constant(json, "relevantForJS", CONSTANT_FALSE, count);
    put_constant(json, "columnNumber", CONSTANT_NULL, count);
    json_object_end(json);
}

/* The resources are the modules of functions, in the order in which they were first asked for. */
static void put_resources(struct firefox_file *file, struct json *json)
{
    const size_t count = pair_ids_count(file->resources);
    json_key(json, "resourceTable");
    json_object(json);
    json_member_number(json, "length", count);
    json_key(json, "lib");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, pair_ids_first(file->resources, (uint32_t)i) - 1);
    json_array_end(json);
    json_key(json, "name");
    json_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct session_module *module =
            &file->modules[pair_ids_first(file->resources, (uint32_t)i) - 1];
        json_number(json, string(file, export_clean(&file->export->own, module->name)));
    }
    json_array_end(json);
    put_constant(json, "host", CONSTANT_NULL, count);
    json_key(json, "type");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        json_number(json, 1); /* a library */
    json_array_end(json);
    json_object_end(json);
}

bool firefox_put_code(struct firefox_file *file, struct json *json)
{
    put_stacks(file, json);
    put_frames(file, json);
    put_functions(file, json);
    put_resources(file, json);
    json_key(json, "nativeSymbols");
    json_object(json);
    json_member_number(json, "length", 0);
    put_constant(json, "address", CONSTANT_NULL, 0);
    put_constant(json, "functionSize", CONSTANT_NULL, 0);
    put_constant(json, "libIndex", CONSTANT_NULL, 0);
    put_constant(json, "name", CONSTANT_NULL, 0);
    json_object_end(json);
    json_key(json, "stringArray");
    json_array(json);
    for (size_t i = 0; i < text_ids_count(file->strings); i++)
        json_text(json, text_ids_text(file->strings, (uint32_t)i));
    json_array_end(json);
    return !file->failed || no_memory(file);
}
