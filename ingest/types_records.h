/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records that answers named, so that their members can be told later.
 */
#ifndef MPROF_INGEST_TYPES_RECORDS_H
#define MPROF_INGEST_TYPES_RECORDS_H

#include "ingest/types.h"
#include "ingest/types_entries.h"

struct types_records;

/* NULL where memory is exhausted. */
struct types_records *types_records_new(void);
void types_records_free(struct types_records *records);

/*
 * Keeps `type` under `name`, which must live as long, and its size, unless there is one already
 * or it is no record. `index` must outlive it. Where memory is exhausted it is not kept.
 */
void types_records_add(struct types_records *records, const char *name, struct types_index *index,
                       const struct types_type *type);

/* types_members() (types.h) of what was kept. */
bool types_records_members(const struct types_records *records, const char *name, uint64_t size,
                           types_member_function *each, void *context);

#endif
