/* SPDX-License-Identifier: BSD-2-Clause */
/* The processed format of the Firefox Profiler, version 49, which newer readers upgrade. All events
 * are in one thread's nativeAllocations, with the thread of each. The format is made of columns:
 * the first pass over the events counts them and finds their stacks, then each column takes a
 * pass. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/time.h"

/* ---- the tables of code: libraries, functions, frames, stacks, and their strings ---- */

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

static bool firefox_file_no_memory(const struct firefox_file *file)
{
    return report_fail_memory(file->export->error, "the profile");
}

static void firefox_file_free(struct firefox_file *file)
{
    if (!file)
        return;
    text_ids_free(file->strings);
    pair_ids_free(file->functions);
    pair_ids_free(file->frames);
    pair_ids_free(file->stacks);
    pair_ids_free(file->resources);
    export_nodes_free(&file->nodes);
    FREE_ALL(file->frame, file->function, file->stack, file);
}

static struct firefox_file *firefox_file_new(const struct export *export)
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

static bool add_function(struct firefox_file *file, uint32_t id, uint32_t *number)
{
    bool is_new;
    if (!pair_ids_find(file->functions, id, 0, number, &is_new) ||
        !array_grow(&file->function, &file->function_capacity, (size_t)*number + 1,
                    sizeof(*file->function)))
        return firefox_file_no_memory(file);
    file->function[*number] = id;
    return true;
}

static bool add_frame(struct firefox_file *file, const struct session_code_frame *frame,
                      uint32_t depth, uint32_t *number)
{
    bool is_new;
    if (!pair_ids_find(file->frames, frame->id, 0, number, &is_new))
        return firefox_file_no_memory(file);
    if (!is_new)
        return true;
    if (!array_grow(&file->frame, &file->frame_capacity, (size_t)*number + 1, sizeof(*file->frame)))
        return firefox_file_no_memory(file);
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
        !ARRAY_GROW(file->stack, stack, file->stack_capacity))
        return firefox_file_no_memory(file);
    file->stack[stack] = (struct stack_entry){outward, frame};
    *number = stack + 1;
    return true;
}

static bool firefox_add_stack(struct firefox_file *file, uint32_t stack, uint32_t *number)
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
    json_put(json, "%s: [", name);
    for (size_t i = 0; i < count; i++)
        if (value == CONSTANT_ZERO)
            json_number(json, 0);
        else if (value == CONSTANT_NULL)
            json_null(json);
        else
            json_truth(json, false);
    json_put(json, "]");
}

/* Write parts of the profile. Those that return bool return false with the error set. */
static void firefox_put_meta(struct json *json, const char *program, int64_t start_ns)
{
    json_put(json, "meta: {categories: [{name: Other, color: grey, subcategories: [Other]}], "
                   "debug: false, extensions: {length: 0");
    put_constant(json, "baseURL", CONSTANT_NULL, 0);
    put_constant(json, "id", CONSTANT_NULL, 0);
    put_constant(json, "name", CONSTANT_NULL, 0);
    json_put(json,
             "}, interval: 1, preprocessedProfileVersion: %u, version: %u, processType: 0, "
             "product: %s, importedFrom: mprof, startTime: %g, stackwalk: 1",
             VERSION, GECKO_VERSION, program, (double)start_ns / 1e6);
    put_constant(json, "pausedRanges", CONSTANT_NULL, 0);
    put_constant(json, "markerSchema", CONSTANT_NULL, 0);
    json_put(json, "symbolicated: true, sourceCodeIsNotOnSearchfox: true, usesOnlyOneStackType: "
                   "true, sampleUnits: {time: ms, eventDelay: ms, threadCPUDelta: ns}}");
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

static bool firefox_put_libraries(struct firefox_file *file, struct json *json)
{
    const struct export_side *side = &file->export->own;
    if (!session_modules(side->session, &file->modules, &file->module_count, file->export->error))
        return false;
    json_put(json, "libs: [");
    for (size_t i = 0; i < file->module_count; i++) {
        const struct session_module *module = &file->modules[i];
        char id[BREAKPAD_DIGITS + 2];
        breakpad_id(module->build_id, id);
        json_put(json,
                 "{name: %s, path: %s, debugName: %s, debugPath: %s, breakpadId: %s, codeId: %s, "
                 "arch: x86_64}",
                 export_clean(side, module->name), export_clean(side, module->path),
                 export_clean(side, module->name), export_clean(side, module->path), id,
                 module->build_id);
    }
    json_put(json, "]");
    return true;
}

static void firefox_put_marks(struct firefox_file *file, struct json *json,
                              const struct session_mark *marks, size_t count)
{
    const struct export_side *side = &file->export->own;
    json_put(json, "markers: {length: %lu", count);
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "data", CONSTANT_NULL, count);
    put_constant(json, "endTime", CONSTANT_NULL, count);
    put_constant(json, "phase", CONSTANT_ZERO, count);
    json_put(json, "name: [");
    for (size_t i = 0; i < count; i++)
        json_number(json, string(file, export_clean(side, marks[i].name && marks[i].name[0]
                                                              ? marks[i].name
                                                              : marks[i].kind)));
    json_put(json, "], startTime: [");
    for (size_t i = 0; i < count; i++)
        json_real(json, (double)marks[i].ns / 1e6);
    json_put(json, "]}");
}

static void put_stacks(const struct firefox_file *file, struct json *json)
{
    const size_t count = pair_ids_count(file->stacks);
    json_put(json, "stackTable: {length: %lu, prefix: [", count);
    for (size_t i = 0; i < count; i++)
        if (file->stack[i].prefix == 0)
            json_null(json);
        else
            json_number(json, file->stack[i].prefix - 1);
    json_put(json, "], frame: [");
    for (size_t i = 0; i < count; i++)
        json_number(json, file->stack[i].frame);
    json_put(json, "]");
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "subcategory", CONSTANT_ZERO, count);
    json_put(json, "}");
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
    json_put(json, "frameTable: {length: %lu, address: [", count);
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].code.pc & ((UINT64_C(1) << 53) - 1));
    json_put(json, "], inlineDepth: [");
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].inline_depth);
    json_put(json, "], func: [");
    for (size_t i = 0; i < count; i++)
        json_number(json, file->frame[i].function);
    json_put(json, "], line: [");
    for (size_t i = 0; i < count; i++)
        put_line(json, file->frame[i].code.line);
    json_put(json, "]");
    put_constant(json, "category", CONSTANT_ZERO, count);
    put_constant(json, "subcategory", CONSTANT_ZERO, count);
    put_constant(json, "nativeSymbol", CONSTANT_NULL, count);
    put_constant(json, "innerWindowID", CONSTANT_ZERO, count);
    put_constant(json, "implementation", CONSTANT_NULL, count);
    put_constant(json, "column", CONSTANT_NULL, count);
    json_put(json, "}");
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
    json_put(json, "funcTable: {length: %lu, name: [", count);
    for (size_t i = 0; i < count; i++)
        json_number(json, string(file, export_function_name(side, file->function[i])));
    json_put(json, "], resource: [");
    for (size_t i = 0; i < count; i++)
        put_resource(file, json, facts_of(file, i).module);
    json_put(json, "], fileName: [");
    for (size_t i = 0; i < count; i++) {
        const struct session_function facts = facts_of(file, i);
        if (facts.file[0])
            json_number(json, string(file, export_clean(side, facts.file)));
        else
            json_null(json);
    }
    json_put(json, "], lineNumber: [");
    for (size_t i = 0; i < count; i++)
        put_line(json, facts_of(file, i).line);
    json_put(json, "]");
    put_constant(json, "isJS", CONSTANT_FALSE, count);
    put_constant(json, "relevantForJS", CONSTANT_FALSE, count);
    put_constant(json, "columnNumber", CONSTANT_NULL, count);
    json_put(json, "}");
}

/* The resources are the modules of functions, in the order in which they were first asked for. */
static void put_resources(struct firefox_file *file, struct json *json)
{
    const size_t count = pair_ids_count(file->resources);
    json_put(json, "resourceTable: {length: %lu, lib: [", count);
    for (size_t i = 0; i < count; i++)
        json_number(json, pair_ids_first(file->resources, (uint32_t)i) - 1);
    json_put(json, "], name: [");
    for (size_t i = 0; i < count; i++) {
        const struct session_module *module =
            &file->modules[pair_ids_first(file->resources, (uint32_t)i) - 1];
        json_number(json, string(file, export_clean(&file->export->own, module->name)));
    }
    json_put(json, "]");
    put_constant(json, "host", CONSTANT_NULL, count);
    json_put(json, "type: [");
    for (size_t i = 0; i < count; i++)
        json_number(json, 1); /* a library */
    json_put(json, "]}");
}

/* The tables of the thread. Comes after all that use strings. */
static bool firefox_put_code(struct firefox_file *file, struct json *json)
{
    put_stacks(file, json);
    put_frames(file, json);
    put_functions(file, json);
    put_resources(file, json);
    json_put(json, "nativeSymbols: {length: 0");
    put_constant(json, "address", CONSTANT_NULL, 0);
    put_constant(json, "functionSize", CONSTANT_NULL, 0);
    put_constant(json, "libIndex", CONSTANT_NULL, 0);
    put_constant(json, "name", CONSTANT_NULL, 0);
    json_put(json, "}, stringArray: [");
    for (size_t i = 0; i < text_ids_count(file->strings); i++)
        json_text(json, text_ids_text(file->strings, (uint32_t)i));
    json_put(json, "]");
    return !file->failed || firefox_file_no_memory(file);
}

/* ---- the events ---- */

enum { SLOTS = 400 };
/* JavaScript's numbers are exact up to here. */
#define ADDRESS_MASK ((UINT64_C(1) << 53) - 1)

struct writing;
/* Writes an event into its column. Returns false, and sets the export's error, if it cannot. */
typedef bool put_value(struct writing *writing, const struct session_event *event);

struct writing {
    const struct export *export;
    struct json *json;
    struct firefox_file *file; /* frames, functions and stacks */
    uint64_t count;            /* events of the first pass, or of the column so far */
    uint32_t first_stack, last_stack;
    put_value *put;  /* of the column */
    uint32_t thread; /* whose number `tid` is */
    int64_t tid;
    int64_t live, slots[SLOTS]; /* live bytes at the end of each slot of time */
    size_t slot;
};

static bool no_memory(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the events");
}

static bool may_have_more(const struct writing *writing)
{
    return writing->count < writing->export->max_events ||
           report_fail(writing->export->error,
                       "there are more than %" PRIu64 " events, which the Firefox Profiler "
                       "would show slowly: choose some by --filter, or raise --max-events",
                       writing->export->max_events);
}

static int64_t weight_of(const struct session_event *event)
{
    const int64_t size = (int64_t)event->allocation->size;
    return event->kind == SESSION_EVENT_ALLOC ? size : -size;
}

static uint64_t slot_end(const struct writing *writing, size_t slot)
{
    const uint64_t length = session_duration_ns(writing->export->own.session);
    return (uint64_t)((unsigned __int128)length * (slot + 1) / SLOTS);
}

static bool take_event(void *context, const struct session_event *event)
{
    struct writing *writing = context;
    if (!may_have_more(writing) ||
        !firefox_add_stack(writing->file, event->allocation->stack, &writing->last_stack))
        return false;
    if (writing->count++ == 0)
        writing->first_stack = writing->last_stack;
    for (; writing->slot < SLOTS - 1 && event->ns > slot_end(writing, writing->slot);
         writing->slot++)
        writing->slots[writing->slot] = writing->live;
    writing->live += weight_of(event);
    return true;
}

/* ---- the file ---- */

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static int64_t thread_number(const struct session *session, uint32_t id)
{
    const struct session_thread *threads;
    const size_t count = session_threads(session, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].id == id && threads[i].tid > 0)
            return threads[i].tid;
    return id;
}

/* ---- columns ---- */

static bool put_time(struct writing *writing, const struct session_event *event)
{
    json_real(writing->json, milliseconds(event->ns));
    return true;
}

static bool put_weight(struct writing *writing, const struct session_event *event)
{
    json_signed(writing->json, weight_of(event));
    return true;
}

static bool put_stack(struct writing *writing, const struct session_event *event)
{
    uint32_t stack;
    if (!firefox_add_stack(writing->file, event->allocation->stack, &stack))
        return false;
    json_number(writing->json, stack);
    return true;
}

static bool put_address(struct writing *writing, const struct session_event *event)
{
    json_number(writing->json, event->allocation->address & ADDRESS_MASK);
    return true;
}

static bool put_thread_id(struct writing *writing, const struct session_event *event)
{
    const struct session_allocation *block = event->allocation;
    const bool own = event->kind == SESSION_EVENT_ALLOC || block->free_thread == 0;
    const uint32_t thread = own ? block->thread : block->free_thread;
    if (writing->count == 1 || thread != writing->thread) {
        writing->thread = thread;
        writing->tid = thread_number(writing->export->own.session, thread);
    }
    json_signed(writing->json, writing->tid);
    return true;
}

static bool visit_event(void *context, const struct session_event *event)
{
    struct writing *writing = context;
    writing->count++;
    return writing->put(writing, event);
}

static bool put_column(struct writing *writing, const char *name, put_value *put)
{
    const uint64_t count = writing->count;
    writing->put = put;
    json_put(writing->json, "%s: [", name);
    writing->count = 0;
    if (!selection_events(writing->export->own.selection, visit_event, writing,
                          writing->export->error))
        return false;
    json_put(writing->json, "]");
    return writing->count == count ||
           report_fail(writing->export->error, "the session changed while it was read: "
                                               "export it when its recording has ended");
}

static bool put_allocations(struct writing *writing)
{
    struct json *json = writing->json;
    json_put(json, "nativeAllocations: {length: %lu, weightType: bytes", writing->count);
    if (!put_column(writing, "time", put_time) || !put_column(writing, "weight", put_weight) ||
        !put_column(writing, "stack", put_stack) ||
        !put_column(writing, "memoryAddress", put_address) ||
        !put_column(writing, "threadId", put_thread_id))
        return false;
    json_put(json, "}");
    return true;
}

/* A thread without samples is not shown, so there are two, without meaning. */
static void put_samples(const struct writing *writing)
{
    struct json *json = writing->json;
    json_put(json, "samples: {length: 2, weightType: samples, stack: [");
    for (int i = 0; i < 2; i++)
        if (writing->count > 0)
            json_number(json, i == 0 ? writing->first_stack : writing->last_stack);
        else
            json_null(json);
    json_put(json, "], time: [0, %g], weight: [1, 1]}",
             milliseconds(session_duration_ns(writing->export->own.session)));
}

static void put_marks(const struct writing *writing)
{
    const struct session_mark *marks;
    const size_t count = session_marks(writing->export->own.session, &marks);
    firefox_put_marks(writing->file, writing->json, marks, count);
}

static void put_counter(const struct writing *writing, const char *pid)
{
    struct json *json = writing->json;
    int64_t last = 0;
    json_put(json,
             "counters: [{name: malloc, category: Memory, description: %s, pid: %s, "
             "mainThreadIndex: 0, samples: {length: %u, time: [",
             "Live heap bytes", pid, SLOTS);
    for (size_t i = 0; i < SLOTS; i++)
        json_real(json, milliseconds(slot_end(writing, i)));
    json_put(json, "], count: [");
    for (size_t i = 0; i < SLOTS; i++) {
        json_signed(json, writing->slots[i] - last);
        last = writing->slots[i];
    }
    json_put(json, "], number: [");
    for (size_t i = 0; i < SLOTS; i++)
        json_number(json, 0);
    json_put(json, "]}}]");
}

static bool put_thread(struct writing *writing, const char *program, const char *pid)
{
    const struct session *session = writing->export->own.session;
    const double end = milliseconds(session_duration_ns(session));
    struct json *json = writing->json;
    json_put(json,
             "threads: [{name: GeckoMain, isMainThread: true, processType: default, processName: "
             "%s, processStartupTime: 0, processShutdownTime: %g, registerTime: 0, unregisterTime: "
             "%g, pausedRanges: [], pid: %s, tid: %ld, showMarkersInTimeline: true",
             program, end, end, pid, session_meta_number(session, "pid"));
    put_samples(writing);
    if (!put_allocations(writing))
        return false;
    put_marks(writing);
    const bool good = firefox_put_code(writing->file, json);
    json_put(json, "}]");
    return good;
}

static bool put_file(struct writing *writing)
{
    const struct export *export = writing->export;
    const char *path = session_meta(export->own.session, "program");
    const char *program = export_clean(&export->own, path ? path : "?");
    struct json *json = writing->json;
    char pid[32];
    snprintf(pid, sizeof(pid), "%" PRId64, session_meta_number(export->own.session, "pid"));
    if (!selection_events(export->own.selection, take_event, writing, export->error))
        return false;
    for (; writing->slot < SLOTS; writing->slot++)
        writing->slots[writing->slot] = writing->live;
    json_put(json, "{");
    firefox_put_meta(json, program, export_start_ns(export->own.session));
    if (!firefox_put_libraries(writing->file, json))
        return false;
    json_put(json, "pages: []");
    put_counter(writing, pid);
    const bool good = put_thread(writing, program, pid);
    json_put(json, "}");
    return good;
}

bool export_firefox(struct export *export)
{
    struct writing writing = {
        .export = export, .json = json_begin(export->out, false), .file = firefox_file_new(export)};
    bool good = writing.json && writing.file ? put_file(&writing) : no_memory(&writing);
    if (!json_end(writing.json) && good)
        good = no_memory(&writing);
    firefox_file_free(writing.file);
    return good;
}
