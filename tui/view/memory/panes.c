/* SPDX-License-Identifier: BSD-2-Clause */
/* The panes of the memory view: the allocation under the cursor, holes, the use over time. They ask
 * the engine for what they show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/user_code.h"
#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/memory/grid.h"

static bool load_allocation(struct session *session, uint64_t id,
                            struct session_allocation *allocation, struct session_error *error)
{
    return id != 0 && session_allocation(session, id, allocation, error);
}

/* Loads the stack, the type and the history of the address of an allocation. */
static bool load_facts(struct memory_details *details, struct session *session,
                       struct session_error *error)
{
    const struct session_allocation *allocation = &details->allocation;
    details->frame_count =
        session_stack(session, allocation->stack, details->frames, MEMORY_FRAMES_MOST);
    if (details->frame_count > MEMORY_FRAMES_MOST)
        details->frame_count = MEMORY_FRAMES_MOST;
    details->call_site = session_stack_call_site(session, allocation->stack);
    details->used_before = session_address_history(session, allocation->alloc_ns,
                                                   allocation->address, &details->last_free_ns);
    const size_t user = session_stack_user(session, allocation->stack);
    if (user < details->frame_count)
        details->user = details->frames[user].function;
    if (allocation->type == 0)
        return true;
    const bool good =
        session_type_members(session, allocation->type, details->members, MEMORY_MEMBERS_MOST,
                             &details->member_count, &details->type_size, error);
    if (details->member_count > MEMORY_MEMBERS_MOST)
        details->member_count = MEMORY_MEMBERS_MOST;
    return good;
}

/* Loads the allocation at an address and its neighbours at `ns`. `id` is its id, 0 if not known.
 * `details` are all 0 before. Returns false with `error` set; the parts that could be read are
 * there. */
static bool details_load(struct memory_details *details, struct session *session, uint64_t ns,
                         uint64_t address, uint64_t id, struct session_error *error)
{
    uint64_t below = 0, above = 0;
    bool good = true;
    details->address = address;
    details->ns = ns;
    if (id == 0)
        id = session_allocation_at(session, ns, address);
    details->found = load_allocation(session, id, &details->allocation, error);
    if (details->found) {
        address = details->allocation.address;
        good = load_facts(details, session, error);
    }
    details->unknown_gap = !details->found && session_gap_is_unknown(session, ns, address);
    session_neighbours(session, ns, address, &below, &above);
    details->has_below = load_allocation(session, below, &details->below, error);
    details->has_above = load_allocation(session, above, &details->above, error);
    return good && details->found == (id != 0) && details->has_below == (below != 0) &&
           details->has_above == (above != 0);
}

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
    return session_regions(session, regions->request.ns, &regions->regions, &regions->count, error);
}

void memory_load_regions(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(regions_data, run_regions, regions);
    const struct regions_data wanted = {.request = {browse->moment_ns, browse->renewals}};
    const struct regions_data *regions =
        browse_get(browse, &grid->frame.regions, &kind, &wanted.request);
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

static void load_cells(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(cells_data, run_cells, cells);
    struct cells_data wanted = {.request = {.generation = browse->generation,
                                            .ns = browse->moment_ns,
                                            .bytes_per_cell = grid->map.bytes_per_cell,
                                            .by = (uint64_t)browse->color_by,
                                            .columns = (uint64_t)grid->map.columns,
                                            .rows = (uint64_t)grid->rows}};
    want_cells(grid, &wanted);
    const struct cells_data *cells = browse_get(browse, &grid->frame.cells, &kind, &wanted.request);
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
    return selection_use(selection, use->request.ns, use->request.start, use->request.end,
                         SESSION_HOLE_LEAST, &use->use, error);
}

static void load_use(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(use_data, run_use, NULL);
    grid->use = NULL;
    if (grid->map.region_count == 0)
        return;
    const struct session_region *region =
        &grid->map.regions[memory_region_of(&grid->map, grid->cursor)];
    const struct use_data wanted = {
        .request = {browse->selections, browse->moment_ns, region->start, region->end}};
    const struct use_data *use = browse_get(browse, &grid->frame.use, &kind, &wanted.request);
    grid->use = use ? &use->use : NULL;
}

struct pages_data {
    struct {
        uint64_t selections, ns;
    } request;
    struct memory_pages pages;
};

/* Reads the pages if the moment lies in the time of a reading: at others nobody knows them. */
static bool run_pages(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct pages_data *pages = data;
    const struct session_residency *moments;
    const uint64_t ns = pages->request.ns;
    size_t count;
    if (!session_residencies(session, &moments, &count, error))
        return false;
    if (count == 0)
        return true;
    const struct session_residency *moment =
        &moments[session_residency_nearest(moments, count, ns)];
    /* The last moment that views show is the one before the end. */
    pages->pages.read = moment->ns <= ns + 1 && ns <= moment->end_ns;
    return !pages->pages.read ||
           session_residency_pages(session, moment, &pages->pages.runs, &pages->pages.count, error);
}

static void load_pages(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(pages_data, run_pages, pages.runs);
    const struct pages_data wanted = {.request = {browse->selections, browse->moment_ns}};
    const struct pages_data *pages = browse_get(browse, &grid->frame.pages, &kind, &wanted.request);
    grid->pages = pages && pages->pages.read ? &pages->pages : NULL;
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
    return details_load(&details->details, session, details->request.ns, details->request.address,
                        details->request.id, error);
}

void memory_load(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(details_data, run_details, NULL);
    load_cells(grid, browse);
    load_use(grid, browse);
    load_pages(grid, browse);
    const struct session_cell *cell = cursor_cell(grid);
    const struct memory_details *before = grid->details;
    grid->details = memory_no_details();
    grid->details_known = false;
    if (cell) {
        const struct details_data wanted = {.request = {browse->renewals, browse->moment_ns,
                                                        grid->cursor, grid->exact ? 0 : cell->id}};
        const struct details_data *details =
            browse_get(browse, &grid->frame.details, &kind, &wanted.request);
        grid->details_known = details != NULL;
        if (details)
            grid->details = &details->details;
    }
    if (grid->details != before)
        grid->stack_scroll = 0;
}

static void clear_frame(struct loader *loader, struct memory_frame_loads *frame)
{
    LOADS_CLEAR(loader, &frame->regions, &frame->cells, &frame->use, &frame->details,
                &frame->pages);
}

void memory_loads_clear(struct memory_grid *grid, struct browse *browse)
{
    clear_frame(&browse->loader, &grid->frame);
    clear_frame(&browse->loader, &grid->play.ahead->frame);
    LOADS_CLEAR(&browse->loader, &grid->gaps_load, &grid->holes_load, &grid->moment_load,
                &grid->now_load, &grid->block_load);
    function_matchers_clear(&grid->matchers, browse);
}

/* ---- the next hole ---------------------------------------------------------------------- */

struct gaps_data {
    struct {
        uint64_t renewals, ns;
    } request;
    struct session_hole *holes; /* by address */
    size_t count;
};

ARRAY_ORDER(by_address, struct session_hole, ORDER(a->start, b->start))

static bool run_gaps(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct gaps_data *gaps = data;
    if (!session_holes(session, gaps->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, false,
                       &gaps->holes, &gaps->count, error))
        return false;
    if (gaps->count > 0)
        qsort(gaps->holes, gaps->count, sizeof(*gaps->holes), by_address);
    return true;
}

void memory_seek_hole(struct memory_grid *grid, const struct browse *browse, bool up)
{
    grid->seeking = true;
    grid->seek.generation = browse->generation;
    grid->seek.ns = browse->moment_ns;
    grid->seek.address = grid->cursor;
    grid->seek.up = up;
}

/* Returns the hole next to an address in a direction, NULL if there is none. The hole that holds
 * the address is not next to it. */
static const struct session_hole *next_hole(const struct gaps_data *gaps, uint64_t address, bool up)
{
    const struct session_hole *below = NULL;
    for (size_t i = 0; i < gaps->count; i++) {
        if (up && gaps->holes[i].start > address)
            return &gaps->holes[i];
        if (gaps->holes[i].end <= address)
            below = &gaps->holes[i];
    }
    return up ? NULL : below;
}

void memory_take_hole(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(gaps_data, run_gaps, holes);
    const struct gaps_data wanted = {.request = {browse->renewals, browse->moment_ns}};
    if (!grid->seeking)
        return;
    /* The user has gone on: the answer must not move the cursor. */
    grid->seeking = grid->seek.generation == browse->generation &&
                    grid->seek.ns == browse->moment_ns && grid->seek.address == grid->cursor;
    const struct gaps_data *gaps =
        grid->seeking ? browse_get(browse, &grid->gaps_load, &kind, &wanted.request) : NULL;
    if (!gaps)
        return;
    grid->seeking = false;
    const struct session_hole *hole = next_hole(gaps, grid->cursor, grid->seek.up);
    char size[FORMAT_SIZE];
    if (hole) {
        grid->cursor = hole->start;
        grid->exact = true;
    } else if (!browse->message[0]) {
        browse_say(browse, "no further hole of %s or more in this direction",
                   format_size(size, SESSION_HOLE_LEAST));
    }
}

/* ---- the list --------------------------------------------------------------------------- */

struct holes_data {
    struct {
        uint64_t renewals, ns;
    } request;
    struct memory_hole *holes;
    size_t count;
    struct session_use use; /* of all memory */
};

static bool run_holes(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct holes_data *holes = data;
    struct session_hole *found = NULL;
    if (!selection_use(selection, holes->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, &holes->use,
                       error) ||
        !session_holes(session, holes->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, true, &found,
                       &holes->count, error))
        return false;
    holes->holes = calloc(holes->count + 1, sizeof(*holes->holes));
    bool good = holes->holes != NULL;
    if (!good) {
        holes->count = 0;
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    }
    for (size_t i = 0; i < holes->count; i++)
        holes->holes[i].hole = found[i];
    for (size_t i = 0; good && i < holes->count && i < MEMORY_HOLES_NAMED; i++)
        good = session_allocation(session, found[i].below, &holes->holes[i].below, error) &&
               session_allocation(session, found[i].above, &holes->holes[i].above, error);
    free(found);
    return good;
}

void memory_open_holes(struct memory_grid *grid, const struct browse *browse)
{
    grid->worst_wanted = grid->pane == MEMORY_HOLES && !grid->peak_asked &&
                         (browse->moment_ns == browse->peak_ns ||
                          browse->moment_ns == session_peak_ns(browse->session));
    grid->worst_from = browse->moment_ns;
}

/* Goes to the moment with the most holes, once it is known. */
static void take_worst(struct memory_grid *grid, struct browse *browse)
{
    const struct session_use *use;
    char time[FORMAT_SIZE];
    uint64_t worst;
    grid->worst_wanted = browse->moment_ns == grid->worst_from;
    if (!grid->worst_wanted || !worst_holes_get(browse, &worst, &use))
        return;
    grid->worst_wanted = false;
    if (!use || worst == browse->moment_ns)
        return;
    browse->moment_ns = worst;
    memory_load_regions(grid, browse);
    browse_say(browse, "%s, not the peak: most holes of %d moments; p goes to the peak",
               format_instant(time, worst), WORST_HOLES_STEPS + 1);
}

void memory_load_holes(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(holes_data, run_holes, holes);
    const struct memory_hole *before = grid->holes;
    if (grid->worst_wanted)
        take_worst(grid, browse);
    const struct holes_data wanted = {.request = {browse->renewals, browse->moment_ns}};
    const struct holes_data *holes =
        grid->worst_wanted ? NULL : browse_get(browse, &grid->holes_load, &kind, &wanted.request);
    grid->holes = holes ? holes->holes : NULL;
    grid->hole_count = holes ? holes->count : 0;
    grid->around = holes ? &holes->use : NULL;
    if (grid->hole >= grid->hole_count)
        grid->hole = grid->hole_count > 0 ? grid->hole_count - 1 : 0;
    if (grid->holes && grid->holes != before && grid->hole_count > 0) {
        grid->cursor = grid->holes[grid->hole].hole.start;
        grid->exact = true;
    }
}

static size_t moved(size_t at, size_t count, bool down, size_t by)
{
    if (!down)
        return at > by ? at - by : 0;
    return count - at > by ? at + by : count - 1;
}

bool memory_act_on_holes(struct memory_grid *grid, const struct view_input *input)
{
    const enum action action = input->action;
    if (action == ACTION_BACK || action == ACTION_FOLLOW) {
        grid->pane = MEMORY_DETAILS;
        return true;
    }
    if (grid->hole_count == 0)
        return false;
    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
        grid->hole = moved(grid->hole, grid->hole_count, action == ACTION_DOWN, 1);
        break;
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        grid->hole = moved(grid->hole, grid->hole_count, action == ACTION_WHEEL_DOWN, 3);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
        grid->hole = moved(grid->hole, grid->hole_count, action == ACTION_PAGE_DOWN, 10);
        break;
    case ACTION_HOME:
        grid->hole = 0;
        break;
    case ACTION_END:
        grid->hole = grid->hole_count - 1;
        break;
    default:
        return false;
    }
    grid->cursor = grid->holes[grid->hole].hole.start;
    grid->exact = true;
    return true;
}

/* ---- cells ------------------------------------------------------------------------------ */

/* Returns each hole's rows: in a narrow pane what pins it has its own. */
static int rows_of_hole(const struct area *area)
{
    return area->width >= 110 ? 1 : 3;
}

/* Draws "below Node, 48 B, since 1.2 s": the block on one side. */
static void render_pin(const struct browse *browse, const struct area *area, int x, int y,
                       int width, const char *side, const struct session_allocation *pin)
{
    char size[FORMAT_SIZE], time[FORMAT_SIZE], rest[2 * FORMAT_SIZE + 16];
    struct area part = area_part(area, x, y, width, 1);
    const struct cell_style faint = theme_style(THEME_FAINT);
    if (pin->id == 0)
        return;
    const char *name = pin->type ? session_type_name(browse->session, pin->type)
                                 : session_function_name(browse->session, pin->function);
    snprintf(rest, sizeof(rest), ", %s, since %s", format_size(size, pin->size),
             format_instant(time, pin->alloc_ns));
    int at = area_print(&part, 0, 0, faint, "%s ", side);
    at +=
        area_category(&part, at, 0, width - at - text_width(rest), theme_style(THEME_PLAIN), name);
    area_text(&part, at, 0, faint, rest);
}

static void render_hole(const struct browse *browse, const struct area *area, int y,
                        const struct memory_hole *row, bool selected)
{
    char text[FORMAT_SIZE], since[FORMAT_SIZE + 16];
    const struct cell_style plain = theme_style(selected ? THEME_CURSOR : THEME_PLAIN);
    area_field_right(area, 1, y, 9, plain, format_size(text, row->hole.end - row->hole.start));
    area_print(area, 12, y, theme_style(THEME_FAINT), "%012" PRIx64, row->hole.start);
    if (row->hole.since_ns == SESSION_NEVER)
        snprintf(since, sizeof(since), "never used");
    else
        snprintf(since, sizeof(since), "since %s", format_instant(text, row->hole.since_ns));
    area_field(area, 26, y, 17, plain, since);
    if (rows_of_hole(area) > 1) {
        render_pin(browse, area, 4, y + 1, area->width - 5, "below", &row->below);
        render_pin(browse, area, 4, y + 2, area->width - 5, "above", &row->above);
        return;
    }
    const int half = (area->width - 45) / 2;
    render_pin(browse, area, 44, y, half - 2, "below", &row->below);
    render_pin(browse, area, 44 + half, y, half - 1, "above", &row->above);
}

/* Draws how many holes there are, and at which moment. */
static void render_sum(const struct memory_grid *grid, const struct browse *browse,
                       const struct area *area)
{
    char count[FORMAT_SIZE], size[FORMAT_SIZE], bytes[FORMAT_SIZE], time[FORMAT_SIZE], text[160];
    const bool sampled = session_sampled(browse->session);
    uint64_t sum = 0;
    for (size_t i = 0; i < grid->hole_count; i++)
        sum += grid->holes[i].hole.end - grid->holes[i].hole.start;
    char least[FORMAT_SIZE + 16] = "";
    if (area->width >= 60)
        snprintf(least, sizeof(least), " of %s or more", format_size(size, SESSION_HOLE_LEAST));
    snprintf(text, sizeof(text), "%s %s%s%s, %s at %s", format_count(count, grid->hole_count),
             sampled ? "gap" : "hole", grid->hole_count == 1 ? "" : "s", least,
             format_size(bytes, sum), format_instant(time, browse->moment_ns));
    const int x = 1 + area_text(area, 1, 0, theme_style(THEME_HEADING), text);
    const char *what = sampled ? ": blocks may lie there" : ": since when, what pins them";
    if (x + text_width(what) <= area->width)
        area_text(area, x, 0, theme_style(THEME_HEADING), what);
}

/* Draws what may be no hole: see session/holes.h. Returns false if there is no such gap. */
static bool render_unknown(const struct session_use *use, const struct area *area)
{
    char count[FORMAT_SIZE], bytes[FORMAT_SIZE], text[160];
    if (use->unknown_count == 0)
        return false;
    snprintf(text, sizeof(text), "unclear, not counted: %s gap%s beside mappings, %s",
             format_count(count, use->unknown_count), use->unknown_count == 1 ? "" : "s",
             format_size(bytes, use->unknown_bytes));
    area_field(area, 1, 1, area->width - 2, theme_style(THEME_WARNING), text);
    return true;
}

void memory_holes_render(const struct memory_grid *grid, const struct browse *browse,
                         const struct area *area)
{
    char text[PENDING_SIZE];
    if (!grid->holes) {
        area_text(area, 1, 0, theme_style(THEME_FAINT), browse_pending(text, browse));
        return;
    }
    render_sum(grid, browse, area);
    const int top = render_unknown(grid->around, area) ? 2 : 1;
    const int step = rows_of_hole(area), rows = (area->height - top) / step;
    size_t first = grid->hole >= (size_t)rows ? grid->hole - (size_t)rows + 1 : 0;
    for (int i = 0; i < rows && first + (size_t)i < grid->hole_count; i++)
        render_hole(browse, area, top + i * step, &grid->holes[first + (size_t)i],
                    first + (size_t)i == grid->hole);
}

/* ---- as a file -------------------------------------------------------------------------- */

enum { FILE_ADDRESS, FILE_BYTES, FILE_SINCE, FILE_BELOW, FILE_ABOVE, FILE_COLUMNS };

static const struct table_column file_columns[FILE_COLUMNS] = {
    {.title = "address"},  {.title = "hole_bytes"}, {.title = "empty_since_ns"},
    {.title = "below_id"}, {.title = "above_id"},
};

static void file_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct session_hole *hole = &((const struct memory_grid *)context)->holes[row].hole;
    const uint64_t numbers[FILE_COLUMNS] = {hole->start, hole->end - hole->start, hole->since_ns,
                                            hole->below, hole->above};
    if (column == FILE_SINCE && hole->since_ns == SESSION_NEVER) {
        snprintf(cell->text, sizeof(cell->text), "never used");
    } else {
        cell->is_number = true;
        cell->number = numbers[column];
        snprintf(cell->text, sizeof(cell->text), "%" PRIu64, numbers[column]);
    }
}

void memory_holes_write(const struct memory_grid *grid, FILE *out, enum table_format format)
{
    const struct table_source source = {.context = (void *)(uintptr_t)grid,
                                        .columns = file_columns,
                                        .column_count = FILE_COLUMNS,
                                        .rows = grid->hole_count,
                                        .cell = file_cell};
    table_write(&source, out, format);
}

/* The parts of memory, from the bottom of the chart. */
enum part { PART_SELECTED, PART_FILTERED, PART_OVERHEAD, PART_SMALL, PART_HOLES, PARTS };

static const char *const part_names[PARTS] = {
    [PART_SELECTED] = "in use",  [PART_FILTERED] = "filtered out", [PART_OVERHEAD] = "gaps to 32 B",
    [PART_SMALL] = "small gaps", [PART_HOLES] = "holes",
};
static const uint32_t part_patterns[PARTS] = {'#', '-', '+', ':', '.'};

static uint64_t part_of(const struct session_use *use, enum part part)
{
    switch (part) {
    case PART_SELECTED:
        return use->selected_bytes;
    case PART_FILTERED:
        return use->filtered_bytes;
    case PART_OVERHEAD:
        return use->overhead_bytes;
    case PART_SMALL:
        return use->small_bytes;
    default:
        return use->hole_bytes;
    }
}

/* ---- loading ---------------------------------------------------------------------------- */

struct moment_data {
    struct {
        uint64_t selections, ns;
    } request;
    struct session_use use;
};

static bool run_moment(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct moment_data *moment = data;
    return selection_use_over_time(selection, moment->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST,
                                   &moment->use, error);
}

/* Returns the next column to load, coarse steps first; MEMORY_MOMENTS if all are known. */
static size_t next_column(const struct memory_grid *grid)
{
    for (size_t step = MEMORY_MOMENTS / 8; step > 0; step /= 2)
        for (size_t i = 0; i < MEMORY_MOMENTS; i += step)
            if (!grid->moment_known[i])
                return i;
    return MEMORY_MOMENTS;
}

uint64_t memory_moment_of(const struct memory_grid *grid, size_t column)
{
    enum { STEPS = MEMORY_MOMENTS - 1 };
    const uint64_t span = grid->moments_to - 1 - grid->moments_from;
    return grid->moments_from + span / STEPS * column + span % STEPS * column / STEPS;
}

static bool run_now(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    struct moment_data *moment = data;
    return selection_use(selection, moment->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST,
                         &moment->use, error);
}

/* Loads the use at the moment itself, which may lie between two columns. */
static void load_now(struct memory_grid *grid, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(moment_data, run_now, NULL);
    const struct moment_data wanted = {.request = {browse->selections, browse->moment_ns}};
    const struct moment_data *now = browse_get(browse, &grid->now_load, &kind, &wanted.request);
    grid->now = now ? &now->use : NULL;
}

void memory_load_over_time(struct memory_grid *grid, struct browse *browse)
{
    load_now(grid, browse);
    static const struct load_kind kind = LOAD_KIND(moment_data, run_moment, NULL);
    const uint64_t from = session_start_ns(browse->session);
    const uint64_t to = session_duration_ns(browse->session);
    if (grid->moments_generation != browse->selections || grid->moments_from != from ||
        grid->moments_to != to) {
        memset(grid->moment_known, 0, sizeof(grid->moment_known));
        grid->moments_generation = browse->selections;
        grid->moments_from = from;
        grid->moments_to = to > from ? to : from + 1;
    }
    for (size_t column; (column = next_column(grid)) < MEMORY_MOMENTS;) {
        const struct moment_data wanted = {
            .request = {browse->selections, memory_moment_of(grid, column)}};
        const struct moment_data *moment =
            browse_get(browse, &grid->moment_load, &kind, &wanted.request);
        if (!moment)
            return;
        grid->moments[column] = moment->use;
        grid->moment_known[column] = true;
    }
}

/* ---- cells ------------------------------------------------------------------------------ */

static struct cell_style part_style(const struct area *area, enum part part)
{
    if (part == PART_FILTERED)
        return theme_style(THEME_FILTERED);
    if (part == PART_SELECTED)
        return theme_category(area->grid, 0, SESSION_COLORS - 1, -1);
    return theme_category(area->grid, (size_t)part, SESSION_COLORS - 1, -1);
}

static uint64_t sum_of(const struct session_use *use)
{
    uint64_t sum = 0;
    for (int part = 0; part < PARTS; part++)
        sum += part_of(use, (enum part)part);
    return sum;
}

/* Returns the known column that is nearest before `column`, MEMORY_MOMENTS if there is none. */
static size_t known_column(const struct memory_grid *grid, size_t column)
{
    for (size_t i = column + 1; i-- > 0;)
        if (grid->moment_known[i])
            return i;
    return MEMORY_MOMENTS;
}

/* Draws the parts of memory at the moment itself, in as many rows as they need. Returns these. */
static int render_legend(const struct memory_grid *grid, const struct browse *browse,
                         const struct area *area)
{
    const struct session_use *use = grid->now;
    char size[FORMAT_SIZE], text[PENDING_SIZE];
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_FAINT), "at "), y = 0;
    x += area_text(area, x, 0, theme_style(THEME_STRONG), format_instant(size, browse->moment_ns));
    if (!use) {
        area_text(area, x + 2, 0, theme_style(THEME_FAINT), browse_pending(text, browse));
        return 1;
    }
    x += 2;
    for (int part = 0; part <= PARTS; part++) {
        const uint64_t bytes = part < PARTS ? part_of(use, (enum part)part) : use->unknown_bytes;
        const char *name = part < PARTS ? part_names[part] : "unclear, beside mappings";
        if ((part == PART_FILTERED || part == PARTS) && bytes == 0)
            continue;
        format_size(size, bytes);
        if (x + 3 + text_width(name) + text_width(size) > area->width && x > 1) {
            x = 1;
            y++;
        }
        if (part < PARTS)
            area_put(area, x, y, grid_colors(area->grid) ? 0x2588 : part_patterns[part],
                     part_style(area, (enum part)part));
        x += 2 + area_text(area, x + 2, y, theme_style(THEME_FAINT), name);
        x += 3 + area_text(area, x + 1, y, theme_style(THEME_PLAIN), size);
    }
    return y + 1;
}

void memory_over_time_render(const struct memory_grid *grid, const struct browse *browse,
                             const struct area *area)
{
    char text[FORMAT_SIZE];
    uint64_t scale = 1;
    for (size_t i = 0; i < MEMORY_MOMENTS; i++)
        if (grid->moment_known[i] && sum_of(&grid->moments[i]) > scale)
            scale = sum_of(&grid->moments[i]);
    const int top = render_legend(grid, browse, area);
    const int height = area->height - top - 2, columns = area->width - 2;
    struct area chart = area_part(area, 1, top, columns, height);
    int cursor = 0;
    for (int x = 0; x < columns && height > 0; x++) {
        const size_t wanted = (size_t)x * MEMORY_MOMENTS / (size_t)columns;
        const size_t column = known_column(grid, wanted);
        struct bar_layer layers[PARTS];
        if (column == MEMORY_MOMENTS)
            continue;
        for (int part = 0; part < PARTS; part++)
            layers[part] =
                (struct bar_layer){part_of(&grid->moments[column], (enum part)part),
                                   part_style(area, (enum part)part), part_patterns[part]};
        bars_column(&chart, x, layers, PARTS, scale, CELL_DEFAULT);
        if (memory_moment_of(grid, wanted) <= browse->moment_ns)
            cursor = x;
    }
    if (height <= 0)
        return;
    area_put(area, 1 + cursor, area->height - 2, 0x25b2, theme_style(THEME_STRONG));
    area_print(area, 1, area->height - 1, theme_style(THEME_FAINT), "%s",
               format_duration(text, grid->moments_from));
    format_duration(text, grid->moments_to);
    area_text(area, area->width - 1 - text_width(text), area->height - 1, theme_style(THEME_FAINT),
              text);
    if (next_column(grid) < MEMORY_MOMENTS) {
        char pending[PENDING_SIZE];
        browse_pending(pending, browse);
        area_text(area, (area->width - text_width(pending)) / 2, area->height - 1,
                  theme_style(THEME_FAINT), pending);
    }
}
