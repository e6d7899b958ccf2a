/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places where libdwfl and libdw look for separate debug files: a superset of what
 * dwfl_standard_find_debuginfo() does with the path of folders in file.c.
 */
#ifndef MPROF_INGEST_SYMBOLS_PLACES_H
#define MPROF_INGEST_SYMBOLS_PLACES_H

#include <elfutils/libdwfl.h>

#include "ingest/cache/depends.h"
#include "ingest/symbols/symbols.h"

/* Adds the places for the debug file of `module`, whose own file is `path`. `link` is the name that
 * it gives, or NULL. */
void symbols_places_add(const struct symbols_options *options, struct cache_depends *depends,
                        Dwfl_Module *module, const char *path, const char *link);

/* Adds the places for the file that dwz made of what several debug files have in common. */
void symbols_places_add_common(const struct symbols_options *options, struct cache_depends *depends,
                               Dwfl_Module *module, Dwarf *dwarf);

#endif
