/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of C++ functions that have no linkage name (local to a function or an unnamed namespace,
 * lambdas, where they are only inlined): composed of the entries that they stand in.
 */
#ifndef MPROF_INGEST_SYMBOLS_QUALIFIED_H
#define MPROF_INGEST_SYMBOLS_QUALIFIED_H

#include "ingest/symbols_strings.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Names found so far. All zero is the empty memo. */
struct symbols_qualified {
    struct symbols_qualified_name *names;
    size_t count, capacity;
};

/* Whether the unit (its entry) is of C++: elsewhere the bare name is the name. */
bool symbols_qualified_language(Dwarf_Die *unit);

/*
 * "shop::fill(int)::Local::grab" of the function or inlined call `die` whose own name is `name`,
 * kept in `strings`; parameters are known only of functions around it. `name` itself where it
 * stands in nothing, or memory is exhausted.
 */
const char *symbols_qualified_find(struct symbols_qualified *memo, struct symbols_strings *strings,
                                   Dwarf_Die *die, const char *name);

void symbols_qualified_free(struct symbols_qualified *memo);

#endif
