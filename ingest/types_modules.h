/* SPDX-License-Identifier: BSD-2-Clause */
/* What the type rules read once about each module of the program. */
#ifndef MPROF_INGEST_TYPES_MODULES_H
#define MPROF_INGEST_TYPES_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct symbols_file;
struct types_folded;
struct types_globals;
struct types_index;
struct types_objects;

struct types_module {
    uint32_t module;               /* the trace's id */
    struct types_index *index;     /* NULL: no DWARF */
    struct types_globals *globals; /* NULL: no DWARF */
    struct types_folded *folded;   /* NULL: no DWARF */
    struct types_objects *objects; /* NULL: the module could not be opened */
    time_t built;                  /* 0: not known */
};

/* Zero-initialised: none. */
struct types_modules {
    struct types_module *rows;
    size_t count, capacity;
};

/*
 * Returns what is known about a module, and reads it at the first call; `file` is NULL where it
 * could not be opened. Nothing is known where memory is exhausted. It holds until the next call.
 */
const struct types_module *types_modules_of(struct types_modules *modules, uint32_t module,
                                            const struct symbols_file *file);

/* Frees what the rows hold. */
void types_modules_free(struct types_modules *modules);

#endif
