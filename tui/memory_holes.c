/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/memory_holes.h"

#include <stdlib.h>

#define BLOCK_CELLS 16384 /* cells read at a time in a search */
#define USE_CELLS 65536   /* cells of a region to count its use */

static bool is_hole(const struct session_cell *cell)
{
    return cell->used == 0 && cell->filtered == 0;
}

static bool read_cells(struct exploration *exploration, uint64_t address, uint64_t bytes_per_cell,
                       size_t count, struct session_cell *cells)
{
    struct session_error error = {.message = ""};
    if (selection_grid(exploration->selection, exploration->moment_ns, address, bytes_per_cell,
                       count, SESSION_COLOR_NONE, cells, &error))
        return true;
    exploration_complain(exploration, "%s", error.message);
    return false;
}

/* ---- search ----------------------------------------------------------------------------- */

struct search {
    const struct memory_map *map;
    struct exploration *exploration;
    struct session_cell *cells; /* BLOCK_CELLS */
    bool inside;                /* the cell before this one belongs to a hole */
    bool found, failed;
    uint64_t at;
};

static uint64_t region_floor(const struct memory_map *map, size_t region)
{
    return map->regions[region].start - map->regions[region].start % map->bytes_per_cell;
}

/* Searches from `address` to the region's end for the first cell of a hole. */
static void search_up(struct search *search, size_t region, uint64_t address)
{
    uint64_t cell = search->map->bytes_per_cell, end = search->map->regions[region].end;
    while (!search->found && !search->failed && address < end) {
        uint64_t left = (end - address + cell - 1) / cell;
        size_t count = left < BLOCK_CELLS ? (size_t)left : BLOCK_CELLS;
        search->failed = !read_cells(search->exploration, address, cell, count, search->cells);
        for (size_t i = 0; i < count && !search->found && !search->failed; i++) {
            bool hole = is_hole(&search->cells[i]);
            search->found = hole && !search->inside;
            search->at = address + i * cell;
            search->inside = hole;
        }
        address += count * cell;
    }
}

/* Searches from `high` down to the region's start for the next hole, and finds its lowest cell. */
static void search_down(struct search *search, size_t region, uint64_t high)
{
    uint64_t cell = search->map->bytes_per_cell, start = region_floor(search->map, region);
    while (!search->found && !search->failed && high > start) {
        uint64_t left = (high - start) / cell;
        size_t count = left < BLOCK_CELLS ? (size_t)left : BLOCK_CELLS;
        high -= count * cell;
        search->failed = !read_cells(search->exploration, high, cell, count, search->cells);
        for (size_t i = count; i-- > 0 && !search->found && !search->failed;) {
            bool hole = is_hole(&search->cells[i]);
            search->found = search->inside && !hole;
            if (hole)
                search->at = high + i * cell;
            search->inside = hole;
        }
    }
}

static bool search_open(struct search *search, const struct memory_map *map,
                        struct exploration *exploration)
{
    *search = (struct search){.map = map, .exploration = exploration};
    search->cells = calloc(BLOCK_CELLS, sizeof(*search->cells));
    if (!search->cells)
        exploration_complain(exploration, "out of memory");
    return search->cells != NULL;
}

static bool search_close(struct search *search, uint64_t *address)
{
    free(search->cells);
    if (search->found)
        *address = search->at;
    return search->found;
}

bool memory_hole_above(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address)
{
    struct search search;
    if (!search_open(&search, map, exploration))
        return false;
    size_t region = memory_region_of(map, *address);
    /* The hole that the address lies in is not the next hole. */
    search.inside = true;
    search_up(&search, region, *address - *address % map->bytes_per_cell);
    while (!search.found && !search.failed && ++region < map->region_count) {
        search.inside = false;
        search_up(&search, region, region_floor(map, region));
    }
    return search_close(&search, address);
}

bool memory_hole_below(const struct memory_map *map, struct exploration *exploration,
                       uint64_t *address)
{
    struct search search;
    if (!search_open(&search, map, exploration))
        return false;
    size_t region = memory_region_of(map, *address);
    search_down(&search, region, *address - *address % map->bytes_per_cell);
    while (!search.found && !search.failed && region-- > 0) {
        uint64_t end = map->regions[region].end + map->bytes_per_cell - 1;
        search.inside = false;
        search_down(&search, region, end - end % map->bytes_per_cell);
    }
    return search_close(&search, address);
}

/* ---- use -------------------------------------------------------------------------------- */

static void count_use(struct memory_use *use, const struct session_cell *cells, size_t count,
                      uint64_t start)
{
    uint64_t run = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && is_hole(&cells[i])) {
            run += use->resolution;
            continue;
        }
        if (run > 0)
            use->holes++;
        if (run > use->largest_hole) {
            use->largest_hole = run;
            use->largest_at = start + i * use->resolution - run;
        }
        run = 0;
        if (i < count) {
            use->selected_bytes += cells[i].used;
            use->filtered_bytes += cells[i].filtered;
        }
    }
}

struct memory_use memory_use_load(struct exploration *exploration,
                                  const struct session_region *region, uint64_t least)
{
    struct memory_use use = {.resolution = least};
    while ((region->end - region->start) / use.resolution >= USE_CELLS)
        use.resolution *= 2;
    uint64_t start = region->start - region->start % use.resolution;
    size_t count = (size_t)((region->end - start + use.resolution - 1) / use.resolution);
    struct session_cell *cells = calloc(count, sizeof(*cells));
    if (!cells)
        exploration_complain(exploration, "out of memory");
    else if (read_cells(exploration, start, use.resolution, count, cells))
        count_use(&use, cells, count, start);
    free(cells);
    return use;
}
