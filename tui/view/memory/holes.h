/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds holes of the memory grid: runs of cells in which nothing is in use, selected or not. A gap
 * smaller than a cell is not a hole, so the zoom decides the smallest hole.
 */
#ifndef MPROF_TUI_MEMORY_HOLES_H
#define MPROF_TUI_MEMORY_HOLES_H

#include "tui/view/memory/grid.h"

/*
 * Move `address` to the first cell of the nearest hole above or below it at `ns`, not of the hole
 * that it lies in. Return false if there is none, or after an error: `error` is set then.
 */
bool memory_hole_above(const struct memory_map *map, struct selection *selection, uint64_t ns,
                       uint64_t *address, struct session_error *error);
bool memory_hole_below(const struct memory_map *map, struct selection *selection, uint64_t ns,
                       uint64_t *address, struct session_error *error);
/* Counts the use of a region at `ns`, in cells of at least `least` bytes. Returns false with
 * `error` set. */
bool memory_use_load(struct selection *selection, uint64_t ns, const struct session_region *region,
                     uint64_t least, struct memory_use *use, struct session_error *error);

#endif
