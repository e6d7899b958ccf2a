/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the memory grid: the blocks at their addresses, from the list of live blocks at a time. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/live_list.h"
#include "session/query/selection_state.h"

#define REGION_GAP (UINT64_C(16) << 20)

bool session_regions(struct session *session, uint64_t ns, struct session_region **regions,
                     size_t *count, struct session_error *error)
{
    const struct live_list *list = live_list_at(session, ns, error);
    if (!list)
        return false;
    struct session_region *found = NULL;
    size_t used = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct live_block *block = &list->blocks[i];
        if (used == 0 || (block->start > found[used - 1].end &&
                          block->start - found[used - 1].end >= REGION_GAP)) {
            if (used == capacity) {
                capacity = capacity * 2 + 16;
                struct session_region *larger = realloc(found, capacity * sizeof(*found));
                if (!larger) {
                    free(found);
                    return session_fail_memory(error, "the regions");
                }
                found = larger;
            }
            found[used++] = (struct session_region){.start = block->start, .end = block->end};
        }
        struct session_region *region = &found[used - 1];
        region->end = block->end > region->end ? block->end : region->end;
        region->used_bytes += block->size;
        region->count++;
    }
    *regions = found;
    *count = used;
    return true;
}

/* The block that a cell shows so far: selected ones win over others, then more bytes. */
struct cell_owner {
    uint64_t bytes;
    bool selected;
};

struct grid {
    struct selection *selection;
    uint64_t address, bytes_per_cell;
    size_t count;
    struct session_cell *cells;
    struct cell_owner *owners;
};

static void add_block(struct grid *grid, const struct live_block *block, bool alternate)
{
    bool selected = selection_contains(grid->selection, block->id);
    uint64_t offset = block->start > grid->address ? block->start - grid->address : 0;
    for (uint64_t i = offset / grid->bytes_per_cell; i < grid->count; i++) {
        uint64_t cell_start = grid->address + i * grid->bytes_per_cell;
        if (cell_start >= block->end)
            break;
        uint64_t left = block->end - cell_start;
        uint64_t in_cell = left < grid->bytes_per_cell ? left : grid->bytes_per_cell;
        if (block->start > cell_start)
            in_cell -= block->start - cell_start;
        struct session_cell *cell = &grid->cells[i];
        struct cell_owner *owner = &grid->owners[i];
        uint64_t bytes = block->size > 0 ? in_cell : 0;
        *(selected ? &cell->used : &cell->filtered) += bytes;
        cell->starts |= block->start >= cell_start;
        if (cell->id == 0 || selected > owner->selected ||
            (selected == owner->selected && bytes > owner->bytes)) {
            *owner = (struct cell_owner){bytes, selected};
            cell->id = block->id;
            cell->alternate = alternate;
        }
    }
}

static bool color_cells(struct grid *grid, const struct color_map *map, struct session_error *error)
{
    uint64_t last_id = 0;
    size_t last_color = 0;
    for (size_t i = 0; i < grid->count; i++) {
        struct session_cell *cell = &grid->cells[i];
        if (cell->id == 0)
            continue;
        if (cell->id != last_id &&
            !color_map_find(grid->selection, map, cell->id, &last_color, error))
            return false;
        last_id = cell->id;
        cell->color = (uint8_t)last_color;
    }
    return true;
}

bool selection_grid(struct selection *selection, uint64_t ns, uint64_t address,
                    uint64_t bytes_per_cell, size_t count, enum session_color_by by,
                    struct session_cell *cells, struct session_error *error)
{
    if (bytes_per_cell == 0 || count == 0)
        return session_fail(error, 0, "a grid needs cells with at least one byte each");
    const struct live_list *list = live_list_at(selection->session, ns, error);
    const struct color_map *map = selection_color_map(selection, by, error);
    if (!list || !map)
        return false;
    /* Cells beyond the end of the address space stay empty. */
    uint64_t room = (UINT64_MAX - address) / bytes_per_cell;
    struct grid grid = {.selection = selection,
                        .address = address,
                        .bytes_per_cell = bytes_per_cell,
                        .count = count < room ? count : (size_t)room,
                        .cells = cells,
                        .owners = calloc(count, sizeof(*grid.owners))};
    if (!grid.owners)
        return session_fail_memory(error, "the grid");
    memset(cells, 0, count * sizeof(*cells));
    uint64_t end = address + grid.count * bytes_per_cell;
    for (size_t i = live_list_find(list, address); i < list->count; i++) {
        if (list->blocks[i].start >= end)
            break;
        if (list->blocks[i].end > address)
            add_block(&grid, &list->blocks[i], i % 2 != 0);
    }
    free(grid.owners);
    return color_cells(&grid, map, error);
}

uint64_t session_allocation_at(struct session *session, uint64_t ns, uint64_t address)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    uint64_t id = 0;
    if (!list)
        return 0;
    /* The innermost block is the one that starts last. */
    for (size_t i = live_list_find(list, address);
         i < list->count && list->blocks[i].start <= address; i++) {
        if (list->blocks[i].end > address)
            id = list->blocks[i].id;
    }
    return id;
}

void session_neighbours(struct session *session, uint64_t ns, uint64_t address, uint64_t *below,
                        uint64_t *above)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    *below = 0;
    *above = 0;
    if (!list)
        return;
    size_t i = live_list_find(list, address);
    uint64_t nearest = 0;
    /* All blocks before `i` end at or below the address. Some after it may, too, in an arena. */
    for (size_t k = i; k-- > 0 && list->blocks[k].reach > nearest;) {
        if (list->blocks[k].end > nearest) {
            nearest = list->blocks[k].end;
            *below = list->blocks[k].id;
        }
    }
    for (; i < list->count && list->blocks[i].start <= address; i++) {
        if (list->blocks[i].end <= address && list->blocks[i].end > nearest) {
            nearest = list->blocks[i].end;
            *below = list->blocks[i].id;
        }
    }
    if (i < list->count)
        *above = list->blocks[i].id;
}

uint64_t session_address_history(struct session *session, uint64_t ns, uint64_t address,
                                 uint64_t *last_free_ns)
{
    uint64_t count = 0;
    uint64_t last = 0;
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        struct column_view view;
        struct column_view begin;
        struct column_view life;
        if (column_store_min(session->columns, chunk, COLUMN_ADDRESS) > address ||
            column_store_max(session->columns, chunk, COLUMN_ADDRESS) < address)
            continue;
        if (!column_reader_get(session->reader, chunk, COLUMN_ADDRESS, &view, NULL) ||
            !column_reader_get(session->reader, chunk, COLUMN_ALLOC_NS, &begin, NULL) ||
            !column_reader_get(session->reader, chunk, COLUMN_LIFE_NS, &life, NULL))
            continue;
        for (uint32_t row = 0; row < view.rows; row++) {
            if (column_view_at(&view, row) != address)
                continue;
            uint64_t life_ns = column_view_at(&life, row);
            uint64_t freed = column_view_at(&begin, row) + life_ns - 1;
            if (life_ns == 0 || freed > ns)
                continue;
            count++;
            last = freed > last ? freed : last;
        }
    }
    if (last_free_ns)
        *last_free_ns = last;
    return count;
}
