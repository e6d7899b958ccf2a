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

/* The bytes of one colour in a cell, and the largest block of it. */
struct cell_group {
    uint64_t bytes, most;
    size_t block; /* position in the list + 1; 0: none */
};

struct grid {
    struct selection *selection;
    const struct live_list *list;
    size_t first, blocks; /* those of the list that may lie in cells */
    uint64_t address, bytes_per_cell;
    size_t count;
    struct session_cell *cells;
    struct cell_group
        *groups;    /* SESSION_COLORS for each cell; of selected blocks if there is one */
    bool *selected; /* by cell: there is one */
    /* By block: the legend position. They are found in the order of ids, so that each chunk is read
     * once: neighbours by address lie far apart in the columns. */
    const struct color_map *map;
    uint8_t *colors;
    uint32_t *by_chunk;
    size_t *starts; /* of each chunk in `by_chunk` */
};

static uint32_t chunk_of(const struct grid *grid, size_t block)
{
    const uint64_t id = live_list_block(grid->list, grid->first + block).id;
    return (uint32_t)((id - 1) / COLUMN_CHUNK_ROWS);
}

static bool color_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    const struct grid *grid = context;
    const uint8_t *steps = grid->selection->set.colors;
    struct column_view view;
    if (grid->starts[chunk] == grid->starts[chunk + 1])
        return true;
    if (!scan_column(worker, chunk, grid->map->column, &view, error))
        return false;
    for (size_t i = grid->starts[chunk]; i < grid->starts[chunk + 1]; i++) {
        const uint32_t block = grid->by_chunk[i];
        const uint64_t row = live_list_block(grid->list, grid->first + block).id - 1;
        grid->colors[block] = (uint8_t)color_map_of(
            grid->map, column_view_at(&view, row % COLUMN_CHUNK_ROWS), steps ? steps[row] : 0);
    }
    return true;
}

static bool color_blocks(struct grid *grid, struct session_error *error)
{
    struct session *session = grid->selection->session;
    const uint32_t chunks = column_store_chunks(session->columns);
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = grid;
    grid->colors = malloc(grid->blocks + 1);
    grid->by_chunk = malloc((grid->blocks + 1) * sizeof(*grid->by_chunk));
    grid->starts = calloc((size_t)chunks + 3, sizeof(*grid->starts));
    if (!grid->colors || !grid->by_chunk || !grid->starts || grid->blocks > UINT32_MAX)
        return session_fail_memory(error, "the grid");
    /* Each start counts one place further on, and moves to its own place as blocks are put there.
     */
    for (size_t block = 0; block < grid->blocks; block++)
        grid->starts[chunk_of(grid, block) + 2]++;
    for (uint32_t chunk = 2; chunk <= chunks; chunk++)
        grid->starts[chunk] += grid->starts[chunk - 1];
    for (size_t block = 0; block < grid->blocks; block++)
        grid->by_chunk[grid->starts[chunk_of(grid, block) + 1]++] = (uint32_t)block;
    return scan_chunks(session, chunks, color_chunk, contexts, SCAN_THREADS_MAX, error);
}

static void add_block(struct grid *grid, size_t at)
{
    const struct live_block block = live_list_block(grid->list, grid->first + at);
    const bool selected = selection_contains(grid->selection, block.id);
    const uint64_t offset = block.start > grid->address ? block.start - grid->address : 0;
    for (uint64_t i = offset / grid->bytes_per_cell; i < grid->count; i++) {
        const uint64_t cell_start = grid->address + i * grid->bytes_per_cell;
        if (cell_start >= block.end)
            break;
        const uint64_t left = block.end - cell_start;
        uint64_t in_cell = left < grid->bytes_per_cell ? left : grid->bytes_per_cell;
        if (block.start > cell_start)
            in_cell -= block.start - cell_start;
        const uint64_t bytes = block.size > 0 ? in_cell : 0;
        struct session_cell *cell = &grid->cells[i];
        struct cell_group *groups = grid->groups + i * SESSION_COLORS;
        *(selected ? &cell->used : &cell->filtered) += bytes;
        cell->starts |= block.start >= cell_start;
        if (selected && !grid->selected[i]) {
            grid->selected[i] = true;
            memset(groups, 0, SESSION_COLORS * sizeof(*groups));
        } else if (!selected && grid->selected[i]) {
            continue;
        }
        struct cell_group *group = &groups[grid->colors[at]];
        group->bytes += bytes;
        if (group->block == 0 || bytes > group->most) {
            group->most = bytes;
            group->block = at + 1;
        }
    }
}

/* Gives each cell the colour with the most bytes, the first of the legend if several have them. */
static void take_groups(struct grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const struct cell_group *groups = grid->groups + i * SESSION_COLORS, *most = NULL;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            if (groups[color].block != 0 && (!most || groups[color].bytes > most->bytes))
                most = &groups[color];
        if (!most)
            continue;
        const size_t position = grid->first + most->block - 1;
        grid->cells[i].id = live_list_block(grid->list, position).id;
        grid->cells[i].color = (uint8_t)(most - groups);
        grid->cells[i].alternate = position % 2 != 0;
    }
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
                        .list = list,
                        .first = live_list_find(list, address),
                        .address = address,
                        .bytes_per_cell = bytes_per_cell,
                        .count = count < room ? count : (size_t)room,
                        .cells = cells,
                        .groups = calloc(count * SESSION_COLORS, sizeof(*grid.groups)),
                        .selected = calloc(count, sizeof(*grid.selected)),
                        .map = map};
    memset(cells, 0, count * sizeof(*cells));
    const uint64_t end = address + grid.count * bytes_per_cell;
    while (grid.first + grid.blocks < list->count &&
           list->entries[grid.first + grid.blocks].key < end)
        grid.blocks++;
    bool good = grid.groups && grid.selected ? color_blocks(&grid, error)
                                             : session_fail_memory(error, "the grid");
    for (size_t i = 0; good && i < grid.blocks; i++)
        if (live_list_block(list, grid.first + i).end > address)
            add_block(&grid, i);
    if (good)
        take_groups(&grid);
    free(grid.groups);
    free(grid.selected);
    free(grid.colors);
    free(grid.by_chunk);
    free(grid.starts);
    return good;
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
