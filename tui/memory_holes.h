/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds holes of the memory grid: runs of cells in which nothing is in use, selected or not. A gap
 * smaller than a cell is not a hole, so the zoom decides the smallest hole.
 */
#ifndef MPROF_TUI_MEMORY_HOLES_H
#define MPROF_TUI_MEMORY_HOLES_H

#include "tui/memory_grid.h"

/*
 * Move `address` to the first cell of the nearest hole above or below it, not of the hole that it
 * lies in. Return false if there is none, or after an error that `exploration` shows.
 */
bool memory_hole_above(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address);
bool memory_hole_below(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address);
/* Counts the use of a region, in cells of at least `least` bytes. */
struct memory_use memory_use_load(struct exploration *exploration,
                                  const struct session_region *region, uint64_t least);

#endif
