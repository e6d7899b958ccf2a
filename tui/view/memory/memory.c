/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory grid view: memory at one moment, its regions and cells, and a cursor that shows the
 * allocation under it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "tui/screen/format.h"
#include "tui/screen/keys.h"
#include "tui/view/common/offers.h"
#include "tui/view/memory/grid.h"
#include "tui/view/view.h"

static void place_cursor(struct memory_grid *grid);
static void memory_fit(struct memory_grid *grid, const struct view_input *input);

enum {
    TIME_STEPS = 200, /* steps of [ and ] through a session */
    FRAME_MS = 100,   /* between two frames, at least */
    LATE_MS = 5000,   /* a frame that came later is not a reason for a longer step */
    PLAY_MS = 20000,  /* for a whole session at speed 1 */
    FASTEST = 6,
    SLOWEST = -6
};

static uint64_t last_moment(const struct browse *browse)
{
    const uint64_t duration = session_duration_ns(browse->session);
    return duration > 0 ? duration - 1 : 0;
}

/* Wants the moment so many ns later or earlier than the one that is wanted already. */
static void want(struct memory_grid *grid, const struct browse *browse, uint64_t ns, bool later)
{
    struct memory_play *play = &grid->play;
    const uint64_t now =
        play->wanted && play->from_ns == browse->moment_ns ? play->wanted_ns : browse->moment_ns;
    const uint64_t last = last_moment(browse);
    if (later)
        play->wanted_ns = now < last && ns < last - now ? now + ns : last;
    else
        play->wanted_ns = now > ns ? now - ns : 0;
    play->from_ns = browse->moment_ns;
    play->wanted = play->wanted_ns != browse->moment_ns;
}

/* Wants the moment one step later or earlier. */
static void step_time(struct memory_grid *grid, const struct browse *browse, bool later)
{
    const uint64_t step = session_duration_ns(browse->session) / TIME_STEPS;
    want(grid, browse, step > 0 ? step : 1, later);
}

static void say_speed(const struct memory_grid *grid, struct browse *browse)
{
    char speed[MEMORY_SPEED_SIZE];
    browse_say(browse, "playing %s · ( slower, ) faster, ←→ earlier, later, space stops",
               memory_speed(grid, speed));
}

char *memory_speed(const struct memory_grid *grid, char *out)
{
    const int speed = grid->play.speed;
    snprintf(out, MEMORY_SPEED_SIZE, "×%s%d", speed < 0 ? "1/" : "",
             1 << (speed < 0 ? -speed : speed));
    return out;
}

/* Keys that go through time. Returns false if the action is none of these. */
static bool act_on_play(struct memory_grid *grid, struct browse *browse, enum action action)
{
    struct memory_play *play = &grid->play;
    const bool scrubs = play->playing && (action == ACTION_LEFT || action == ACTION_RIGHT);
    switch (action) {
    case ACTION_PLAY:
        play->playing = !play->playing;
        play->chosen_ms = 0;
        if (play->playing && browse->moment_ns >= last_moment(browse) &&
            !session_recording(browse->session))
            browse->moment_ns = session_start_ns(browse->session);
        if (play->playing)
            say_speed(grid, browse);
        else
            browse_say(browse, "stopped");
        play->wanted = false;
        return true;
    case ACTION_SLOWER:
    case ACTION_FASTER:
        play->speed += action == ACTION_FASTER ? play->speed < FASTEST : -(play->speed > SLOWEST);
        say_speed(grid, browse);
        return true;
    case ACTION_STEP_BACK:
    case ACTION_STEP_FORWARD:
        play->playing = false;
        step_time(grid, browse, action == ACTION_STEP_FORWARD);
        return true;
    default:
        if (scrubs)
            step_time(grid, browse, action == ACTION_RIGHT);
        if (scrubs)
            play->shown_ms = 0; /* at once */
        return scrubs;
    }
}

static void choose(struct memory_grid *grid, struct browse *browse)
{
    struct memory_play *play = &grid->play;
    const int64_t now = loader_now_ms();
    int64_t took = play->chosen_ms > 0 ? now - play->chosen_ms : FRAME_MS;
    took = took < FRAME_MS ? FRAME_MS : took < LATE_MS ? took : LATE_MS;
    double ns = (double)session_duration_ns(browse->session) * (double)took / PLAY_MS;
    ns = play->speed < 0 ? ns / (1 << -play->speed) : ns * (1 << play->speed);
    play->chosen_ms = now;
    want(grid, browse, ns >= 1 ? (uint64_t)ns : 1, true);
    /* A recording goes on. */
    if (!play->wanted && !session_recording(browse->session)) {
        play->playing = false;
        browse_say(browse, "the end");
    }
}

/* Loads the frame at the wanted moment into the second grid. Returns false if it is not complete.
 */
static bool load_ahead(struct memory_grid *grid, struct browse *browse,
                       const struct view_input *input)
{
    struct memory_grid *ahead = grid->play.ahead;
    const struct memory_frame_loads loads = ahead->frame;
    const uint64_t shown = browse->moment_ns;
    *ahead = *grid;
    ahead->frame = loads;
    ahead->play.ahead = NULL;
    browse->moment_ns = grid->play.wanted_ns;
    memory_load_regions(ahead, browse);
    memory_fit(ahead, input);
    place_cursor(ahead);
    if (ahead->regions_known && ahead->map.region_count > 0)
        memory_load(ahead, browse);
    browse->moment_ns = shown;
    return ahead->regions_known &&
           (ahead->map.region_count == 0 || (ahead->cells && ahead->use && ahead->details_known));
}

/* Goes to the wanted moment if its frame is there. Call it before the frame is asked for. */
static void memory_play(struct memory_grid *grid, struct browse *browse,
                        const struct view_input *input)
{
    struct memory_play *play = &grid->play;
    /* Somebody has gone to another moment. */
    if (play->from_ns != browse->moment_ns)
        play->wanted = false;
    if (play->playing && !play->wanted)
        choose(grid, browse);
    const int64_t now = loader_now_ms();
    if (play->wanted && load_ahead(grid, browse, input) &&
        (!play->playing || now >= play->shown_ms + FRAME_MS)) {
        struct memory_frame_loads *shown = &grid->frame, *next = &play->ahead->frame;
        load_swap(&browse->loader, &shown->regions, &next->regions);
        load_swap(&browse->loader, &shown->cells, &next->cells);
        load_swap(&browse->loader, &shown->use, &next->use);
        load_swap(&browse->loader, &shown->details, &next->details);
        load_swap(&browse->loader, &shown->pages, &next->pages);
        /* They are the next frame's now; a burst of keys may come before the new ones are loaded.
         */
        grid->cells = NULL;
        grid->use = NULL;
        grid->pages = NULL;
        grid->details = memory_no_details();
        grid->details_known = false;
        browse->moment_ns = play->wanted_ns;
        play->wanted = false;
        play->shown_ms = play->playing ? now : 0;
        if (play->playing)
            choose(grid, browse);
        if (play->wanted)
            load_ahead(grid, browse, input);
    }
    browse->wake_ms = play->playing ? play->shown_ms + FRAME_MS : 0;
    if (play->playing && browse->wake_ms <= now)
        browse->wake_ms = now + FRAME_MS;
}

static void memory_stop(struct memory_grid *grid)
{
    grid->play.playing = grid->play.wanted = false;
}

static void memory_leave(void *view, struct browse *browse)
{
    struct memory_grid *grid = view;
    if (grid->play.wanted && !grid->play.playing && grid->play.from_ns == browse->moment_ns)
        browse->moment_ns = grid->play.wanted_ns;
    memory_stop(grid);
}

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
    block->found = session_allocation(session, block->request.id, &block->allocation, error);
    return block->found;
}

/* Goes to the block that another view has selected, and tells about the one here. */
static void jump(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(block_data, run_block, NULL);
    if (browse->to_memory == 0)
        return;
    const struct block_data wanted = {.request = {browse->renewals, browse->to_memory}};
    const struct block_data *block = browse_get(browse, &grid->block_load, &kind, &wanted.request);
    if (!block)
        return;
    browse->to_memory = 0;
    if (!block->found)
        return;
    const struct session_allocation *allocation = &block->allocation;
    if (browse->moment_ns < allocation->alloc_ns || browse->moment_ns >= allocation->free_ns)
        browse->moment_ns = allocation->alloc_ns;
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
    snprintf(out->label, sizeof(out->label), "what was in this hole before");
    size_t count = offer_step(out, "where address >= %" PRIu64 " and address < %" PRIu64,
                              hole->start, hole->end);
    snprintf(out[count].label, sizeof(out->label), "the block below, which pins it");
    count += offer_step(&out[count], "where id == %" PRIu64, hole->below);
    snprintf(out[count].label, sizeof(out->label), "the block above, which pins it");
    return count + offer_step(&out[count], "where id == %" PRIu64, hole->above);
}

static size_t memory_offers(void *view, struct browse *browse, struct view_offer *out,
                            size_t capacity)
{
    const struct memory_grid *grid = view;
    const struct memory_hole *hole = selected_hole(grid);
    if (hole)
        return offer_hole(&hole->hole, out, capacity);
    if (!grid->details->found)
        return 0;
    return offer_block(&grid->matchers, browse->session, &grid->details->allocation,
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

bool memory_copy(void *view, struct browse *browse, FILE *out)
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
            session_type_name(browse->session, allocation->type),
            format_filter_time(time, allocation->alloc_ns));
    if (allocation->free_ns != SESSION_LIVE)
        fprintf(out, "freed at %s\n", format_filter_time(time, allocation->free_ns));
    for (size_t i = 0; i < details->frame_count; i++)
        fprintf(out, "#%zu %s %s:%" PRIu32 "\n", i,
                session_function_name(browse->session, details->frames[i].function),
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

static bool memory_table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct memory_grid *grid = view;
    if (grid->pane != MEMORY_HOLES)
        return write_regions(&grid->map, out, format);
    if (!grid->holes)
        return false;
    memory_holes_write(grid, out, format);
    return true;
}

static void *create(void)
{
    struct memory_grid *grid = calloc(1, sizeof(*grid));
    struct memory_grid *ahead = calloc(1, sizeof(*ahead));
    if (!grid || !ahead) {
        FREE_ALL(grid, ahead);
        return NULL;
    }
    grid->play.ahead = ahead;
    grid->map.bytes_per_cell = MEMORY_CELL_LEAST;
    grid->map.columns = 1;
    grid->details = memory_no_details();
    return grid;
}

static void destroy(void *view, struct browse *browse)
{
    struct memory_grid *grid = view;
    memory_loads_clear(grid, browse);
    FREE_ALL(grid->play.ahead, grid);
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

static void place_cursor(struct memory_grid *grid)
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

static void go_to(struct memory_grid *grid, struct browse *browse, const char *text)
{
    uint64_t address;
    if (!parse_address(text, &address)) {
        browse_complain(browse, "\"%.40s\" is not an address; write 55d0c4a02780 or 0x55d0", text);
        return;
    }
    if (grid->map.region_count == 0)
        return;
    const struct session_region *region = &grid->map.regions[memory_region_of(&grid->map, address)];
    if (address < region->start || address >= region->end)
        browse_say(browse, "no region holds %" PRIx64 " at this moment; the nearest is shown",
                   address);
    grid->cursor = address;
    grid->exact = true;
}

static void click(struct memory_grid *grid, struct browse *browse, const struct view_input *input)
{
    struct memory_layout layout = memory_lay_out(input->width, input->height, memory_is_tall(grid));
    int column = input->x - layout.grid_x, row = input->y - layout.grid_y;
    if (!grid->alternate && !input->twice)
        legend_follow(browse, &browse->legend, color_by_name(browse->color_by),
                      memory_legend_at(grid, browse, &layout, input->x, input->y));
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

static bool act_on_time(struct memory_grid *grid, struct browse *browse, enum action action)
{
    if (action != ACTION_PEAK)
        return act_on_play(grid, browse, action);
    memory_stop(grid);
    grid->peak_asked = true;
    browse_go_to_peak(browse);
    return true;
}

static void change_pane(struct memory_grid *grid, enum memory_pane pane)
{
    grid->pane = grid->pane == pane ? MEMORY_DETAILS : pane;
    grid->stack_focus = false;
    grid->hole = 0;
}

static bool act(struct memory_grid *grid, struct browse *browse, const struct view_input *input)
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
        memory_seek_hole(grid, browse, input->action == ACTION_NEXT);
        memory_take_hole(grid, browse);
        break;
    case ACTION_GOTO:
        go_to(grid, browse, input->text);
        break;
    case ACTION_HOLES:
        change_pane(grid, MEMORY_HOLES);
        memory_open_holes(grid, browse);
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
        click(grid, browse, input);
        break;
    case ACTION_FOLLOW:
        grid->stack_focus =
            grid->members ? grid->details->member_count > 0 : grid->details->frame_count > 0;
        break;
    case ACTION_VIEW_1 + VIEW_RETAINED:
        if (!grid->details->found)
            return false;
        browse_show_holders(browse, grid->details->allocation.id);
        break;
    default:
        return false;
    }
    return true;
}

/* Fits the cells to the screen; moves the cursor into a region, and scrolls to it. */
static void memory_fit(struct memory_grid *grid, const struct view_input *input)
{
    struct memory_layout layout = memory_lay_out(input->width, input->height, memory_is_tall(grid));
    /* A burst of keys may leave the view before it loads the cells of its new size. */
    if (grid->map.columns != layout.columns || grid->rows != layout.rows)
        grid->cells = NULL;
    grid->map.columns = layout.columns;
    grid->rows = layout.rows;
    const uint64_t fitting = memory_fitting_cell(&grid->map, (uint64_t)layout.rows);
    /* A play zooms out if it must, but not in and out again. */
    if (!grid->zoom_chosen && (!grid->play.playing || fitting > grid->map.bytes_per_cell))
        grid->map.bytes_per_cell = fitting;
}

/* Loads what the pane shows. The list of holes comes first: it may go to another moment. */
static void load(struct memory_grid *grid, struct browse *browse)
{
    if (grid->pane == MEMORY_HOLES)
        memory_load_holes(grid, browse);
    memory_load(grid, browse);
    if (grid->pane == MEMORY_OVER_TIME)
        memory_load_over_time(grid, browse);
    if (grid->details->found && !grid->play.playing)
        block_matchers_load(&grid->matchers, browse, &grid->details->allocation,
                            grid->details->user, 0);
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct memory_grid *grid = view;
    bool used = input->action == ACTION_REFRESH || act_on_time(grid, browse, input->action);
    if (used && input->more)
        return true;
    browse_load_legend(browse);
    jump(grid, browse);
    memory_play(grid, browse, input);
    memory_load_regions(grid, browse);
    memory_fit(grid, input);
    /* These need the allocation under the cursor, which a burst of keys has not loaded yet. */
    if (!used && (grid->stack_focus || input->action == ACTION_FOLLOW)) {
        place_cursor(grid);
        memory_load(grid, browse);
    }
    if (!used && grid->stack_focus && grid->map.region_count > 0)
        used = act_on_stack(grid, input);
    if (!used && grid->pane == MEMORY_HOLES) {
        memory_load_holes(grid, browse);
        used = memory_act_on_holes(grid, input);
    }
    if (!used && grid->map.region_count > 0)
        used = act(grid, browse, input);
    memory_fit(grid, input);
    memory_take_hole(grid, browse);
    if (!input->more && grid->pane == MEMORY_HOLES)
        memory_load_holes(grid, browse);
    place_cursor(grid);
    if (!input->more)
        load(grid, browse);
    /* The block under the cursor is what other views select now. */
    if (used && input->action != ACTION_REFRESH && grid->details->found)
        browse->allocation = grid->details->allocation.id;
    return used;
}

static const struct key_binding keys[] = {
    {ACTION_LEFT, "one cell down in memory", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "one cell up in memory", .keys = {KEYCODE_RIGHT}},
    {ACTION_FOLLOW, "into the stack or the members, to scroll them", .keys = {KEYCODE_ENTER},
     .footer = "stack"},
    {ACTION_MEMBERS, "members of the type and padding instead of the stack, and back",
     .keys = {'m'}, .footer = "members"},
    {ACTION_VIEW_1 + VIEW_RETAINED, "who keeps this block alive, and what it refers to",
     .keys = {'K'}},
    {ACTION_ZOOM_IN, "half the bytes per cell", .keys = {'+', '='}, .footer_keys = "+ -",
     .footer = "zoom"},
    {ACTION_ZOOM_OUT, "twice the bytes per cell", .keys = {'-'}},
    {ACTION_ZOOM_ALL, "zoom to show everything", .keys = {'0'}},
    {ACTION_STEP_BACK, "one step back in time", .keys = {'['}, .footer_keys = "[ ]",
     .footer = "time"},
    {ACTION_STEP_FORWARD, "one step forward in time", .keys = {']'}},
    {ACTION_HOLES, "list the holes: size, empty since when, what pins them; and back",
     .keys = {'h'}, .footer = "holes"},
    {ACTION_OVER_TIME, "what is not in use over time, and back", .keys = {'t'}},
    {ACTION_PLAY, "play through time, and stop; left and right then go through time",
     .keys = {' '}},
    {ACTION_SLOWER, "play at half the speed", .keys = {'('}},
    {ACTION_FASTER, "play at twice the speed", .keys = {')'}},
    {ACTION_NEXT, "to the next hole", .keys = {'n'}, .footer = "next hole"},
    {ACTION_PREVIOUS, "to the previous hole", .keys = {'N'}},
    {ACTION_ALTERNATE, "colours that only tell neighbours apart, and back", .keys = {'a'},
     .footer = "alternate"},
    {ACTION_PEAK, "to the moment of the peak", .keys = {'p'}, .footer = "peak"},
    {ACTION_GOTO, "go to an address", .keys = {'g'}, .footer = "go to"},
    {ACTION_SECTION_BACK, "to the previous region", .keys = {'{'}},
    {ACTION_SECTION_FORWARD, "to the next region", .keys = {'}'}, .footer = "region"},
};

const struct view_ops memory_view = {
    .name = "memory",
    .alias = "grid",
    .title = "Memory",
    .keys = KEY_TABLE(keys),
    .asks = "address:",
    .help =
        "Memory at one moment, block beside block. h lists the holes: how large, empty since "
        "when, and what pins them. At a moment at which the pages in memory were read, cells of "
        "blocks that are not in memory are dim, and free ones that are hatched.",
    .create = create,
    .destroy = destroy,
    .leave = memory_leave,
    .update = update,
    .render = memory_grid_render,
    .offers = memory_offers,
    .copy = memory_copy,
    .table = memory_table,
};
