/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells which functions may stand for others. gcc and some linkers keep only one of several
 * functions with the same code, so its name and the types in it may belong to another function.
 *
 * gcc does this from -O2 on ("identical code folding", -fipa-icf) within one unit, or with -flto in
 * the whole program. The unit's DW_AT_producer tells how it was compiled. The names of the folded
 * functions remain as symbols at one address, or as functions that only jump to the kept one.
 * Functions that were inlined before leave no such trace. */
#pragma once

#include <stdint.h>

#include "ingest/symbols/file.h"

enum types_folding {
    TYPES_FOLDING_NONE,   /* none by the compiler */
    TYPES_FOLDING_UNIT,   /* of functions that only this unit can name */
    TYPES_FOLDING_PROGRAM /* of all functions */
};

/* Tells how the compiler of the unit that holds `entry` folds functions. */
enum types_folding types_folding_of(Dwarf_Die *entry);

struct types_folded;

/* Finds the shared functions of a module. NULL if memory is exhausted. */
struct types_folded *types_folded_new(const struct symbols_file *file);
void types_folded_free(struct types_folded *folded);

/* Returns true if the function that begins at `start` has several names, or if another function
 * only jumps to it. False if `folded` is NULL. */
bool types_folded_at(const struct types_folded *folded, uint64_t start);

/* The variables of a module in its symbol tables, with their addresses. They include tables of
 * virtual functions and typeinfos. */

struct types_data_symbols;

/* Returns NULL if memory is exhausted. The first question reads the tables. */
struct types_data_symbols *types_data_symbols_new(const struct symbols_file *file);
void types_data_symbols_free(struct types_data_symbols *objects);

/* Returns the linker's name of the object that covers the ELF address. NULL: there is none, or
 * `objects` is NULL. */
const char *types_data_symbols_find(struct types_data_symbols *objects, uint64_t address);
