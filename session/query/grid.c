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

/* The legend positions of blocks, by their place in the list of one moment. */
struct grid_colors {
    uint64_t ns;
    enum session_color_by by;
    size_t first, count;
    uint8_t of[];
};

/* A block of a chunk. */
struct placed_block {
    uint32_t block; /* of those to be coloured */
    uint16_t row;   /* of the chunk */
};

/* The blocks are coloured chunk after chunk: neighbours by address lie far apart in the columns. */
struct coloring {
    const struct selection *selection;
    const struct color_map *map;
    struct placed_block *blocks; /* by chunk */
    size_t *starts;              /* of each chunk in `blocks` */
    uint8_t *colors;
};

struct grid {
    struct selection *selection;
    const struct live_list *list;
    size_t first, blocks; /* those of the list that may lie in cells */
    uint64_t address, bytes_per_cell;
    size_t count;
    struct session_cell *cells;
    struct cell_group
        *groups;           /* SESSION_COLORS for each cell; of selected blocks if there is one */
    bool *selected;        /* by cell: there is one */
    const uint8_t *colors; /* by block */
};

static bool color_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    const struct coloring *coloring = context;
    const uint8_t *steps = coloring->selection->set.colors;
    struct column_view view;
    if (coloring->starts[chunk] == coloring->starts[chunk + 1])
        return true;
    if (!scan_column(worker, chunk, coloring->map->column, &view, error))
        return false;
    for (size_t i = coloring->starts[chunk]; i < coloring->starts[chunk + 1]; i++) {
        const struct placed_block *block = &coloring->blocks[i];
        const uint8_t step = steps ? steps[(size_t)chunk * COLUMN_CHUNK_ROWS + block->row] : 0;
        coloring->colors[block->block] =
            (uint8_t)color_map_of(coloring->map, column_view_at(&view, block->row), step);
    }
    return true;
}

static bool color_blocks(const struct selection *selection, const struct color_map *map,
                         const struct live_list *list, struct grid_colors *colors,
                         struct session_error *error)
{
    const uint32_t chunks = column_store_chunks(selection->session->columns);
    struct coloring coloring = {.selection = selection, .map = map, .colors = colors->of};
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = &coloring;
    coloring.blocks = malloc((colors->count + 1) * sizeof(*coloring.blocks));
    coloring.starts = calloc((size_t)chunks + 3, sizeof(*coloring.starts));
    bool good = (coloring.blocks && coloring.starts && colors->count <= UINT32_MAX) ||
                session_fail_memory(error, "the grid");
    /* Each start counts one place further on, and moves to its own place as blocks are put there.
     */
    for (size_t i = 0; good && i < colors->count; i++)
        coloring.starts[live_list_row(list, colors->first + i) / COLUMN_CHUNK_ROWS + 2]++;
    for (uint32_t chunk = 2; good && chunk <= chunks; chunk++)
        coloring.starts[chunk] += coloring.starts[chunk - 1];
    for (size_t i = 0; good && i < colors->count; i++) {
        const uint64_t row = live_list_row(list, colors->first + i);
        coloring.blocks[coloring.starts[row / COLUMN_CHUNK_ROWS + 1]++] =
            (struct placed_block){(uint32_t)i, (uint16_t)(row % COLUMN_CHUNK_ROWS)};
    }
    good = good &&
           scan_chunks(selection->session, chunks, color_chunk, contexts, SCAN_THREADS_MAX, error);
    free(coloring.blocks);
    free(coloring.starts);
    return good;
}

/* Returns the colours of blocks of the list from `first` on. The selection keeps them: a key that
 * scrolls or zooms in finds them there. NULL with `error` set. */
static const uint8_t *colors_of(struct selection *selection, const struct live_list *list,
                                enum session_color_by by, size_t first, size_t count,
                                struct session_error *error)
{
    struct grid_colors *kept = selection->grid_colors;
    const struct color_map *map = selection_color_map(selection, by, error);
    if (!map)
        return NULL;
    if (!kept || kept->ns != list->ns || kept->by != by || first < kept->first ||
        first + count > kept->first + kept->count) {
        /* The regions on a screen are asked for one after the other: takes in what is kept. */
        size_t from = first, to = first + count;
        if (kept && kept->ns == list->ns && kept->by == by) {
            from = kept->first < from ? kept->first : from;
            to = kept->first + kept->count > to ? kept->first + kept->count : to;
        }
        free(kept);
        selection->grid_colors = NULL;
        kept = malloc(sizeof(*kept) + (to - from) + 1);
        if (!kept) {
            session_fail_memory(error, "the grid");
            return NULL;
        }
        *kept = (struct grid_colors){list->ns, by, from, to - from};
        if (!color_blocks(selection, map, list, kept, error)) {
            free(kept);
            return NULL;
        }
        selection->grid_colors = kept;
    }
    return kept->of + (first - kept->first);
}

static void add_block(struct grid *grid, size_t at)
{
    const struct live_block block = live_list_block(grid->list, grid->first + at);
    if (block.end <= grid->address)
        return;
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
    if (!list)
        return false;
    /* Cells beyond the end of the address space stay empty. */
    const uint64_t room = (UINT64_MAX - address) / bytes_per_cell;
    struct grid grid = {.selection = selection,
                        .list = list,
                        .first = live_list_find(list, address),
                        .address = address,
                        .bytes_per_cell = bytes_per_cell,
                        .count = count < room ? count : (size_t)room,
                        .cells = cells,
                        .groups = calloc(count * SESSION_COLORS, sizeof(*grid.groups)),
                        .selected = calloc(count, sizeof(*grid.selected))};
    memset(cells, 0, count * sizeof(*cells));
    const uint64_t end = address + grid.count * bytes_per_cell;
    while (grid.first + grid.blocks < list->count &&
           list->entries[grid.first + grid.blocks].key < end)
        grid.blocks++;
    bool good = (grid.groups && grid.selected) || session_fail_memory(error, "the grid");
    grid.colors = good ? colors_of(selection, list, by, grid.first, grid.blocks, error) : NULL;
    good = grid.colors != NULL;
    for (size_t i = 0; good && i < grid.blocks; i++)
        add_block(&grid, i);
    if (good)
        take_groups(&grid);
    free(grid.groups);
    free(grid.selected);
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

/* Results of one thread about an address. */
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
