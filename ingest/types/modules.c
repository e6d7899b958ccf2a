/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/modules.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "ingest/symbols/file.h"
#include "ingest/types/dwarf/globals.h"
#include "ingest/types/dwarf/index.h"
#include "ingest/types/flow/data_symbols.h"
#include "ingest/types/flow/folded.h"

static time_t built_time(const struct symbols_file *file)
{
    struct stat information;
    const char *path = NULL;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &path, NULL);
    return !path || stat(path, &information) != 0 ? 0 : information.st_mtime;
}

const struct types_module *types_modules_find(const struct types_modules *modules, uint32_t module)
{
    const uint64_t hash = hash_combine(hash_seed(), module);
    size_t probe = index_map_begin(&modules->by_module, hash);
    uint32_t index;
    while ((index = index_map_next(&modules->by_module, hash, &probe)) != INDEX_NONE)
        if (modules->rows[index].module == module)
            return &modules->rows[index];
    return NULL;
}

const struct types_module *types_modules_of(struct types_modules *modules, uint32_t module,
                                            const struct symbols_file *file)
{
    static const struct types_module none = {.module = 0};
    const struct types_module *known = types_modules_find(modules, module);
    if (known)
        return known;
    if (!array_reserve(&modules->rows, &modules->capacity, modules->count + 1,
                       sizeof(*modules->rows)) ||
        !index_map_insert(&modules->by_module, hash_combine(hash_seed(), module),
                          (uint32_t)modules->count))
        return &none;
    struct types_module *added = &modules->rows[modules->count++];
    *added = (struct types_module){.module = module};
    if (file)
        added->data_symbols = types_data_symbols_new(file);
    if (file && file->dwarf) {
        added->built = built_time(file);
        added->index = types_index_new(file);
        added->globals = types_globals_new(file);
        added->folded = types_folded_new(file);
    }
    return added;
}

void types_modules_free(struct types_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        types_index_free(modules->rows[i].index);
        types_globals_free(modules->rows[i].globals);
        types_folded_free(modules->rows[i].folded);
        types_data_symbols_free(modules->rows[i].data_symbols);
    }
    free(modules->rows);
    index_map_free(&modules->by_module);
    *modules = (struct types_modules){0};
}
