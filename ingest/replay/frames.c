/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/frames.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/replay/runtimes.h"
#include "ingest/symbols/lisp.h"
#include "schemas/trace_layout.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns the row of `path`, or FRAMES_NONE for NULL. Clears *good if memory is exhausted. */
static uint32_t find_source_file(struct frames *frames, const char *path, bool *good)
{
    uint64_t hash = hash_text(path);
    size_t probe = index_map_begin(&frames->by_source_file, hash);
    uint32_t index;
    if (!path || *path == '\0')
        return FRAMES_NONE;
    while ((index = index_map_next(&frames->by_source_file, hash, &probe)) != INDEX_NONE)
        if (strcmp(frames->source_files[index], path) == 0)
            return index;
    if (!array_reserve(&frames->source_files, &frames->source_file_capacity,
                       frames->source_file_count + 1, sizeof(*frames->source_files)) ||
        !index_map_insert(&frames->by_source_file, hash, (uint32_t)frames->source_file_count)) {
        *good = false;
        return FRAMES_NONE;
    }
    frames->source_files[frames->source_file_count] = path;
    return (uint32_t)frames->source_file_count++;
}

/*
 * Returns the row of a function. Functions of a module are the same if names and the place of
 * declaration agree. So static functions of one name in two files are two, and all inlined copies
 * of a function are one.
 */
static uint32_t find_function(struct frames *frames, uint32_t module,
                              const struct symbols_frame *symbol, bool *good)
{
    uint32_t file = find_source_file(frames, symbol->decl_file, good);
    uint64_t hash = hash_combine(hash_text(symbol->function), (uint64_t)module << 32 | file);
    hash = hash_combine(hash ^ hash_text(symbol->linkage_name), symbol->decl_line);
    size_t probe = index_map_begin(&frames->by_function, hash);
    uint32_t index;
    while ((index = index_map_next(&frames->by_function, hash, &probe)) != INDEX_NONE) {
        const struct function_row *known = &frames->functions[index];
        if (known->module == module && known->source_file == file &&
            known->line == symbol->decl_line && same_text(known->name, symbol->function) &&
            same_text(known->linkage_name, symbol->linkage_name))
            return index;
    }
    if (!*good ||
        !array_reserve(&frames->functions, &frames->function_capacity, frames->function_count + 1,
                       sizeof(*frames->functions)) ||
        !index_map_insert(&frames->by_function, hash, (uint32_t)frames->function_count)) {
        *good = false;
        return FRAMES_NONE;
    }
    frames->functions[frames->function_count] =
        (struct function_row){.name = symbol->function,
                              .linkage_name = symbol->linkage_name,
                              .module = module,
                              .source_file = file,
                              .line = symbol->decl_line,
                              .role = call_site_role(symbol->function),
                              .operator_new = call_site_operator(symbol->function)};
    return (uint32_t)frames->function_count++;
}

/* Notes where the code of the function begins that is not inlined into another one. */
static void note_start(struct function_row *function, const struct symbols_frame *symbol)
{
    const uint64_t start = symbol->inlined ? symbol->alone : symbol->start;
    if (start != 0 && (function->start == 0 || start < function->start))
        function->start = start;
}

static void make_wrapper(struct function_row *function)
{
    if (function->role == ROLE_NONE && !same_text(function->name, "main"))
        function->role = ROLE_WRAPPER;
}

/* Fills the symbol of a function of a runtime. */
static void name_of_runtime(struct frames *frames, const struct runtime_name *name, uint64_t pc,
                            struct symbols_frame *symbol)
{
    const bool known = name && name->function[0];
    const uint32_t line = (uint32_t)(pc & TRACE_RUNTIME_LINE_MAX);
    const char *file = name && name->file ? symbols_keep(frames->symbols, name->file) : NULL;
    *symbol = (struct symbols_frame){
        .function = symbols_keep(frames->symbols, known ? name->function : "(unnamed)"),
        .file = file,
        .line = line,
        .decl_file = file,
        .decl_line = name ? name->line : 0,
    };
}

/* Gives the function that ECL's compiler has made its Lisp name. Returns whether it is one. */
static bool name_of_lisp(struct frames *frames, uint32_t module, struct symbols_frame *symbol)
{
    char name[512];
    if (!symbols_lisp_is_candidate(symbol->function))
        return false;
    if (frames->last_lisp.module != module ||
        !same_text(frames->last_lisp.function, symbol->function)) {
        const struct symbols_file *file = symbols_module_file(frames->symbols, module);
        const bool known = file && symbols_lisp_name(file, symbol->function, name, sizeof(name));
        frames->last_lisp.module = module;
        frames->last_lisp.function = symbol->function;
        frames->last_lisp.name = known ? symbols_keep(frames->symbols, name) : NULL;
    }
    if (!frames->last_lisp.name)
        return false;
    symbol->linkage_name = symbol->function;
    symbol->function = frames->last_lisp.name;
    return true;
}

static bool add_range(struct frames *frames, uint64_t hash, uint32_t module,
                      uint32_t function_module, uint64_t pc, const struct runtime_name *name,
                      bool runtime)
{
    struct symbols_frame symbols[SYMBOLS_FRAMES_MAX];
    size_t count = 1;
    if (runtime)
        name_of_runtime(frames, name, pc, symbols);
    else
        count = symbols_lookup(frames->symbols, module, pc, symbols);
    const bool lisp = !runtime && name_of_lisp(frames, module, &symbols[count - 1]);
    /* Calls of mprof.h are inlined. They are not frames, as malloc's own are not, and their caller
     * is an allocator. */
    size_t entry = count > 1 && symbols[0].inlined && call_site_is_report(symbols[0].function);
    bool good = array_reserve(&frames->ranges, &frames->range_capacity, frames->range_count + 1,
                              sizeof(*frames->ranges)) &&
                array_reserve(&frames->rows, &frames->row_capacity, frames->row_count + count,
                              sizeof(*frames->rows)) &&
                index_map_insert(&frames->by_pc, hash, (uint32_t)frames->range_count);
    if (!good)
        return false;
    frames->ranges[frames->range_count++] =
        (struct frame_range){(uint32_t)frames->row_count, (uint32_t)(count - entry)};
    for (size_t i = entry; i < count; i++) {
        struct frame_row *row = &frames->rows[frames->row_count++];
        row->pc = pc;
        row->module = module;
        row->line = symbols[i].line;
        row->inlined = symbols[i].inlined;
        row->source_file = find_source_file(frames, symbols[i].file, &good);
        row->function = find_function(frames, function_module, &symbols[i], &good);
        if (!good)
            break;
        note_start(&frames->functions[row->function], &symbols[i]);
        if (runtime || (lisp && i == count - 1))
            frames->functions[row->function].role = ROLE_RUNTIME;
        if (entry == 1 && i == 1)
            make_wrapper(&frames->functions[row->function]);
    }
    return good;
}

static struct frame_range find_range(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name, bool runtime)
{
    uint64_t hash = hash_combine(hash_combine(hash_seed(), pc), module);
    size_t probe = index_map_begin(&frames->by_pc, hash);
    uint32_t index;
    while ((index = index_map_next(&frames->by_pc, hash, &probe)) != INDEX_NONE) {
        const struct frame_row *row = &frames->rows[frames->ranges[index].first];
        if (row->pc == pc && row->module == module)
            return frames->ranges[index];
    }
    if (!add_range(frames, hash, module, function_module, pc, name, runtime))
        return (struct frame_range){0, 0};
    return frames->ranges[frames->range_count - 1];
}

struct frame_range frames_at(struct frames *frames, uint32_t module, uint32_t function_module,
                             uint64_t pc)
{
    return find_range(frames, module, function_module, pc, NULL, false);
}

struct frame_range frames_of_runtime(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name)
{
    return find_range(frames, module, function_module, pc, name, true);
}

void frames_free(struct frames *frames)
{
    free(frames->rows);
    free(frames->functions);
    free(frames->source_files);
    free(frames->ranges);
    index_map_free(&frames->by_pc);
    index_map_free(&frames->by_function);
    index_map_free(&frames->by_source_file);
    *frames = (struct frames){.symbols = frames->symbols};
}
