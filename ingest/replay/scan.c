/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/code/linked_allocator.h"
#include "schemas/session_ids.h"
#include "schemas/trace_layout.h"

/* ---- runtimes ------------------------------------------------------------------------------ */

static uint64_t name_hash(uint64_t module, uint64_t number)
{
    return hash_combine(hash_combine(hash_seed(), module), number);
}

static uint32_t find_name(const struct runtimes *runtimes, uint64_t module, uint64_t number)
{
    const uint64_t hash = name_hash(module, number);
    size_t probe = index_map_begin(&runtimes->by_number, hash);
    uint32_t index;
    while ((index = index_map_next(&runtimes->by_number, hash, &probe)) != INDEX_NONE)
        if (runtimes->names[index].module == module && runtimes->names[index].number == number)
            break;
    return index;
}

static uint32_t find_kind(const struct runtimes *runtimes, uint64_t id)
{
    const uint64_t hash = hash_combine(hash_seed(), id);
    size_t probe = index_map_begin(&runtimes->by_id, hash);
    uint32_t index;
    while ((index = index_map_next(&runtimes->by_id, hash, &probe)) != INDEX_NONE)
        if (runtimes->kinds[index].id == id)
            break;
    return index;
}

/* Add what a record tells. Facts that are known already stay. False if memory is exhausted. */
static bool runtimes_add_name(struct runtimes *runtimes, const struct trace_extension *extension)
{
    if (find_name(runtimes, extension->module, extension->number) != INDEX_NONE)
        return true;
    if (!ARRAY_RESERVE(runtimes->names, runtimes->name_count, runtimes->name_capacity) ||
        !index_map_insert(&runtimes->by_number, name_hash(extension->module, extension->number),
                          (uint32_t)runtimes->name_count))
        return false;
    struct runtime_name *name = &runtimes->names[runtimes->name_count++];
    *name = (struct runtime_name){
        .module = extension->module,
        .number = extension->number,
        .function = strndup(extension->name.bytes, extension->name.length),
        .line = extension->line <= UINT32_MAX ? (uint32_t)extension->line : 0};
    if (extension->file.length != 0)
        name->file = strndup(extension->file.bytes, extension->file.length);
    return name->function && (name->file || extension->file.length == 0);
}

static bool runtimes_add_kind(struct runtimes *runtimes, const struct trace_extension *extension)
{
    const uint64_t id = extension->block_kind;
    if (find_kind(runtimes, id) != INDEX_NONE)
        return true;
    if (!ARRAY_RESERVE(runtimes->kinds, runtimes->kind_count, runtimes->kind_capacity) ||
        !index_map_insert(&runtimes->by_id, hash_combine(hash_seed(), id),
                          (uint32_t)runtimes->kind_count))
        return false;
    struct runtime_kind *kind = &runtimes->kinds[runtimes->kind_count++];
    *kind = (struct runtime_kind){id, strndup(extension->name.bytes, extension->name.length)};
    return kind->name != NULL;
}

const struct runtime_name *runtimes_name(const struct runtimes *runtimes, uint32_t module,
                                         uint64_t value)
{
    const uint32_t index = find_name(runtimes, module, value >> TRACE_RUNTIME_LINE_BITS);
    return index == INDEX_NONE ? NULL : &runtimes->names[index];
}

const char *runtimes_kind(const struct runtimes *runtimes, uint64_t id)
{
    const uint32_t index = find_kind(runtimes, id);
    return index == INDEX_NONE ? NULL : runtimes->kinds[index].name;
}

static void runtimes_free(struct runtimes *runtimes)
{
    for (size_t i = 0; i < runtimes->name_count; i++) {
        FREE_ALL(runtimes->names[i].function, runtimes->names[i].file);
    }
    for (size_t i = 0; i < runtimes->kind_count; i++)
        free(runtimes->kinds[i].name);
    FREE_ALL(runtimes->names, runtimes->kinds);
    index_map_free(&runtimes->by_number);
    index_map_free(&runtimes->by_id);
    *runtimes = (struct runtimes){0};
}

/* ---- unrecorded modules -------------------------------------------------------------------- */

static const char *why(uint64_t reason)
{
    switch (reason) {
    case TRACE_BYPASS_NAMESPACE:
        return "in a namespace with a heap of its own";
    case TRACE_BYPASS_OTHER:
        return "bound to another allocator";
    case TRACE_BYPASS_REFUSED:
        return "its memory could not be made writable";
    case TRACE_BYPASS_MISSED:
        return "found only at the end";
    default:
        return "for a reason that this version does not know";
    }
}

static bool has_line(const struct module_lines *lines, const char *line, uint64_t hash)
{
    const size_t length = strlen(line);
    INDEX_MAP_EACH(&lines->by_line, hash, index) {
        const char *at = lines->text + lines->starts[index];
        if (strncmp(at, line, length) == 0 && (at[length] == '\n' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Adds a line unless it is there. A damaged trace may have very many. */
static bool add_line(struct module_lines *lines, const char *line)
{
    const size_t length = strlen(line), start = lines->length + (lines->count > 0);
    const uint64_t hash = hash_text(line);
    if (has_line(lines, line, hash))
        return true;
    if (lines->count >= INDEX_NONE - 1 ||
        !array_reserve(&lines->text, &lines->capacity, start + length + 1, 1) ||
        !ARRAY_RESERVE(lines->starts, lines->count, lines->start_capacity) ||
        !index_map_insert(&lines->by_line, hash, (uint32_t)lines->count))
        return false;
    if (lines->count > 0)
        lines->text[start - 1] = '\n';
    memcpy(lines->text + start, line, length + 1);
    lines->length = start + length;
    lines->starts[lines->count++] = start;
    return true;
}

static void free_lines(struct module_lines *lines)
{
    FREE_ALL(lines->text, lines->starts);
    index_map_free(&lines->by_line);
}

static char *copy_for_line(struct trace_text text)
{
    char *copy = strndup(text.bytes ? text.bytes : "", text.length);
    for (char *c = copy; c && *c; c++)
        if (*c == '\n') /* would end the line */
            *c = '?';
    return copy;
}

/* Adds the module of a BYPASS record. False if memory is exhausted. */
static bool unrecorded_modules_add(struct unrecorded_modules *unrecorded,
                                   const struct trace_extension *extension)
{
    char *path = copy_for_line(extension->name), *line = NULL;
    bool good = path != NULL;
    if (good && extension->reason == TRACE_BYPASS_LATE) {
        good = add_line(&unrecorded->late, path);
    } else if (good && extension->reason == TRACE_BYPASS_FUNCTION) {
        char *function = copy_for_line(extension->file);
        good = function &&
               asprintf(&line, "%s (its calls of %s, unless that calls malloc)", path, function) >=
                   0 &&
               add_line(&unrecorded->unseen, line);
        free(function);
    } else if (good) {
        good = asprintf(&line, "%s (%s)", path, why(extension->reason)) >= 0 &&
               add_line(&unrecorded->unseen, line);
    }
    FREE_ALL(line, path);
    return good;
}

/* Adds the program if an allocator seems to be linked into it. False if memory is exhausted. */
static bool add_linked_allocator(struct trace_scan *scan, const struct trace_file *file)
{
    const char *program = scan->process.found ? scan->process.exe : "";
    const char *allocator =
        trace_file_header(file)->unrecorded ? NULL : linked_allocator(program, true);
    char *path = NULL, *line = NULL;
    const bool good =
        !allocator || ((path = copy_for_line((struct trace_text){program, strlen(program)})) &&
                       asprintf(&line, "%s (" LINKED_ALLOCATOR_WHY ")", path, allocator) >= 0 &&
                       add_line(&scan->unrecorded.unseen, line));
    FREE_ALL(line, path);
    return good;
}

static void unrecorded_modules_free(struct unrecorded_modules *unrecorded)
{
    free_lines(&unrecorded->late);
    free_lines(&unrecorded->unseen);
    *unrecorded = (struct unrecorded_modules){0};
}

/* ---- threads ------------------------------------------------------------------------------- */

uint32_t threads_known(const struct threads *threads, uint32_t number)
{
    uint64_t hash = hash_combine(hash_seed(), number);
    size_t probe = index_map_begin(&threads->by_number, hash);
    uint32_t index;
    while ((index = index_map_next(&threads->by_number, hash, &probe)) != INDEX_NONE)
        if (threads->rows[index].number == number)
            break;
    return index;
}

/* Returns true if a thread can have this number, given the known ones. If not, it is damage. */
static bool threads_possible(const struct threads *threads, uint64_t number)
{
    return number != 0 && session_id_possible(number, threads->count + 1);
}

/* Returns the index of the thread's row, which may be new. INDEX_NONE if memory is exhausted. */
static uint32_t threads_find(struct threads *threads, uint32_t number)
{
    uint64_t hash = hash_combine(hash_seed(), number);
    uint32_t index = threads_known(threads, number);
    if (index != INDEX_NONE)
        return index;
    if (!ARRAY_RESERVE(threads->rows, threads->count, threads->capacity) ||
        !index_map_insert(&threads->by_number, hash, (uint32_t)threads->count))
        return INDEX_NONE;
    threads->rows[threads->count] = (struct thread_row){
        .number = number, .start_ticks = THREAD_TIME_NONE, .end_ticks = THREAD_TIME_NONE};
    return (uint32_t)threads->count++;
}

static void threads_free(struct threads *threads)
{
    free(threads->rows);
    index_map_free(&threads->by_number);
    *threads = (struct threads){0};
}

/* ---- scan ---------------------------------------------------------------------------------- */

#define MODULE_NAME 300

/* Returns a terminated copy, which ends at the first NUL byte. */
static char *copy_text(struct trace_text text)
{
    return strndup(text.bytes, text.length);
}

static uint32_t find_module(const struct trace_scan *scan, uint64_t id)
{
    uint64_t hash = hash_combine(hash_seed(), id);
    INDEX_MAP_EACH(&scan->module_by_id, hash, index)
        if (scan->modules[index].id == id)
            return index;
    return INDEX_NONE;
}

const struct module_row *trace_scan_module(const struct trace_scan *scan, uint32_t id)
{
    uint32_t index = find_module(scan, id);
    return index == INDEX_NONE ? NULL : &scan->modules[index];
}

static uint64_t bare_hash(uint64_t module, uint64_t pc)
{
    return hash_combine(hash_combine(hash_seed(), module), pc);
}

static bool is_bare(const struct trace_scan *scan, uint64_t module, uint64_t pc)
{
    uint64_t hash = bare_hash(module, pc);
    INDEX_MAP_EACH(&scan->bare_by_pc, hash, index)
        if (scan->bare_codes[index].module == module && scan->bare_codes[index].pc == pc)
            return true;
    return false;
}

bool trace_scan_is_bare(const struct trace_scan *scan, uint32_t module, uint64_t pc)
{
    return scan->bare_count != 0 && is_bare(scan, module, pc);
}

static bool add_bare_code(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (is_bare(scan, extension->module, extension->address))
        return true;
    if (!ARRAY_RESERVE(scan->bare_codes, scan->bare_count, scan->bare_capacity) ||
        !index_map_insert(&scan->bare_by_pc, bare_hash(extension->module, extension->address),
                          (uint32_t)scan->bare_count))
        return false;
    scan->bare_codes[scan->bare_count++] =
        (struct bare_code){extension->module, extension->address};
    return true;
}

static bool add_module(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (extension->module == 0 || find_module(scan, extension->module) != INDEX_NONE) {
        problems_add(&scan->problems, PROBLEM_RECORD, "module id %" PRIu64 " is 0 or used twice",
                     extension->module);
        return true;
    }
    if (!session_id_possible(extension->module, scan->module_count + 1)) {
        problems_add(&scan->problems, PROBLEM_RECORD, "module number %" PRIu64 " is impossible",
                     extension->module);
        return true;
    }
    if (!ARRAY_RESERVE(scan->modules, scan->module_count, scan->module_capacity) ||
        !index_map_insert(&scan->module_by_id, hash_combine(hash_seed(), extension->module),
                          (uint32_t)scan->module_count))
        return false;
    struct module_row *module = &scan->modules[scan->module_count++];
    *module = (struct module_row){.id = (uint32_t)extension->module,
                                  .path = copy_text(extension->name),
                                  .build_id = malloc(extension->build_id.length + 1),
                                  .build_id_length = extension->build_id.length,
                                  .load_bias = extension->load_bias,
                                  .start = extension->start,
                                  .end = extension->end,
                                  .loaded_ticks = extension->when,
                                  .unloaded_ticks = THREAD_TIME_NONE};
    if (!module->path || !module->build_id)
        return false;
    memcpy(module->build_id, extension->build_id.bytes, module->build_id_length);
    return true;
}

/* Adds a runtime as a module. It may be told more than once. */
static bool add_runtime(struct trace_scan *scan, const struct trace_extension *extension)
{
    struct trace_extension module = {
        .module = extension->module, .when = extension->when, .build_id = {"", 0}};
    char path[MODULE_NAME];
    const uint32_t known = find_module(scan, extension->module);
    if (known != INDEX_NONE && scan->modules[known].runtime)
        return true;
    const size_t length =
        extension->name.length < sizeof(path) - 3 ? extension->name.length : sizeof(path) - 3;
    const int written = snprintf(path, sizeof(path), "[%.*s]", (int)length, extension->name.bytes);
    const size_t count = scan->module_count;
    module.name = (struct trace_text){path, (size_t)written};
    if (!add_module(scan, &module))
        return false;
    if (scan->module_count > count)
        scan->modules[count].runtime = true;
    return true;
}

/* Writes one argument as a shell reads it: as it is, or in single quotes. */
static void put_argument(FILE *line, const char *bytes, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%^";
    size_t i = 0;
    while (i < length && bytes[i] != '\0' && strchr(plain, bytes[i]))
        i++;
    if (i == length && length != 0) {
        fwrite(bytes, 1, length, line);
        return;
    }
    fputc('\'', line);
    for (i = 0; i < length; i++) {
        if (bytes[i] == '\'')
            fputs("'\\''", line);
        else if (bytes[i] != '\0')
            fputc(bytes[i], line);
    }
    fputc('\'', line);
}

static bool add_process(struct trace_scan *scan, const struct trace_extension *extension)
{
    struct trace_process *process = &scan->process;
    const uint8_t *at = extension->rest;
    struct trace_text argument;
    size_t length;
    if (process->found)
        return true;
    process->found = true;
    process->pid = extension->pid;
    process->parent_pid = extension->parent_pid;
    process->parent_trace = extension->parent_trace;
    process->fork_before = extension->fork_before;
    process->fork_after = extension->fork_after;
    process->boot_id = copy_text(extension->boot_id);
    process->exe = copy_text(extension->exe);
    process->directory = copy_text(extension->directory);
    process->host = copy_text(extension->host);
    process->kernel = copy_text(extension->kernel);
    FILE *line = open_memstream(&process->arguments, &length);
    if (!line)
        return false;
    for (uint64_t i = 0; i < extension->argument_count; i++) {
        if (!trace_extension_argument(extension, &at, &argument))
            break;
        if (i > 0)
            fputc(' ', line);
        else if (argument.length > 0)
            process->program = copy_text(argument);
        put_argument(line, argument.bytes, argument.length);
    }
    if (extension->flags & 1)
        fputs(" …", line);
    fclose(line);
    if (!process->program)
        process->program = copy_text(extension->exe);
    return process->program && process->exe && process->directory && process->host &&
           process->kernel && process->boot_id && process->arguments;
}

static bool add_label(struct trace_scan *scan, const struct trace_extension *extension)
{
    struct trace_process *process = &scan->process;
    if (process->label_count == TRACE_LABELS_MOST || extension->name.length > TRACE_LABEL_MOST)
        return true;
    char *label = copy_text(extension->name);
    if (label && strchr(label, '='))
        process->labels[process->label_count++] = label;
    else
        free(label);
    return label != NULL;
}

static bool name_thread(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (!threads_possible(&scan->threads, extension->thread)) {
        problems_add(&scan->problems, PROBLEM_RECORD, "thread number %" PRIu64 " is impossible",
                     extension->thread);
        return true;
    }
    uint32_t index = threads_find(&scan->threads, (uint32_t)extension->thread);
    if (index == INDEX_NONE)
        return false;
    struct thread_row *thread = &scan->threads.rows[index];
    if (extension->type == TRACE_EXT_THREAD_END) {
        thread->end_ticks = extension->when;
        return true;
    }
    size_t length = extension->name.length < sizeof(thread->name) - 1 ? extension->name.length
                                                                      : sizeof(thread->name) - 1;
    memcpy(thread->name, extension->name.bytes, length);
    thread->name[length] = '\0';
    thread->tid = extension->tid;
    if (!thread->named)
        thread->start_ticks = extension->when;
    thread->named = true;
    if (extension->stack_high > extension->stack_low) {
        thread->stack_low = extension->stack_low;
        thread->stack_high = extension->stack_high;
    }
    return true;
}

/* Adds a row for the thread of a block that was live when the trace began. It may have ended. */
static bool know_thread(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (!threads_possible(&scan->threads, extension->thread)) {
        problems_add(&scan->problems, PROBLEM_RECORD, "thread number %" PRIu64 " is impossible",
                     extension->thread);
        return true;
    }
    const uint32_t index = threads_find(&scan->threads, (uint32_t)extension->thread);
    if (index == INDEX_NONE)
        return false;
    struct thread_row *thread = &scan->threads.rows[index];
    if (thread->start_ticks == THREAD_TIME_NONE)
        thread->start_ticks = extension->when;
    return true;
}

/* Returns true if there can be a thread with the cursor's number. Damaged numbers are large. */
static bool thread_possible(const struct trace_scan *scan, const struct trace_cursor *cursor)
{
    return trace_thread_is_outside(cursor->thread) ||
           threads_possible(&scan->threads, cursor->thread);
}

/* Notes in the row of its thread that a segment begins. False if memory is exhausted. */
static bool note_segment(struct trace_scan *scan, const struct trace_cursor *cursor)
{
    if (trace_thread_is_outside(cursor->thread) || !thread_possible(scan, cursor))
        return true;
    uint32_t index = threads_find(&scan->threads, cursor->thread);
    if (index == INDEX_NONE)
        return false;
    struct thread_row *thread = &scan->threads.rows[index];
    thread->segments++;
    if (cursor->sequence > thread->last_sequence)
        thread->last_sequence = cursor->sequence;
    if (thread->start_ticks == THREAD_TIME_NONE || cursor->coding.ticks < thread->start_ticks)
        thread->start_ticks = cursor->coding.ticks;
    return true;
}

static void note_short_record(struct trace_scan *scan, uint64_t type, uint64_t offset)
{
    struct problem *problem = problems_add(&scan->problems, PROBLEM_RECORD,
                                           "record of type %" PRIu64 " ends early", type);
    if (problem)
        problem->byte_offset = (int64_t)offset;
}

static void note_module_end(struct trace_scan *scan, const struct trace_extension *extension)
{
    const uint32_t index = find_module(scan, extension->module);
    if (index != INDEX_NONE)
        scan->modules[index].unloaded_ticks = extension->when;
}

/* Keeps the last end that the trace tells. */
static void note_end(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (!scan->ended || extension->when >= scan->end_ticks) {
        scan->end_reason = extension->reason;
        scan->end_ticks = extension->when;
    }
    scan->ended = true;
}

/* Keeps the last reading of the monotonic clock. */
static void note_clock(struct trace_scan *scan, const struct trace_extension *extension)
{
    if (extension->when <= scan->clock_ticks)
        return;
    scan->clock_ticks = extension->when;
    scan->clock_monotonic_ns = extension->monotonic_ns;
}

/* Notes an allocator that is linked into the program. Its blocks are recorded only if the recorder
 * is linked in, too. */
static void note_linked(struct trace_scan *scan)
{
    scan->linked = linked_allocator(scan->process.found ? scan->process.exe : "", false);
    if (scan->linked && !scan->preloaded)
        scan->library = heap_allocator_named(scan->linked);
}

/* Notes the allocator whose library is mapped. One that replaces the C library's comes first. */
static void note_library(struct trace_scan *scan, const struct trace_extension *extension)
{
    char name[512];
    snprintf(name, sizeof(name), "%.*s", (int)extension->name.length, extension->name.bytes);
    const enum heap_allocator found = heap_allocator_of_file(name, scan->library == HEAP_UNKNOWN);
    if (found != HEAP_UNKNOWN)
        scan->library = found;
    scan->preloaded |= (extension->flags & TRACE_MAPPING_RECORDER) && strstr(name, "/libmprof");
}

static bool note_own_memory(struct trace_scan *scan, const struct trace_extension *extension)
{
    for (size_t i = scan->own_count; i-- > 0;)
        if (scan->own[i].number == extension->number && scan->own[i].until == UINT64_MAX) {
            scan->own[i].until = extension->when;
            break;
        }
    if (extension->size == 0 || extension->address > UINT64_MAX - extension->size)
        return true;
    if (!ARRAY_RESERVE(scan->own, scan->own_count, scan->own_capacity))
        return false;
    scan->own[scan->own_count++] =
        (struct own_memory){extension->number, extension->address, extension->size, UINT64_MAX};
    return true;
}

static bool scan_extended(struct trace_scan *scan, struct trace_cursor *cursor,
                          const struct trace_record *record, uint64_t offset)
{
    struct trace_extension extension;
    bool good, bad;
    if (!trace_extension_get(record, cursor->coding.ticks, &extension)) {
        note_short_record(scan, extension.type, offset);
        return true;
    }
    if (extension.when > scan->last_ticks)
        scan->last_ticks = extension.when;
    switch (extension.type) {
    case TRACE_EXT_PROCESS:
        return add_process(scan, &extension);
    case TRACE_EXT_LABEL:
        return add_label(scan, &extension);
    case TRACE_EXT_THREAD:
    case TRACE_EXT_THREAD_END:
        return name_thread(scan, &extension);
    case TRACE_EXT_SWITCH:
        return note_segment(scan, cursor);
    case TRACE_EXT_MODULE:
        return add_module(scan, &extension);
    case TRACE_EXT_RUNTIME:
        return add_runtime(scan, &extension);
    case TRACE_EXT_RUNTIME_NAME:
        return runtimes_add_name(&scan->runtimes, &extension);
    case TRACE_EXT_KIND:
        return runtimes_add_kind(&scan->runtimes, &extension);
    case TRACE_EXT_MODULE_END:
        note_module_end(scan, &extension);
        return true;
    case TRACE_EXT_BARE_CODE:
        return add_bare_code(scan, &extension);
    case TRACE_EXT_ARENA_ALLOC:
    case TRACE_EXT_ARENA_REALLOC:
    case TRACE_EXT_ARENA_FREE:
        scan->events++;
        return true;
    case TRACE_EXT_CONTINUED:
        scan->continued = extension.sequence;
        scan->promised_live += extension.count;
        return true;
    case TRACE_EXT_LIVE:
        scan->events++;
        scan->live++;
        return know_thread(scan, &extension);
    case TRACE_EXT_BYPASS:
        return unrecorded_modules_add(&scan->unrecorded, &extension);
    case TRACE_EXT_SUPPRESSIONS:
        return program_suppressions_add(&scan->program_suppressions, &extension);
    case TRACE_EXT_DROPPED:
        scan->dropped_events += extension.count;
        return true;
    case TRACE_EXT_END:
        note_end(scan, &extension);
        return true;
    case TRACE_EXT_CLOCK:
        note_clock(scan, &extension);
        return true;
    case TRACE_EXT_REFERENCES:
    case TRACE_EXT_REFERENCES_MAPPING:
    case TRACE_EXT_REFERENCES_THREAD:
    case TRACE_EXT_REFERENCES_WORDS:
    case TRACE_EXT_REFERENCES_END:
        good = heap_snapshots_add(&scan->snapshots, record, extension.when, &bad);
        if (bad)
            note_short_record(scan, extension.type, offset);
        return good;
    case TRACE_EXT_RESIDENT:
        scan->moments++;
        return true;
    case TRACE_EXT_MAPPING:
        note_library(scan, &extension);
        return true;
    case TRACE_EXT_NO_RESIDENT:
        scan->no_resident = extension.reason;
        return true;
    case TRACE_EXT_RECORDER_MEMORY:
        return note_own_memory(scan, &extension);
    default:
        scan->unknown_records += !trace_extended_is_known(extension.type);
        return true;
    }
}

static void note_damage(struct trace_scan *scan, uint64_t offset, uint64_t lost, const char *why)
{
    struct problem *problem =
        problems_add(&scan->problems, PROBLEM_DAMAGE, "%" PRIu64 " bytes lost: %s", lost, why);
    if (problem)
        problem->byte_offset = (int64_t)offset;
    scan->damaged_bytes += lost;
}

/* Reads the records from the cursor on. `begins`: it is at the chunk's begin. Returns why they
 * ended; TRACE_GET_RECORD: memory is exhausted. */
static enum trace_get scan_records(struct trace_scan *scan, struct trace_cursor *cursor,
                                   bool begins)
{
    struct trace_record record;
    enum trace_get got;
    bool good = !begins || note_segment(scan, cursor);
    uint32_t thread = 0;
    for (;;) {
        uint64_t offset = trace_cursor_offset(cursor);
        if (!good)
            return TRACE_GET_RECORD;
        if (cursor->thread != thread && !thread_possible(scan, cursor))
            return TRACE_GET_DAMAGED;
        thread = cursor->thread;
        got = trace_cursor_next(cursor, &record);
        if (got != TRACE_GET_RECORD)
            break;
        if (trace_thread_is_outside(thread) && record.kind != TRACE_EXTENDED) {
            cursor->at = cursor->bytes + (offset - cursor->slot->offset);
            return TRACE_GET_DAMAGED;
        }
        if (record.kind == TRACE_NODE)
            good = context_tree_add(&scan->tree, record.node.id, record.node.parent,
                                    record.node.frame, record.node.module, record.node.value);
        else if (record.kind == TRACE_EXTENDED)
            good = scan_extended(scan, cursor, &record, offset);
        else
            scan->events++;
    }
    /* The stamps before each SWITCH are lower, so the last one is the highest. */
    if (cursor->coding.ticks > scan->last_ticks)
        scan->last_ticks = cursor->coding.ticks;
    return got;
}

static bool scan_chunk(struct trace_scan *scan, struct trace_cursor *cursor)
{
    bool sum_good = trace_cursor_sum_good(cursor);
    enum trace_get got = scan_records(scan, cursor, true);
    uint64_t lost = trace_cursor_lost(cursor);
    if (!sum_good)
        note_damage(scan, cursor->slot->offset, cursor->slot->commit,
                    "a sealed chunk's sum is wrong");
    else if (lost != 0)
        note_damage(scan, trace_cursor_offset(cursor), lost,
                    thread_possible(scan, cursor) ? trace_cursor_explain(cursor, got)
                                                  : "the chunk's thread number is impossible");
    return got != TRACE_GET_RECORD;
}

static bool read_growing(void *context, struct trace_cursor *cursor, bool begins)
{
    return scan_records(context, cursor, begins) != TRACE_GET_RECORD;
}

/* By now the parents of all nodes that the previous poll has seen are known. */
static bool end_poll(void *context, uint64_t *last_ticks)
{
    struct trace_scan *scan = context;
    bool good = context_tree_resolve_first(&scan->tree, scan->polled_nodes);
    scan->polled_nodes = scan->tree.count;
    *last_ticks = scan->last_ticks;
    return good;
}

struct trace_scanner trace_scan_growing(struct trace_scan *scan)
{
    return (struct trace_scanner){scan, read_growing, end_poll};
}

static void note_gaps(struct trace_scan *scan)
{
    for (size_t i = 0; i < scan->threads.count; i++) {
        const struct thread_row *thread = &scan->threads.rows[i];
        if (thread->segments == 0 || thread->last_sequence < thread->segments)
            continue;
        struct problem *problem = problems_add(&scan->problems, PROBLEM_MISSING_CHUNK,
                                               "%" PRIu32 " chunks or parts of one are missing",
                                               thread->last_sequence + 1 - thread->segments);
        if (problem)
            problem->thread = thread->number;
    }
}

/* Adds rows for modules that nodes name but whose record is in a lost part of the trace. The rows
 * have no file. They keep the addresses of two such modules apart. A real trace has few. */
static bool add_lost_modules(struct trace_scan *scan)
{
    enum { LOST_MODULES_MOST = 1000 };
    unsigned lost = 0;
    for (size_t i = 0; i < scan->tree.count && lost < LOST_MODULES_MOST; i++) {
        const struct context_node *node = &scan->tree.nodes[i];
        char name[64];
        if (node->module == 0 || node->frame > TRACE_FRAME_EXACT ||
            find_module(scan, node->module) != INDEX_NONE)
            continue;
        lost++;
        int length = snprintf(name, sizeof(name), "(lost module %" PRIu32 ")", node->module);
        struct trace_extension extension = {
            .module = node->module, .name = {name, (size_t)length}, .build_id = {"", 0}};
        if (!add_module(scan, &extension))
            return false;
    }
    return true;
}

bool trace_scan(struct trace_scan *scan, const struct trace_file *file,
                struct ingest_status *status)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    for (size_t i = 0; i < count; i++) {
        struct trace_cursor cursor;
        if (ingest_is_interrupted(scan->interrupted))
            return ingest_fail(status, INGEST_INTERRUPTED, "interrupted");
        if (slots[i].damage) {
            note_damage(scan, slots[i].offset, slots[i].lost, slots[i].damage);
            continue;
        }
        if (!trace_cursor_open(&cursor, file, &slots[i]))
            return ingest_fail_memory(status, "a chunk");
        bool good = scan_chunk(scan, &cursor);
        trace_cursor_close(&cursor);
        if (!good)
            return ingest_fail_memory(status, "the stacks, modules and threads of the trace");
    }
    note_gaps(scan);
    if (scan->moments > 0)
        note_linked(scan);
    if (scan->live < scan->promised_live)
        problems_add(&scan->problems, PROBLEM_DAMAGE,
                     "%" PRIu64 " of %" PRIu64 " blocks that were live at the beginning are lost",
                     scan->promised_live - scan->live, scan->promised_live);
    if (trace_file_missing_slots(file) != 0) {
        struct problem *problem = problems_add(
            &scan->problems, PROBLEM_MISSING_CHUNK,
            "the file is cut: %" PRIu64 " chunk slots are missing", trace_file_missing_slots(file));
        if (problem)
            problem->byte_offset = (int64_t)trace_file_size(file);
    }
    if (!context_tree_resolve(&scan->tree) || !add_lost_modules(scan) ||
        !add_linked_allocator(scan, file))
        return ingest_fail_memory(status, "the stacks of the trace");
    return true;
}

bool trace_scan_stopped(const struct trace_scan *scan, const struct trace_file_header *header)
{
    const bool reason = scan->ended && (scan->end_reason == TRACE_END_STOP ||
                                        scan->end_reason == TRACE_END_ROTATED);
    return header->state == TRACE_STATE_ENDED && (header->sealed || reason);
}

void trace_scan_free(struct trace_scan *scan)
{
    heap_snapshots_free(&scan->snapshots);
    free(scan->own);
    for (size_t i = 0; i < scan->module_count; i++) {
        FREE_ALL(scan->modules[i].path, scan->modules[i].build_id);
    }
    free(scan->modules);
    index_map_free(&scan->module_by_id);
    index_map_free(&scan->bare_by_pc);
    FREE_ALL(scan->bare_codes, scan->process.program, scan->process.exe, scan->process.directory,
             scan->process.host, scan->process.kernel, scan->process.boot_id,
             scan->process.arguments);
    for (size_t i = 0; i < scan->process.label_count; i++)
        free(scan->process.labels[i]);
    context_tree_free(&scan->tree);
    runtimes_free(&scan->runtimes);
    threads_free(&scan->threads);
    unrecorded_modules_free(&scan->unrecorded);
    program_suppressions_free(&scan->program_suppressions);
    problems_free(&scan->problems);
    *scan = (struct trace_scan){0};
}
