/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/import_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

void import_modules_free(struct import_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        free(modules->modules[i].path);
    FREE_ALL(modules->modules, modules->ranges);
    *modules = (struct import_modules){0};
}

void import_modules_clear(struct import_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        modules->modules[i].listed = false;
    modules->range_count = 0;
    modules->changed = true;
}

/* Moves a module to the end, where import_modules_range() looks for it. */
static void move_last(struct import_modules *modules, size_t index)
{
    const struct import_module module = modules->modules[index];
    const size_t last = modules->count - 1;
    modules->modules[index] = modules->modules[last];
    modules->modules[last] = module;
    for (size_t i = 0; i < modules->range_count; i++) {
        struct import_range *range = &modules->ranges[i];
        if (range->module == index || range->module == last)
            range->module = range->module == index ? (uint32_t)last : (uint32_t)index;
    }
}

bool import_modules_add(struct import_modules *modules, const char *path, uint64_t bias)
{
    modules->changed = true;
    for (size_t i = 0; i < modules->count; i++)
        if (modules->modules[i].bias == bias && strcmp(modules->modules[i].path, path) == 0) {
            modules->modules[i].listed = true;
            move_last(modules, i);
            return true;
        }
    if (modules->count == IMPORT_MODULES_MAX ||
        !ARRAY_RESERVE(modules->modules, modules->count, modules->capacity))
        return false;
    char *copy = strdup(path);
    if (!copy)
        return false;
    modules->modules[modules->count++] =
        (struct import_module){.path = copy, .bias = bias, .listed = true};
    return true;
}

bool import_modules_range(struct import_modules *modules, uint64_t address, uint64_t size)
{
    struct import_module *module = &modules->modules[modules->count - 1];
    const uint64_t start = module->bias + address, end = start + size;
    if (end <= start || start < module->bias)
        return true;
    if (modules->range_count == IMPORT_MODULES_MAX ||
        !ARRAY_RESERVE(modules->ranges, modules->range_count, modules->range_capacity))
        return false;
    if (module->end == 0 || start < module->start)
        module->start = start;
    if (end > module->end)
        module->end = end;
    modules->ranges[modules->range_count++] =
        (struct import_range){start, end, (uint32_t)(modules->count - 1)};
    return true;
}

/* Forgets the modules that are gone, and tells the ranges where the others are now. */
static bool drop_gone(struct import_modules *modules, struct trace_writer *writer)
{
    uint32_t *places = calloc(modules->count + 1, sizeof(*places));
    size_t kept = 0;
    bool good = places != NULL;
    for (size_t i = 0; good && i < modules->count; i++) {
        struct import_module *module = &modules->modules[i];
        if (!module->listed && module->id != 0)
            good = trace_writer_module_end(writer, module->id);
        places[i] = (uint32_t)kept;
        if (!module->listed)
            free(module->path);
        else if (kept++ != i)
            modules->modules[kept - 1] = *module;
        if (!module->listed || kept - 1 != i)
            module->path = NULL;
    }
    if (good)
        modules->count = kept;
    for (size_t i = 0; good && i < modules->range_count; i++)
        modules->ranges[i].module = places[modules->ranges[i].module];
    free(places);
    return good;
}

bool import_modules_settle(struct import_modules *modules, struct trace_writer *writer)
{
    if (!modules->changed)
        return true;
    bool good = drop_gone(modules, writer);
    for (size_t i = 0; good && i < modules->count; i++) {
        struct import_module *module = &modules->modules[i];
        if (module->id != 0)
            continue;
        module->id = ++modules->last_id;
        good = trace_writer_module(writer, module->id, module->path, module->bias, module->start,
                                   module->end);
    }
    if (modules->range_count > 0)
        qsort(modules->ranges, modules->range_count, sizeof(*modules->ranges), compare_uint64);
    modules->changed = false;
    return good;
}

const struct import_module *import_modules_find(const struct import_modules *modules,
                                                uint64_t address)
{
    size_t low = 0;
    ARRAY_BISECT(low, modules->range_count, modules->ranges[middle].start <= address);
    if (low == 0 || address >= modules->ranges[low - 1].end)
        return NULL;
    return &modules->modules[modules->ranges[low - 1].module];
}

/* ---- import names -------------------------------------------------------------------------- */

struct address {
    uint64_t address;
    size_t first; /* of its frames */
    uint32_t module, count;
};

struct import_names {
    char **strings;
    size_t string_count, string_capacity;
    struct address *addresses;
    size_t address_count, address_capacity;
    struct import_frame *frames;
    size_t frame_count, frame_capacity;
    struct index_map by_address;
};

struct import_names *import_names_new(void)
{
    return calloc(1, sizeof(struct import_names));
}

void import_names_free(struct import_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->string_count; i++)
        free(names->strings[i]);
    FREE_ALL(names->strings, names->addresses, names->frames);
    index_map_free(&names->by_address);
    free(names);
}

bool import_names_string(struct import_names *names, const char *text, size_t length)
{
    if (names->string_count >= UINT32_MAX - 1 ||
        !ARRAY_RESERVE(names->strings, names->string_count, names->string_capacity))
        return false;
    char *copy = strndup(text, length);
    if (copy)
        names->strings[names->string_count++] = copy;
    return copy != NULL;
}

size_t import_names_strings(const struct import_names *names)
{
    return names->string_count;
}

static uint64_t hash_of(uint64_t address)
{
    return hash_combine(hash_seed(), address);
}

static const struct address *find(const struct import_names *names, uint64_t address)
{
    const uint64_t hash = hash_of(address);
    uint32_t index;
    for (size_t probe = index_map_begin(&names->by_address, hash);
         (index = index_map_next(&names->by_address, hash, &probe)) != INDEX_NONE;)
        if (names->addresses[index].address == address)
            return &names->addresses[index];
    return NULL;
}

bool import_names_address(struct import_names *names, uint64_t address, uint32_t module,
                          const struct import_frame *frames, size_t count)
{
    const size_t index = names->address_count;
    if (index >= UINT32_MAX - 1 ||
        !ARRAY_RESERVE(names->addresses, index, names->address_capacity) ||
        !array_reserve(&names->frames, &names->frame_capacity, names->frame_count + count,
                       sizeof(*names->frames)))
        return false;
    if (!find(names, address) &&
        !index_map_insert(&names->by_address, hash_of(address), (uint32_t)index))
        return false;
    names->addresses[index] =
        (struct address){address, names->frame_count, module, (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        names->frames[names->frame_count++] = frames[i];
    names->address_count++;
    return true;
}

bool import_names_find(const struct import_names *names, uint64_t number, uint64_t *address)
{
    if (number == 0 || number > names->address_count)
        return false;
    *address = names->addresses[number - 1].address;
    return true;
}

static const char *text_of(const struct import_names *names, uint32_t number)
{
    return number != 0 && number <= names->string_count ? names->strings[number - 1] : NULL;
}

/* Writes "MODULE+0xADDRESS", the name of code without a symbol. */
static const char *nameless(const struct import_names *names, uint32_t module, uint64_t pc,
                            struct symbols *symbols)
{
    const char *path = text_of(names, module), *base = path ? strrchr(path, '/') : NULL;
    char text[512];
    snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, base ? base + 1 : path ? path : "?", pc);
    return symbols_keep(symbols, text);
}

static size_t answer(void *context, struct symbols *symbols, uint64_t pc,
                     struct symbols_frame *frames)
{
    const struct import_names *names = context;
    const struct address *address = find(names, pc);
    if (!address)
        return 0;
    const size_t count = address->count > 0 ? address->count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct import_frame none = {0}, *from = address->count > 0
                                                          ? &names->frames[address->first + i]
                                                          : &none;
        const char *function = text_of(names, from->function), *file = text_of(names, from->file);
        frames[i] = (struct symbols_frame){
            .function = function ? symbols_keep(symbols, function)
                                 : nameless(names, address->module, pc, symbols),
            .file = file ? symbols_keep(symbols, file) : NULL,
            .line = file ? from->line : 0,
            .inlined = i + 1 < count,
        };
    }
    return count;
}

struct symbols_given import_names_given(struct import_names *names)
{
    return (struct symbols_given){answer, names};
}
