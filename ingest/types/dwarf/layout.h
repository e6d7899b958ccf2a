/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the members of a record with their places, so that the gaps between them show.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_LAYOUT_H
#define MPROF_INGEST_TYPES_DWARF_LAYOUT_H

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/member.h"

/*
 * Calls `each` with `context` for every member and base class of `record` that has bytes in it, in
 * order of declaration, until it returns false. The layout owns names and types; they are valid
 * only during the call. It leaves out virtual base classes, whose place only the running program
 * knows. A type that is not a record has no members. Returns false if `each` did.
 */
bool types_layout_each(struct types_index *index, const struct types_type *record,
                       types_member_function *each, void *context);

#endif
