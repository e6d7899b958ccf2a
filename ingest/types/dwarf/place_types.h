/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The declared type of a place (a register, a stack slot or a global variable), as the debug
 * information gives it for one address in a function's code.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_PLACE_TYPES_H
#define MPROF_INGEST_TYPES_DWARF_PLACE_TYPES_H

#include "ingest/types/dwarf/globals.h"
#include "ingest/types/dwarf/locals.h"

struct types_place_types {
    const struct types_site *site;
    struct types_locals locals;
};

/*
 * All return false if no known variable is there at `pc`. `type` is that of the variable, or of its
 * member at the place. Only registers that hold the plain value count.
 */
bool types_place_register(const struct types_place_types *places, uint64_t pc, uint8_t number,
                          struct types_type *type);
/* `offset` is from the canonical frame address. */
bool types_place_stack(const struct types_place_types *places, uint64_t pc, int64_t offset,
                       struct types_type *type);
bool types_place_global(const struct types_place_types *places, uint64_t address,
                        struct types_type *type);

/* Finds the type of the value in `local`. Returns false if it is not known. */
bool types_place_of(const struct types_place_types *places, const struct types_local *local,
                    struct types_type *type);

#endif
