/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types that a program names itself. A TYPE record holds the address of a variable, and the
 * symbol there names the type. The C++ headers have TYPE_IDENTIFIER<T>::mDummy for each type T,
 * which gives T. Any other variable is a tag with its own name.
 */
#pragma once

#include "ingest/symbols/symbols.h"

struct types_program_types;

/* Returns NULL only if memory is exhausted. `symbols` must live as long as the result. */
struct types_program_types *types_program_types_new(struct symbols *symbols);
void types_program_types_free(struct types_program_types *tags);

/*
 * Returns the name of the type whose variable lies at the ELF address `address` of module `id`, in
 * the one spelling of spelling.h and without const. It lives until symbols_free(). NULL if
 * the module's symbol tables have no variable there, or memory is exhausted.
 */
const char *types_program_types_name(struct types_program_types *tags, uint32_t id,
                                     uint64_t address);
