/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holes of the memory grid: runs of cells in which nothing is in use, selected or not. What is
 * smaller than a cell is no hole, so the zoom decides how small one may be.
 */
#ifndef MPROF_TUI_MEMORY_HOLES_H
#define MPROF_TUI_MEMORY_HOLES_H

#include "tui/memory_grid.h"

/*
 * Moves `address` to the first cell of the next hole above it, or of the nearest one below
 * it, leaving the hole it stands in. False where there is none (or `exploration` was told of
 * an error).
 */
bool memory_hole_above(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address);
bool memory_hole_below(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address);
/* How the region at `start` is used, in cells of at least `least` bytes. */
struct memory_use memory_use_load(struct exploration *exploration,
                                  const struct session_region *region, uint64_t least);

#endif
