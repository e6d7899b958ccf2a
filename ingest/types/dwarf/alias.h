/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Typedefs by which a programmer knows a record better than by its tag: PyObject for `struct
 * _object`, robj for `typedef struct redisObject { … } robj`.
 *
 * A typedef of the record at file scope is such a name if it is declared in the same file as the
 * record, or if the tag begins with an underscore. If one typedef repeats the tag, the tag is the
 * name. The shortest of several typedefs wins, and of these the first in the alphabet, so the
 * result does not depend on the order in which a compiler writes them. A C++ class keeps its own
 * name, unless its tag begins with an underscore.
 */
#ifndef MPROF_INGEST_TYPES_DWARF_ALIAS_H
#define MPROF_INGEST_TYPES_DWARF_ALIAS_H

#include "ingest/types/dwarf/index.h"

struct types_aliases;

/* Returns NULL if memory is exhausted. */
struct types_aliases *types_aliases_new(void);
void types_aliases_free(struct types_aliases *aliases);

/*
 * Returns the typedef that names the record `die`, in libdw's memory, or NULL if its tag is its
 * name. The first question about a record in C reads all units in C.
 */
const char *types_alias(struct types_aliases *aliases, struct types_index *index, Dwarf_Die *die);

#endif
