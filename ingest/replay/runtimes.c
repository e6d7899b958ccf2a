/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/runtimes.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/trace_layout.h"

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

bool runtimes_add_name(struct runtimes *runtimes, const struct trace_extension *extension)
{
    if (find_name(runtimes, extension->module, extension->number) != INDEX_NONE)
        return true;
    if (!array_reserve(&runtimes->names, &runtimes->name_capacity, runtimes->name_count + 1,
                       sizeof(*runtimes->names)) ||
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

bool runtimes_add_kind(struct runtimes *runtimes, const struct trace_extension *extension)
{
    const uint64_t id = extension->block_kind;
    if (find_kind(runtimes, id) != INDEX_NONE)
        return true;
    if (!array_reserve(&runtimes->kinds, &runtimes->kind_capacity, runtimes->kind_count + 1,
                       sizeof(*runtimes->kinds)) ||
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

void runtimes_free(struct runtimes *runtimes)
{
    for (size_t i = 0; i < runtimes->name_count; i++) {
        free(runtimes->names[i].function);
        free(runtimes->names[i].file);
    }
    for (size_t i = 0; i < runtimes->kind_count; i++)
        free(runtimes->kinds[i].name);
    free(runtimes->names);
    free(runtimes->kinds);
    index_map_free(&runtimes->by_number);
    index_map_free(&runtimes->by_id);
    *runtimes = (struct runtimes){0};
}
