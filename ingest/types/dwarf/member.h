/* SPDX-License-Identifier: BSD-2-Clause */
/* A member of a record, as rules and writers see it. */
#ifndef MPROF_INGEST_TYPES_DWARF_MEMBER_H
#define MPROF_INGEST_TYPES_DWARF_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A member of a record, or a base class (without a name). A bit field has the bytes that it
 * touches.
 */
struct types_member {
    const char *name; /* NULL: a base class, or a record without a name */
    const char *type;
    uint64_t offset, size; /* bytes */
};

/* Returns false to stop. The data of `member` is valid only during the call. */
typedef bool types_member_function(void *context, const struct types_member *member);

#endif
