/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of a module in its symbol tables, with their addresses. They include tables of
 * virtual functions and typeinfos.
 */
#ifndef MPROF_INGEST_TYPES_OBJECTS_H
#define MPROF_INGEST_TYPES_OBJECTS_H

#include <stdint.h>

#include "ingest/symbols/file.h"

struct types_objects;

/* Returns NULL if memory is exhausted. The first question reads the tables. */
struct types_objects *types_objects_new(const struct symbols_file *file);
void types_objects_free(struct types_objects *objects);

/*
 * Returns the linker's name of the object that covers the ELF address. NULL: there is none, or
 * `objects` is NULL.
 */
const char *types_objects_find(struct types_objects *objects, uint64_t address);

#endif
