/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/memory/holes.h"

#include <stdlib.h>

#define BLOCK_CELLS 16384 /* cells read at a time in a search */
#define USE_CELLS 65536   /* cells of a region to count its use */

static bool is_hole(const struct session_cell *cell)
{
    return cell->used == 0 && cell->filtered == 0;
}

/* ---- search ----------------------------------------------------------------------------- */

struct search {
    const struct memory_map *map;
    struct selection *selection;
    uint64_t ns;
    struct session_error *error;
    struct session_cell *cells; /* BLOCK_CELLS */
    bool inside;                /* the cell before this one belongs to a hole */
    bool found, failed;
    uint64_t at;
};

static bool read_cells(struct search *search, uint64_t address, size_t count)
{
    return selection_grid(search->selection, search->ns, address, search->map->bytes_per_cell,
                          count, SESSION_COLOR_NONE, search->cells, search->error);
}

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
        search->failed = !read_cells(search, address, count);
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
        search->failed = !read_cells(search, high, count);
        for (size_t i = count; i-- > 0 && !search->found && !search->failed;) {
            bool hole = is_hole(&search->cells[i]);
            search->found = search->inside && !hole;
            if (hole)
                search->at = high + i * cell;
            search->inside = hole;
        }
    }
}

static bool search_open(struct search *search)
{
    search->cells = calloc(BLOCK_CELLS, sizeof(*search->cells));
    if (!search->cells)
        *search->error = (struct session_error){.message = "out of memory"};
    return search->cells != NULL;
}

static bool search_close(struct search *search, uint64_t *address)
{
    free(search->cells);
    if (search->found)
        *address = search->at;
    return search->found;
}

bool memory_hole_above(const struct memory_map *map, struct selection *selection, uint64_t ns,
                       uint64_t *address, struct session_error *error)
{
    struct search search = {.map = map, .selection = selection, .ns = ns, .error = error};
    if (!search_open(&search))
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

bool memory_hole_below(const struct memory_map *map, struct selection *selection, uint64_t ns,
                       uint64_t *address, struct session_error *error)
{
    struct search search = {.map = map, .selection = selection, .ns = ns, .error = error};
    if (!search_open(&search))
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

bool memory_use_load(struct selection *selection, uint64_t ns, const struct session_region *region,
                     uint64_t least, struct memory_use *use, struct session_error *error)
{
    *use = (struct memory_use){.resolution = least};
    while ((region->end - region->start) / use->resolution >= USE_CELLS)
        use->resolution *= 2;
    uint64_t start = region->start - region->start % use->resolution;
    size_t count = (size_t)((region->end - start + use->resolution - 1) / use->resolution);
    struct session_cell *cells = calloc(count, sizeof(*cells));
    bool good = cells != NULL;
    if (!cells)
        *error = (struct session_error){.message = "out of memory"};
    else
        good = selection_grid(selection, ns, start, use->resolution, count, SESSION_COLOR_NONE,
                              cells, error);
    if (good)
        count_use(use, cells, count, start);
    free(cells);
    return good;
}
