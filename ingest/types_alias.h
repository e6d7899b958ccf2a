/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Typedefs that a programmer knows a record by better than by its tag: PyObject for
 * `struct _object`, robj for `typedef struct redisObject { … } robj`.
 *
 * A typedef of the record itself at file scope is such a name where it is declared in the same file
 * as the record, or the tag begins with an underscore. Where one typedef repeats the tag, the tag
 * is the name; of several the shortest counts, and of these the first by alphabet, so that
 * compilers that write them in another order give the same. In C++ a class is called by its own
 * name, and only tags that begin with an underscore have typedefs.
 */
#ifndef MPROF_INGEST_TYPES_ALIAS_H
#define MPROF_INGEST_TYPES_ALIAS_H

#include "ingest/types_index.h"

struct types_aliases;

/* NULL where memory is exhausted. */
struct types_aliases *types_aliases_new(void);
void types_aliases_free(struct types_aliases *aliases);

/*
 * The typedef's name of the record `die`, in libdw's memory; NULL: its tag is its name. All units
 * of C are read at the first question about a record of C.
 */
const char *types_alias(struct types_aliases *aliases, struct types_index *index, Dwarf_Die *die);

#endif
