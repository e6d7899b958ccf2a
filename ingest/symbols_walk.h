/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entries of one unit in the order of the file, some times faster than by libdw: of an entry
 * only the shape is decoded, which its abbreviation gives once. What an entry says is then asked of
 * libdw.
 *
 * Order of calls: symbols_walk_begin(), symbols_walk_next() until it is false, symbols_walk_end().
 */
#ifndef MPROF_INGEST_SYMBOLS_WALK_H
#define MPROF_INGEST_SYMBOLS_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

struct symbols_walk;

struct symbols_walk_entry {
    Dwarf_Die die;
    int tag;
    size_t depth;   /* 0: stands in the unit's own entry */
    bool children;  /* those of depth + 1 come next */
    bool code;      /* says at which addresses */
    bool by_origin; /* its name and declaration are those of its abstract origin */
};

/* `unit` is the unit's own entry. NULL where it cannot be read or memory is exhausted. */
struct symbols_walk *symbols_walk_begin(const Dwarf_Die *unit);

/* The next entry; false at the unit's end, and at the first that cannot be read. */
bool symbols_walk_next(struct symbols_walk *walk, struct symbols_walk_entry *entry);

/* Whether symbols_walk_next() ended for lack of memory. */
bool symbols_walk_failed(const struct symbols_walk *walk);

void symbols_walk_end(struct symbols_walk *walk);

#endif
