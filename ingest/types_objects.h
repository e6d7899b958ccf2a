/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of a module by its symbol tables, with their addresses: tables of virtual functions
 * and typeinfos among them.
 */
#ifndef MPROF_INGEST_TYPES_OBJECTS_H
#define MPROF_INGEST_TYPES_OBJECTS_H

#include <stdint.h>

#include "ingest/symbols_file.h"

struct types_objects;

/* The tables are read at the first question. NULL where memory is exhausted. */
struct types_objects *types_objects_new(const struct symbols_file *file);
void types_objects_free(struct types_objects *objects);

/* The name of the object that covers the ELF address, as the linker knows it; NULL: none does, or
 * `objects` is NULL. */
const char *types_objects_find(struct types_objects *objects, uint64_t address);

#endif
