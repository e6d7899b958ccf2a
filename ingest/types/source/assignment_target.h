/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the variable or member to which the source statement assigns the result of its call, and
 * the type to which it is declared to point: "table->items = (struct item *)allocate(size)".
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_ASSIGNMENT_TARGET_H
#define MPROF_INGEST_TYPES_SOURCE_ASSIGNMENT_TARGET_H

#include "ingest/types/dwarf/site.h"

/*
 * Finds the type that the target of the one call in `text` points to. `callee` is the name of the
 * allocating function, or NULL if it is not known. If exactly one call has that name, the statement
 * may contain other calls. If none has it, as with a macro, there must be only one call. Returns
 * false if there is no target, or several.
 */
bool types_assignment_target(const struct types_site *site, const char *text, const char *callee,
                             struct types_type *pointee);

/* Returns true if that call asks for a number of bytes: "65536", "4 * PAGE", but no sizeof or
 * variable. */
bool types_assignment_target_fixed_size(const char *text, const char *callee);

#endif
