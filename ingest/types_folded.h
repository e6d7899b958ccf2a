/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions may stand for others: gcc and some linkers keep one of several functions whose
 * code is the same, so that its name, and the types in it, may be somebody else's.
 *
 * How: gcc does so from -O2 on ("identical code folding", -fipa-icf), within one unit, or with
 * -flto in all of the program; the unit says in DW_AT_producer how it was compiled. The names that
 * were folded stay as symbols at one address, or as functions that only jump to the one that was
 * kept. Functions that were inlined before leave no such trace.
 */
#ifndef MPROF_INGEST_TYPES_FOLDED_H
#define MPROF_INGEST_TYPES_FOLDED_H

#include "ingest/symbols_file.h"

enum types_folding {
    TYPES_FOLDING_NONE,   /* none by the compiler */
    TYPES_FOLDING_UNIT,   /* of functions that only this unit can name */
    TYPES_FOLDING_PROGRAM /* of any */
};

/* By the compiler of the unit that holds `entry`. */
enum types_folding types_folding_of(Dwarf_Die *entry);

struct types_folded;

/* The shared functions of a module; NULL where memory is exhausted. */
struct types_folded *types_folded_new(const struct symbols_file *file);
void types_folded_free(struct types_folded *folded);

/*
 * True where the function that begins at `start` has several names, or another only jumps to it.
 * False for `folded` NULL.
 */
bool types_folded_at(const struct types_folded *folded, uint64_t start);

#endif
