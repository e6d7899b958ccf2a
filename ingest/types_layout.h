/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a record is made of: its members with their places, so that what lies between them can be
 * seen.
 */
#ifndef MPROF_INGEST_TYPES_LAYOUT_H
#define MPROF_INGEST_TYPES_LAYOUT_H

#include "ingest/types.h"
#include "ingest/types_entries.h"

/*
 * Calls `each` with `context` for every member and base class of `record` that has bytes in it, in
 * order of declaration, until it returns false. Names and types belong to the layout and are gone
 * when `each` returns. A base class of virtual inheritance, whose place only the running program
 * knows, is left out; what is no record has no members. False where `each` said so.
 */
bool types_layout_each(struct types_index *index, const struct types_type *record,
                       types_member_function *each, void *context);

#endif
