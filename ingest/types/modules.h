/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that the type rules read once about each module of the program. */
#ifndef MPROF_INGEST_TYPES_MODULES_H
#define MPROF_INGEST_TYPES_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "ingest/base/array.h"

struct symbols_file;
struct types_folded;
struct types_globals;
struct types_index;
struct types_data_symbols;

struct types_module {
    uint32_t module;                         /* the trace's id */
    struct types_index *index;               /* NULL: no DWARF */
    struct types_globals *globals;           /* NULL: no DWARF */
    struct types_folded *folded;             /* NULL: no DWARF */
    struct types_data_symbols *data_symbols; /* NULL: the module could not be opened */
    time_t built;                            /* time of the last change; 0: not known */
};

/* Empty if zero-initialized. */
struct types_modules {
    struct types_module *rows;
    size_t count, capacity;
    struct index_map by_module;
};

/* Returns the facts about a module, NULL if they were not read. Valid until the next one is read.
 */
const struct types_module *types_modules_find(const struct types_modules *modules, uint32_t module);

/*
 * Returns the facts about a module, which the first call reads. `file` is NULL if the module could
 * not be opened. Without memory the facts are empty. Valid until the next call.
 */
const struct types_module *types_modules_of(struct types_modules *modules, uint32_t module,
                                            const struct symbols_file *file);

/* Frees the rows and their contents. */
void types_modules_free(struct types_modules *modules);

#endif
