/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the data of the memory grid in the background. */
#include <stdlib.h>

#include "tui/view/memory/grid.h"

const struct memory_details *memory_no_details(void)
{
    static struct memory_details none;
    return &none;
}

/* ---- regions ---------------------------------------------------------------------------- */

struct regions_data {
    struct {
        uint64_t ns, renewals;
    } request;
    struct session_region *regions;
    size_t count;
};

static bool run_regions(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    struct regions_data *regions = data;
    (void)selection;
    return session_regions(session, regions->request.ns, &regions->regions, &regions->count, error);
}

static void clear_regions(void *data)
{
    free(((struct regions_data *)data)->regions);
}

void memory_load_regions(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct regions_data *)0)->request),
                                          sizeof(struct regions_data), run_regions, clear_regions};
    const struct regions_data wanted = {.request = {exploration->moment_ns, exploration->renewals}};
    const struct regions_data *regions =
        exploration_get(exploration, &grid->frame.regions, &kind, &wanted.request);
    grid->regions_known = regions != NULL;
    grid->map.regions = regions ? regions->regions : NULL;
    grid->map.region_count = regions ? regions->count : 0;
}

/* ---- cells ------------------------------------------------------------------------------ */

/* A run of cells in rows that follow each other in one region. */
struct cell_run {
    uint64_t row, address, count; /* the row of the screen, the first cell, the number of cells */
};

struct cells_data {
    struct {
        uint64_t generation, ns, bytes_per_cell, by, columns, rows, run_count;
        struct cell_run runs[MEMORY_ROWS_MOST];
    } request;
    struct session_cell *cells;
};

static bool run_cells(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct cells_data *cells = data;
    (void)session;
    cells->cells = calloc(cells->request.rows * cells->request.columns, sizeof(*cells->cells));
    if (!cells->cells) {
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return false;
    }
    for (size_t i = 0; i < cells->request.run_count; i++) {
        const struct cell_run *run = &cells->request.runs[i];
        if (!selection_grid(selection, cells->request.ns, run->address,
                            cells->request.bytes_per_cell, run->count,
                            (enum session_color_by)cells->request.by,
                            cells->cells + run->row * cells->request.columns, error))
            return false;
    }
    return true;
}

static void clear_cells(void *data)
{
    free(((struct cells_data *)data)->cells);
}

/* Says which cells the screen needs: each run of rows of one region is one query. */
static void want_cells(const struct memory_grid *grid, struct cells_data *wanted)
{
    const struct memory_map *map = &grid->map;
    const size_t columns = (size_t)map->columns, rows = (size_t)grid->rows;
    for (size_t row = 0; row < rows;) {
        struct memory_row first = memory_row_at(map, grid->first_row + row);
        size_t count = 1;
        if (!first.heading && first.region < map->region_count) {
            uint64_t end = memory_region_base(map, first.region) +
                           memory_region_rows(map, first.region) * memory_row_bytes(map);
            count = (size_t)((end - first.address) / memory_row_bytes(map));
            if (count > rows - row)
                count = rows - row;
            wanted->request.runs[wanted->request.run_count++] =
                (struct cell_run){row, first.address, count * columns};
        }
        row += count;
    }
}

static void load_cells(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct cells_data *)0)->request),
                                          sizeof(struct cells_data), run_cells, clear_cells};
    struct cells_data wanted = {.request = {.generation = exploration->generation,
                                            .ns = exploration->moment_ns,
                                            .bytes_per_cell = grid->map.bytes_per_cell,
                                            .by = (uint64_t)exploration->color_by,
                                            .columns = (uint64_t)grid->map.columns,
                                            .rows = (uint64_t)grid->rows}};
    want_cells(grid, &wanted);
    const struct cells_data *cells =
        exploration_get(exploration, &grid->frame.cells, &kind, &wanted.request);
    grid->cells = cells ? cells->cells : NULL;
}

struct use_data {
    struct {
        uint64_t selections, ns, start, end;
    } request;
    struct session_use use;
};

static bool run_use(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    struct use_data *use = data;
    (void)session;
    return selection_use(selection, use->request.ns, use->request.start, use->request.end,
                         SESSION_HOLE_LEAST, &use->use, error);
}

static void load_use(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct use_data *)0)->request),
                                          sizeof(struct use_data), run_use, NULL};
    grid->use = NULL;
    if (grid->map.region_count == 0)
        return;
    const struct session_region *region =
        &grid->map.regions[memory_region_of(&grid->map, grid->cursor)];
    const struct use_data wanted = {
        .request = {exploration->selections, exploration->moment_ns, region->start, region->end}};
    const struct use_data *use =
        exploration_get(exploration, &grid->frame.use, &kind, &wanted.request);
    grid->use = use ? &use->use : NULL;
}

/* Returns the cell under the cursor, NULL if it is not on the screen. */
static const struct session_cell *cursor_cell(const struct memory_grid *grid)
{
    const struct memory_map *map = &grid->map;
    if (map->region_count == 0 || !grid->cells)
        return NULL;
    size_t region = memory_region_of(map, grid->cursor);
    uint64_t row = memory_row_of(map, region, grid->cursor) - grid->first_row;
    uint64_t column = (grid->cursor - memory_region_base(map, region)) / map->bytes_per_cell %
                      (uint64_t)map->columns;
    return row < (uint64_t)grid->rows ? &grid->cells[row * (uint64_t)map->columns + column] : NULL;
}

struct details_data {
    struct {
        uint64_t renewals, ns, address, id;
    } request;
    struct memory_details details;
};

static bool run_details(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    struct details_data *details = data;
    (void)selection;
    return memory_details_load(&details->details, session, details->request.ns,
                               details->request.address, details->request.id, error);
}

void memory_load(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct details_data *)0)->request),
                                          sizeof(struct details_data), run_details, NULL};
    load_cells(grid, exploration);
    load_use(grid, exploration);
    const struct session_cell *cell = cursor_cell(grid);
    const struct memory_details *before = grid->details;
    grid->details = memory_no_details();
    grid->details_known = false;
    if (cell) {
        const struct details_data wanted = {.request = {exploration->renewals,
                                                        exploration->moment_ns, grid->cursor,
                                                        grid->exact ? 0 : cell->id}};
        const struct details_data *details =
            exploration_get(exploration, &grid->frame.details, &kind, &wanted.request);
        grid->details_known = details != NULL;
        if (details)
            grid->details = &details->details;
    }
    if (grid->details != before)
        grid->stack_scroll = 0;
}

static void clear_frame(struct loader *loader, struct memory_frame_loads *frame)
{
    load_clear(loader, &frame->regions);
    load_clear(loader, &frame->cells);
    load_clear(loader, &frame->use);
    load_clear(loader, &frame->details);
}

void memory_loads_clear(struct memory_grid *grid, struct exploration *exploration)
{
    clear_frame(&exploration->loader, &grid->frame);
    clear_frame(&exploration->loader, &grid->play.ahead->frame);
    load_clear(&exploration->loader, &grid->gaps_load);
    load_clear(&exploration->loader, &grid->holes_load);
    load_clear(&exploration->loader, &grid->moment_load);
    load_clear(&exploration->loader, &grid->now_load);
    load_clear(&exploration->loader, &grid->block_load);
    function_tests_clear(&grid->tests, exploration);
}
