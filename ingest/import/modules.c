/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/import/modules.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

void import_modules_free(struct import_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        free(modules->modules[i].path);
    free(modules->modules);
    free(modules->ranges);
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
        !array_reserve(&modules->modules, &modules->capacity, modules->count + 1,
                       sizeof(*modules->modules)))
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
        !array_reserve(&modules->ranges, &modules->range_capacity, modules->range_count + 1,
                       sizeof(*modules->ranges)))
        return false;
    if (module->end == 0 || start < module->start)
        module->start = start;
    if (end > module->end)
        module->end = end;
    modules->ranges[modules->range_count++] =
        (struct import_range){start, end, (uint32_t)(modules->count - 1)};
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct import_range *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
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
        qsort(modules->ranges, modules->range_count, sizeof(*modules->ranges), by_start);
    modules->changed = false;
    return good;
}

const struct import_module *import_modules_find(const struct import_modules *modules,
                                                uint64_t address)
{
    size_t low = 0, high = modules->range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (modules->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= modules->ranges[low - 1].end)
        return NULL;
    return &modules->modules[modules->ranges[low - 1].module];
}
