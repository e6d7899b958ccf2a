/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of one module that have a fixed address, by that address.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_GLOBALS_H
#define MPROF_INGEST_TYPES_DWARF_GLOBALS_H

#include "ingest/types/dwarf/entries.h"

struct types_globals;

/* Returns NULL if memory is exhausted. The first types_globals_find() reads the variables. */
struct types_globals *types_globals_new(const struct symbols_file *file);
void types_globals_free(struct types_globals *globals);

/* Finds the variable that covers `address`, and the offset into it. Returns false if none does. */
bool types_globals_find(struct types_globals *globals, struct types_index *index, uint64_t address,
                        Dwarf_Die *variable, uint64_t *offset);

#endif
