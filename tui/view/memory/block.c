/* SPDX-License-Identifier: BSD-2-Clause */
/* The block under the cursor as the other views know it: the shared one, filters, text. */
#include <inttypes.h>
#include <stdio.h>

#include "tui/screen/format.h"
#include "tui/view/common/block.h"
#include "tui/view/memory/grid.h"

/* ---- from another view ------------------------------------------------------------------ */

struct block_data {
    struct {
        uint64_t renewals, id;
    } request;
    struct session_allocation allocation;
    bool found;
};

static bool run_block(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct block_data *block = data;
    (void)selection;
    block->found = session_allocation(session, block->request.id, &block->allocation, error);
    return block->found;
}

void memory_jump(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct block_data *)0)->request),
                                          sizeof(struct block_data), run_block, NULL};
    if (exploration->to_memory == 0)
        return;
    const struct block_data wanted = {.request = {exploration->renewals, exploration->to_memory}};
    const struct block_data *block =
        exploration_get(exploration, &grid->block_load, &kind, &wanted.request);
    if (!block)
        return;
    exploration->to_memory = 0;
    if (!block->found)
        return;
    const struct session_allocation *allocation = &block->allocation;
    if (exploration->moment_ns < allocation->alloc_ns ||
        exploration->moment_ns >= allocation->free_ns)
        exploration->moment_ns = allocation->alloc_ns;
    grid->cursor = allocation->address;
    grid->exact = true;
    grid->pane = MEMORY_DETAILS;
}

/* ---- to other views --------------------------------------------------------------------- */

static const struct memory_hole *selected_hole(const struct memory_grid *grid)
{
    return grid->pane == MEMORY_HOLES && grid->hole < grid->hole_count ? &grid->holes[grid->hole]
                                                                       : NULL;
}

static size_t offer_hole(const struct session_hole *hole, struct view_offer *out, size_t capacity)
{
    if (capacity < 3)
        return 0;
    snprintf(out[0].label, sizeof(out[0].label), "what was in this hole before");
    snprintf(out[0].step, sizeof(out[0].step),
             "where address >= %" PRIu64 " and address < %" PRIu64, hole->start, hole->end);
    snprintf(out[1].label, sizeof(out[1].label), "the block below, which pins it");
    snprintf(out[1].step, sizeof(out[1].step), "where id == %" PRIu64, hole->below);
    snprintf(out[2].label, sizeof(out[2].label), "the block above, which pins it");
    snprintf(out[2].step, sizeof(out[2].step), "where id == %" PRIu64, hole->above);
    return 3;
}

size_t memory_offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct memory_grid *grid = view;
    const struct memory_hole *hole = selected_hole(grid);
    if (hole)
        return offer_hole(&hole->hole, out, capacity);
    if (!grid->details->found)
        return 0;
    return offer_block(&grid->tests, exploration->session, &grid->details->allocation,
                       grid->details->user, out, capacity);
}

static void copy_hole(const struct memory_hole *hole, FILE *out)
{
    char time[FORMAT_SIZE];
    fprintf(out, "hole of %" PRIu64 " bytes, %" PRIx64 " to %" PRIx64 ", ",
            hole->hole.end - hole->hole.start, hole->hole.start, hole->hole.end);
    if (hole->hole.since_ns == SESSION_NEVER)
        fprintf(out, "never used\n");
    else
        fprintf(out, "empty since %s\n", format_filter_time(time, hole->hole.since_ns));
    fprintf(out, "below: allocation %" PRIu64 ", above: allocation %" PRIu64 "\n", hole->hole.below,
            hole->hole.above);
}

bool memory_copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct memory_grid *grid = view;
    const struct memory_details *details = grid->details;
    const struct session_allocation *allocation = &details->allocation;
    char time[FORMAT_SIZE];
    if (selected_hole(grid)) {
        copy_hole(selected_hole(grid), out);
        return true;
    }
    if (!details->found)
        return false;
    fprintf(out, "allocation %" PRIu64 ": %" PRIu64 " bytes at %" PRIx64 ", %s, allocated at %s\n",
            allocation->id, allocation->size, allocation->address,
            session_type_name(exploration->session, allocation->type),
            format_filter_time(time, allocation->alloc_ns));
    if (allocation->free_ns != SESSION_LIVE)
        fprintf(out, "freed at %s\n", format_filter_time(time, allocation->free_ns));
    for (size_t i = 0; i < details->frame_count; i++)
        fprintf(out, "#%zu %s %s:%" PRIu32 "\n", i,
                session_function_name(exploration->session, details->frames[i].function),
                details->frames[i].file, details->frames[i].line);
    return true;
}

/* ---- the regions ------------------------------------------------------------------------ */

enum { REGION_START, REGION_END, REGION_USED, REGION_COUNT, REGION_COLUMNS };

static void region_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct session_region *region = &((const struct memory_map *)context)->regions[row];
    const uint64_t numbers[REGION_COLUMNS] = {region->start, region->end, region->used_bytes,
                                              region->count};
    cell->is_number = true;
    cell->number = numbers[column];
}

/* Writes the regions at the moment, with what is in use of each. */
static bool write_regions(const struct memory_map *map, FILE *out, enum table_format format)
{
    static const struct table_column columns[REGION_COLUMNS] = {{.title = "address"},
                                                                {.title = "end_address"},
                                                                {.title = "used_bytes"},
                                                                {.title = "used_count"}};
    const struct table_source source = {.context = (void *)map,
                                        .columns = columns,
                                        .column_count = REGION_COLUMNS,
                                        .rows = map->region_count,
                                        .cell = region_cell};
    table_write(&source, out, format);
    return map->region_count > 0;
}

bool memory_table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct memory_grid *grid = view;
    (void)exploration;
    if (grid->pane != MEMORY_HOLES)
        return write_regions(&grid->map, out, format);
    if (!grid->holes)
        return false;
    memory_holes_write(grid, out, format);
    return true;
}
