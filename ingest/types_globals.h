/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of one module that have an address of their own, by that address.
 */
#ifndef MPROF_INGEST_TYPES_GLOBALS_H
#define MPROF_INGEST_TYPES_GLOBALS_H

#include "ingest/types_entries.h"

struct types_globals;

/* NULL where memory is exhausted. Read at the first types_globals_find(). */
struct types_globals *types_globals_new(const struct symbols_file *file);
void types_globals_free(struct types_globals *globals);

/* The variable that covers `address`, and how far into it that is. False where none does. */
bool types_globals_find(struct types_globals *globals, struct types_index *index, uint64_t address,
                        Dwarf_Die *variable, uint64_t *offset);

#endif
