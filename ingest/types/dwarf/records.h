/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records that answers named, kept so that their members can be listed later with their places
 * and the gaps between them.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_RECORDS_H
#define MPROF_INGEST_TYPES_DWARF_RECORDS_H

#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/member.h"

struct types_records;

/* Returns NULL if memory is exhausted. */
struct types_records *types_records_new(void);
void types_records_free(struct types_records *records);

/*
 * Keeps `type` under `name`, which must live as long as the list, and its size, unless one is there
 * already or it is not a record. `index` must outlive the list. Without memory nothing is kept.
 */
void types_records_add(struct types_records *records, const char *name, struct types_index *index,
                       const struct types_type *type);

/*
 * Calls `each` with `context` for every member and base class of the kept record that has bytes in
 * it, in order of declaration, until it returns false. Names and types are valid only during the
 * call. It leaves out virtual base classes, whose place only the running program knows. Without
 * such a record there are no members. Returns false if `each` did.
 */
bool types_records_members(const struct types_records *records, const char *name, uint64_t size,
                           types_member_function *each, void *context);

#endif
