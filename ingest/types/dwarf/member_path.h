/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way from an object to the standard container inside it: CellBuffer, its member `substance` of
 * class SplitVector<char>, whose member `body` is a std::vector<char>.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_MEMBER_PATH_H
#define MPROF_INGEST_TYPES_DWARF_MEMBER_PATH_H

#include "ingest/types/dwarf/entries.h"

#define TYPES_MEMBER_PATH_MAX 16

/* One step: the class that declares the member, which may be a base class of the one before. */
struct types_member_step {
    struct types_type holder;
    const char *member; /* in libdw's memory */
};

struct types_member_path {
    struct types_member_step steps[TYPES_MEMBER_PATH_MAX]; /* outermost first */
    size_t count;
};

/*
 * Finds the members that cover `offset` in `object`, down to one of class `target` that begins
 * there. NULL: down to the first whose class belongs to the standard library. An array counts as
 * its elements. Without steps the object itself is such. Returns false if there is none, or a union
 * is on the way.
 */
bool types_member_path(struct types_index *index, const struct types_type *object, uint64_t offset,
                       const struct types_type *target, struct types_member_path *path);

/* Returns true if the type is a class of the C++ standard library. */
bool types_is_standard_class(struct types_index *index, const struct types_type *type);

#endif
