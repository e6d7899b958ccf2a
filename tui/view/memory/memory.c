/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory grid view: memory at one moment, its regions and cells, and a cursor that shows the
 * allocation under it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/keys/keys.h"
#include "tui/screen/format.h"
#include "tui/view/common/block.h"
#include "tui/view/common/legend.h"
#include "tui/view/memory/grid.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct memory_grid *grid = calloc(1, sizeof(*grid));
    struct memory_grid *ahead = calloc(1, sizeof(*ahead));
    if (!grid || !ahead) {
        free(grid);
        free(ahead);
        return NULL;
    }
    grid->play.ahead = ahead;
    grid->map.bytes_per_cell = MEMORY_CELL_LEAST;
    grid->map.columns = 1;
    grid->details = memory_no_details();
    return grid;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct memory_grid *grid = view;
    memory_loads_clear(grid, exploration);
    free(grid->play.ahead);
    free(grid);
}

bool memory_is_tall(const struct memory_grid *grid)
{
    return grid->members || grid->pane != MEMORY_DETAILS;
}

struct memory_layout memory_lay_out(int width, int height, bool tall)
{
    struct memory_layout layout = {.grid_x = 14, .grid_y = 2};
    bool beside = width >= 150;
    int details_rows = height >= 36 ? 14 : height >= 20 ? 7 : height >= 14 ? 5 : 2;
    if (tall && details_rows < height / 2)
        details_rows = height / 2;
    layout.details_width = beside ? width * 2 / 5 : width;
    layout.details_height = beside ? height - 2 : details_rows;
    layout.details_x = width - layout.details_width;
    layout.details_y = height - layout.details_height;
    layout.legend_rows = height >= 20 ? 2 : 1;
    layout.legend_y = (beside ? height : layout.details_y) - layout.legend_rows;
    layout.legend_width = beside ? layout.details_x : width;
    layout.rows = layout.legend_y - layout.grid_y;
    int room = (beside ? layout.details_x : width) - layout.grid_x - 1;
    int power = 8;
    while (power * 2 <= room)
        power *= 2;
    /* Rows begin at round addresses if that wastes little room. */
    layout.columns = power * 4 >= room * 3 ? power : room - room % 16;
    if (layout.columns < 8)
        layout.columns = 8;
    if (layout.columns > MEMORY_COLUMNS_MOST)
        layout.columns = MEMORY_COLUMNS_MOST;
    if (layout.rows > MEMORY_ROWS_MOST)
        layout.rows = MEMORY_ROWS_MOST;
    if (layout.rows < 1)
        layout.rows = 1;
    return layout;
}

void memory_place_cursor(struct memory_grid *grid)
{
    const struct memory_map *map = &grid->map;
    if (map->region_count == 0)
        return;
    size_t region = memory_region_of(map, grid->cursor);
    uint64_t start = map->regions[region].start, end = map->regions[region].end;
    if (grid->cursor >= end)
        grid->cursor = end - 1;
    if (grid->cursor < start)
        grid->cursor = start;
    uint64_t row = memory_row_of(map, region, grid->cursor), rows = memory_rows(map);
    uint64_t height = (uint64_t)grid->rows;
    /* Shows the region's heading together with its first row. */
    uint64_t top = row > 0 && memory_row_at(map, row - 1).heading && height > 1 ? row - 1 : row;
    if (top < grid->first_row)
        grid->first_row = top;
    if (row >= grid->first_row + height)
        grid->first_row = row - height + 1;
    if (grid->first_row + height > rows)
        grid->first_row = rows > height ? rows - height : 0;
}

/* ---- moving ----------------------------------------------------------------------------- */

static void move_cells(struct memory_grid *grid, bool up, uint64_t bytes)
{
    const struct memory_map *map = &grid->map;
    size_t region = memory_region_of(map, grid->cursor);
    uint64_t start = map->regions[region].start, end = map->regions[region].end;
    grid->exact = false;
    grid->cursor -= grid->cursor % map->bytes_per_cell;
    if (up && grid->cursor + bytes < end)
        grid->cursor += bytes;
    else if (!up && grid->cursor >= bytes && grid->cursor - bytes + map->bytes_per_cell > start)
        grid->cursor -= bytes;
    else if (up && region + 1 < map->region_count)
        grid->cursor = map->regions[region + 1].start;
    else if (!up && region > 0)
        grid->cursor = map->regions[region - 1].end - 1;
    else
        grid->cursor = up ? end - 1 : start;
}

static void move_region(struct memory_grid *grid, bool up)
{
    const struct memory_map *map = &grid->map;
    size_t region = memory_region_of(map, grid->cursor);
    grid->exact = false;
    if (up && region + 1 < map->region_count)
        grid->cursor = map->regions[region + 1].start;
    else if (!up && grid->cursor > map->regions[region].start + map->bytes_per_cell)
        grid->cursor = map->regions[region].start;
    else if (!up && region > 0)
        grid->cursor = map->regions[region - 1].start;
}

static void zoom(struct memory_grid *grid, bool in)
{
    struct memory_map *map = &grid->map;
    uint64_t before = memory_row_of(map, memory_region_of(map, grid->cursor), grid->cursor);
    uint64_t offset = before - grid->first_row;
    grid->zoom_chosen = true;
    if (in && map->bytes_per_cell > MEMORY_CELL_LEAST)
        map->bytes_per_cell /= 2;
    else if (!in && map->bytes_per_cell < (uint64_t)1 << 40)
        map->bytes_per_cell *= 2;
    uint64_t row = memory_row_of(map, memory_region_of(map, grid->cursor), grid->cursor);
    grid->first_row = row > offset ? row - offset : 0;
}

static void go_to(struct memory_grid *grid, struct exploration *exploration, const char *text)
{
    uint64_t address;
    if (!parse_address(text, &address)) {
        exploration_complain(exploration,
                             "\"%.40s\" is not an address; write 55d0c4a02780 or 0x55d0", text);
        return;
    }
    if (grid->map.region_count == 0)
        return;
    const struct session_region *region = &grid->map.regions[memory_region_of(&grid->map, address)];
    if (address < region->start || address >= region->end)
        exploration_say(exploration,
                        "no region holds %" PRIx64 " at this moment; the nearest is shown",
                        address);
    grid->cursor = address;
    grid->exact = true;
}

static void click(struct memory_grid *grid, struct exploration *exploration,
                  const struct view_input *input)
{
    struct memory_layout layout = memory_lay_out(input->width, input->height, memory_is_tall(grid));
    int column = input->x - layout.grid_x, row = input->y - layout.grid_y;
    if (!grid->alternate && !input->twice)
        legend_follow(exploration, &exploration->legend, color_by_name(exploration->color_by),
                      memory_legend_at(grid, exploration, &layout, input->x, input->y));
    if (column < 0 || column >= grid->map.columns || row < 0 || row >= grid->rows)
        return;
    struct memory_row at = memory_row_at(&grid->map, grid->first_row + (uint64_t)row);
    grid->exact = false;
    if (at.region < grid->map.region_count)
        grid->cursor =
            at.heading ? at.address : at.address + (uint64_t)column * grid->map.bytes_per_cell;
}

/* ---- update ----------------------------------------------------------------------------- */

static bool act_on_stack(struct memory_grid *grid, const struct view_input *input)
{
    switch (input->action) {
    case ACTION_UP:
    case ACTION_WHEEL_UP:
        grid->stack_scroll--;
        break;
    case ACTION_DOWN:
    case ACTION_WHEEL_DOWN:
        grid->stack_scroll++;
        break;
    case ACTION_PAGE_UP:
        grid->stack_scroll -= 10;
        break;
    case ACTION_PAGE_DOWN:
        grid->stack_scroll += 10;
        break;
    case ACTION_HOME:
        grid->stack_scroll = 0;
        break;
    case ACTION_END:
        grid->stack_scroll = MEMORY_FRAMES_MOST;
        break;
    case ACTION_FOLLOW:
    case ACTION_BACK:
        grid->stack_focus = false;
        break;
    default:
        return false;
    }
    int rows =
        grid->members ? memory_members_rows(grid->details) - 1 : (int)grid->details->frame_count;
    int last = rows - 1;
    if (grid->stack_scroll > last)
        grid->stack_scroll = last;
    if (grid->stack_scroll < 0)
        grid->stack_scroll = 0;
    return true;
}

static bool act_on_time(struct memory_grid *grid, struct exploration *exploration,
                        enum action action)
{
    if (action != ACTION_PEAK)
        return memory_act_on_play(grid, exploration, action);
    memory_stop(grid);
    grid->peak_asked = true;
    exploration_go_to_peak(exploration);
    return true;
}

static void change_pane(struct memory_grid *grid, enum memory_pane pane)
{
    grid->pane = grid->pane == pane ? MEMORY_DETAILS : pane;
    grid->stack_focus = false;
    grid->hole = 0;
}

static bool act(struct memory_grid *grid, struct exploration *exploration,
                const struct view_input *input)
{
    uint64_t row = memory_row_bytes(&grid->map);
    switch (input->action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
        move_cells(grid, input->action == ACTION_RIGHT, grid->map.bytes_per_cell);
        break;
    case ACTION_UP:
    case ACTION_DOWN:
        move_cells(grid, input->action == ACTION_DOWN, row);
        break;
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        move_cells(grid, input->action == ACTION_WHEEL_DOWN, row * 3);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
        move_cells(grid, input->action == ACTION_PAGE_DOWN, row * (uint64_t)grid->rows);
        break;
    case ACTION_HOME:
        grid->exact = false;
        grid->cursor = grid->map.regions[0].start;
        break;
    case ACTION_END:
        grid->exact = false;
        grid->cursor = grid->map.regions[grid->map.region_count - 1].end - 1;
        break;
    case ACTION_SECTION_BACK:
    case ACTION_SECTION_FORWARD:
        move_region(grid, input->action == ACTION_SECTION_FORWARD);
        break;
    case ACTION_ZOOM_IN:
    case ACTION_ZOOM_OUT:
        zoom(grid, input->action == ACTION_ZOOM_IN);
        break;
    case ACTION_ZOOM_ALL:
        grid->zoom_chosen = false;
        break;
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        memory_seek_hole(grid, exploration, input->action == ACTION_NEXT);
        memory_take_hole(grid, exploration);
        break;
    case ACTION_GOTO:
        go_to(grid, exploration, input->text);
        break;
    case ACTION_HOLES:
        change_pane(grid, MEMORY_HOLES);
        memory_open_holes(grid, exploration);
        break;
    case ACTION_OVER_TIME:
        change_pane(grid, MEMORY_OVER_TIME);
        break;
    case ACTION_BACK:
        if (grid->pane == MEMORY_DETAILS)
            return false;
        grid->pane = MEMORY_DETAILS;
        break;
    case ACTION_ALTERNATE:
        grid->alternate = !grid->alternate;
        break;
    case ACTION_MEMBERS:
        grid->pane = MEMORY_DETAILS;
        grid->members = !grid->members;
        grid->stack_scroll = 0;
        break;
    case ACTION_CLICK:
        click(grid, exploration, input);
        break;
    case ACTION_FOLLOW:
        grid->stack_focus =
            grid->members ? grid->details->member_count > 0 : grid->details->frame_count > 0;
        break;
    default:
        return false;
    }
    return true;
}

void memory_fit(struct memory_grid *grid, const struct view_input *input)
{
    struct memory_layout layout = memory_lay_out(input->width, input->height, memory_is_tall(grid));
    grid->map.columns = layout.columns;
    grid->rows = layout.rows;
    const uint64_t fitting = memory_fitting_cell(&grid->map, (uint64_t)layout.rows);
    /* A play zooms out if it must, but not in and out again. */
    if (!grid->zoom_chosen && (!grid->play.playing || fitting > grid->map.bytes_per_cell))
        grid->map.bytes_per_cell = fitting;
}

/* Loads what the pane shows. The list of holes comes first: it may go to another moment. */
static void load(struct memory_grid *grid, struct exploration *exploration)
{
    if (grid->pane == MEMORY_HOLES)
        memory_load_holes(grid, exploration);
    memory_load(grid, exploration);
    if (grid->pane == MEMORY_OVER_TIME)
        memory_load_over_time(grid, exploration);
    if (grid->details->found && !grid->play.playing)
        block_tests_load(&grid->tests, exploration, &grid->details->allocation, grid->details->user,
                         0);
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct memory_grid *grid = view;
    bool used = input->action == ACTION_REFRESH || act_on_time(grid, exploration, input->action);
    if (used && input->more)
        return true;
    exploration_load_legend(exploration);
    memory_jump(grid, exploration);
    memory_play(grid, exploration, input);
    memory_load_regions(grid, exploration);
    memory_fit(grid, input);
    /* These need the allocation under the cursor, which a burst of keys has not loaded yet. */
    if (!used && (grid->stack_focus || input->action == ACTION_FOLLOW)) {
        memory_place_cursor(grid);
        memory_load(grid, exploration);
    }
    if (!used && grid->stack_focus && grid->map.region_count > 0)
        used = act_on_stack(grid, input);
    if (!used && grid->pane == MEMORY_HOLES) {
        memory_load_holes(grid, exploration);
        used = memory_act_on_holes(grid, input);
    }
    if (!used && grid->map.region_count > 0)
        used = act(grid, exploration, input);
    memory_fit(grid, input);
    memory_take_hole(grid, exploration);
    if (!input->more && grid->pane == MEMORY_HOLES)
        memory_load_holes(grid, exploration);
    memory_place_cursor(grid);
    if (!input->more)
        load(grid, exploration);
    /* The block under the cursor is what other views select now. */
    if (used && input->action != ACTION_REFRESH && grid->details->found)
        exploration->allocation = grid->details->allocation.id;
    return used;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "one cell down in memory"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "one cell up in memory"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "stack",
     .description = "into the stack or the members, to scroll them"},
    {.keys = {'m'},
     .action = ACTION_MEMBERS,
     .footer = "members",
     .description = "members of the type and padding instead of the stack, and back"},
    {.keys = {'+', '='},
     .action = ACTION_ZOOM_IN,
     .footer_keys = "+ -",
     .footer = "zoom",
     .description = "half the bytes per cell"},
    {.keys = {'-'}, .action = ACTION_ZOOM_OUT, .description = "twice the bytes per cell"},
    {.keys = {'0'},
     .action = ACTION_ZOOM_ALL,

     .description = "zoom to show everything"},
    {.keys = {'['},
     .action = ACTION_STEP_BACK,
     .footer_keys = "[ ]",
     .footer = "time",
     .description = "one step back in time"},
    {.keys = {']'}, .action = ACTION_STEP_FORWARD, .description = "one step forward in time"},
    {.keys = {'h'},
     .action = ACTION_HOLES,
     .footer = "holes",
     .description = "list the holes: size, empty since when, what pins them; and back"},
    {.keys = {'t'},
     .action = ACTION_OVER_TIME,
     .description = "what is not in use over time, and back"},
    {.keys = {' '},
     .action = ACTION_PLAY,
     .description = "play through time, and stop; left and right then go through time"},
    {.keys = {'('}, .action = ACTION_SLOWER, .description = "play at half the speed"},
    {.keys = {')'}, .action = ACTION_FASTER, .description = "play at twice the speed"},
    {.keys = {'n'},
     .action = ACTION_NEXT,
     .footer = "next hole",
     .description = "to the next hole"},
    {.keys = {'N'}, .action = ACTION_PREVIOUS, .description = "to the previous hole"},
    {.keys = {'a'},
     .action = ACTION_ALTERNATE,
     .footer = "alternate",
     .description = "colours that only tell neighbours apart, and back"},
    {.keys = {'p'},
     .action = ACTION_PEAK,
     .footer = "peak",
     .description = "to the moment of the peak"},
    {.keys = {'g'}, .action = ACTION_GOTO, .footer = "go to", .description = "go to an address"},
    {.keys = {'{'}, .action = ACTION_SECTION_BACK, .description = "to the previous region"},
    {.keys = {'}'},
     .action = ACTION_SECTION_FORWARD,
     .footer = "region",
     .description = "to the next region"},
};

const struct view_ops memory_view = {
    .name = "memory",
    .alias = "grid",
    .title = "Memory",
    .keys = KEY_TABLE(keys),
    .asks = "address:",
    .help = "Memory at one moment, block beside block. h lists the holes: how large, empty since "
            "when, and what pins them.",
    .create = create,
    .destroy = destroy,
    .leave = memory_leave,
    .update = update,
    .render = memory_grid_render,
    .offers = memory_offers,
    .copy = memory_copy,
    .table = memory_table,
};
