/* SPDX-License-Identifier: BSD-2-Clause */
/* The variables of modules by their addresses: the objects of .symtab (also that of the separate
 * debug file) or else .dynsym. */
#pragma once

#include "ingest/symbols/symbols.h"

struct symbols_variables;

/* `symbols` must live as long. Returns NULL if memory is exhausted. */
struct symbols_variables *symbols_variables_new(struct symbols *symbols);
void symbols_variables_free(struct symbols_variables *variables);

/* Finds the variable of module `id` that covers the ELF address. Its name is demangled, and lives
 * as long as the symbolizer. Returns false if there is none, or memory is exhausted. */
bool symbols_variables_find(struct symbols_variables *variables, uint32_t id, uint64_t address,
                            struct symbols_place *place);

/* Gives the next variable of which each thread has its own, in ascending order. `id` is the program
 * itself. The place is relative to the thread pointer, modulo 2^64 (x86-64, variant II). `*at` is
 * the position, at first 0. Returns false if there are no more, or memory is exhausted. */
bool symbols_variables_local(struct symbols_variables *variables, uint32_t id, size_t *at,
                             struct symbols_place *place);

/* Returns the linkage name of the variable that begins at the ELF address: of several one that
 * `prefer` takes, otherwise the shortest. It lives as long as the symbolizer. NULL: there is none.
 */
const char *symbols_variables_name(struct symbols_variables *variables, uint32_t id,
                                   uint64_t address, bool (*prefer)(const char *name));
