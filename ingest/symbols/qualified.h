/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of C++ functions that have no linkage name: functions that are local to a function or an
 * unnamed namespace, and lambdas that are only inlined. The name is composed of the entries around
 * the function.
 */
#ifndef MPROF_INGEST_SYMBOLS_QUALIFIED_H
#define MPROF_INGEST_SYMBOLS_QUALIFIED_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "ingest/symbols/strings.h"

/* The names found so far. All-zero is empty. */
struct symbols_qualified {
    struct symbols_qualified_name *names;
    size_t count, capacity;
};

/* Returns true if the unit (its entry) is C++. In other languages the bare name is the full name.
 */
bool symbols_qualified_language(Dwarf_Die *unit);

/*
 * Returns a name such as "shop::fill(int)::Local::grab" for the function or inlined call `die`,
 * whose own name is `name`. `strings` keeps it. Parameters are known only for the functions around
 * it. Returns `name` itself if nothing encloses it or memory is exhausted.
 */
const char *symbols_qualified_find(struct symbols_qualified *memo, struct symbols_strings *strings,
                                   Dwarf_Die *die, const char *name);

void symbols_qualified_free(struct symbols_qualified *memo);

#endif
