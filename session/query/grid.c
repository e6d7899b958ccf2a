/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the memory grid: the blocks at their addresses, from the list of live blocks at a time. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/live_list.h"
#include "session/query/selection_state.h"
#include "session/scan/kernels.h"
#include "session/scan/scan.h"

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
        const struct live_block block = live_list_block(list, i);
        if (used == 0 || (block.start > found[used - 1].end &&
                          block.start - found[used - 1].end >= REGION_GAP)) {
            if (used == capacity) {
                capacity = capacity * 2 + 16;
                struct session_region *larger = realloc(found, capacity * sizeof(*found));
                if (!larger) {
                    free(found);
                    return session_fail_memory(error, "the regions");
                }
                found = larger;
            }
            found[used++] = (struct session_region){.start = block.start, .end = block.end};
        }
        struct session_region *region = &found[used - 1];
        region->end = block.end > region->end ? block.end : region->end;
        region->used_bytes += block.size;
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

static int compare_cells(const void *left, const void *right)
{
    const struct session_cell *a = *(const struct session_cell *const *)left;
    const struct session_cell *b = *(const struct session_cell *const *)right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Colours the cells in the order of ids, so that each chunk is read once: neighbours by address lie
 * far apart in the columns. */
static bool color_cells(struct grid *grid, const struct color_map *map, struct session_error *error)
{
    struct session_cell **cells = malloc((grid->count + 1) * sizeof(struct session_cell *));
    size_t count = 0, color = 0;
    if (!cells)
        return session_fail_memory(error, "the grid");
    for (size_t i = 0; i < grid->count; i++)
        if (grid->cells[i].id != 0)
            cells[count++] = &grid->cells[i];
    qsort(cells, count, sizeof(struct session_cell *), compare_cells);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        if (i == 0 || cells[i]->id != cells[i - 1]->id)
            good = color_map_find(grid->selection, map, cells[i]->id, &color, error);
        cells[i]->color = (uint8_t)color;
    }
    free(cells);
    return good;
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
        const struct live_block block = live_list_block(list, i);
        if (block.start >= end)
            break;
        if (block.end > address)
            add_block(&grid, &block, i % 2 != 0);
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
         i < list->count && list->entries[i].key <= address; i++) {
        const struct live_block block = live_list_block(list, i);
        if (block.end > address)
            id = block.id;
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
    for (size_t k = i; k-- > 0 && live_list_reach(list, k) > nearest;) {
        const struct live_block block = live_list_block(list, k);
        if (block.end > nearest) {
            nearest = block.end;
            *below = block.id;
        }
    }
    for (; i < list->count && list->entries[i].key <= address; i++) {
        const struct live_block block = live_list_block(list, i);
        if (block.end <= address && block.end > nearest) {
            nearest = block.end;
            *below = block.id;
        }
    }
    if (i < list->count)
        *above = live_list_block(list, i).id;
}

/* The finds of one thread about an address. */
struct history {
    uint64_t ns, address;
    uint64_t count, last;
};

static bool find_history(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    struct history *history = context;
    const struct column_store *store = scan_session(worker)->columns;
    const struct kernel_range range = {history->address, history->address, false};
    struct column_view address, begin, life;
    uint64_t words[ROW_SET_WORDS];
    if (column_store_min(store, chunk, COLUMN_ADDRESS) > history->address ||
        column_store_max(store, chunk, COLUMN_ADDRESS) < history->address ||
        column_store_first_free(store, chunk) > history->ns)
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error))
        return false;
    kernel_in_range(&address, &range, words);
    if (kernel_count(words, ROW_SET_WORDS) == 0)
        return true;
    if (!scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        const uint64_t life_ns = column_view_at(&life, row);
        const uint64_t freed = column_view_at(&begin, row) + life_ns - 1;
        if (life_ns == 0 || freed > history->ns)
            continue;
        history->count++;
        history->last = freed > history->last ? freed : history->last;
    }
    return true;
}

uint64_t session_address_history(struct session *session, uint64_t ns, uint64_t address,
                                 uint64_t *last_free_ns)
{
    struct scan_contexts contexts;
    uint64_t count = 0, last = 0;
    if (last_free_ns)
        *last_free_ns = 0;
    if (!scan_contexts_open(session, &contexts, sizeof(struct history), SIZE_MAX, NULL))
        return 0;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct history *)contexts.each[i] = (struct history){.ns = ns, .address = address};
    const bool good = scan_chunks(session, column_store_chunks(session->columns), find_history,
                                  contexts.each, contexts.threads, NULL);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        const struct history *history = contexts.each[i];
        count += history->count;
        last = history->last > last ? history->last : last;
    }
    scan_contexts_close(&contexts);
    if (last_free_ns)
        *last_free_ns = last;
    return count;
}
