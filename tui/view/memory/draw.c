/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the memory view: the cells, their legend and the pane. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/memory/grid.h"

uint64_t memory_row_bytes(const struct memory_map *map)
{
    return map->bytes_per_cell * (uint64_t)map->columns;
}

uint64_t memory_region_base(const struct memory_map *map, size_t region)
{
    uint64_t start = map->regions[region].start;
    return start - start % memory_row_bytes(map);
}

uint64_t memory_region_rows(const struct memory_map *map, size_t region)
{
    uint64_t span = map->regions[region].end - memory_region_base(map, region);
    uint64_t row = memory_row_bytes(map);
    return span / row + (span % row != 0);
}

uint64_t memory_rows(const struct memory_map *map)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < map->region_count; i++)
        rows += 1 + memory_region_rows(map, i);
    return rows;
}

size_t memory_region_of(const struct memory_map *map, uint64_t address)
{
    for (size_t i = 0; i < map->region_count; i++) {
        if (address < map->regions[i].start) {
            uint64_t above = map->regions[i].start - address;
            return i > 0 && address - map->regions[i - 1].end < above ? i - 1 : i;
        }
        if (address < map->regions[i].end)
            return i;
    }
    return map->region_count > 0 ? map->region_count - 1 : 0;
}

uint64_t memory_row_of(const struct memory_map *map, size_t region, uint64_t address)
{
    uint64_t row = 0;
    for (size_t i = 0; i < region; i++)
        row += 1 + memory_region_rows(map, i);
    uint64_t base = memory_region_base(map, region);
    return row + 1 + (address > base ? (address - base) / memory_row_bytes(map) : 0);
}

struct memory_row memory_row_at(const struct memory_map *map, uint64_t row)
{
    for (size_t i = 0; i < map->region_count; i++) {
        uint64_t rows = 1 + memory_region_rows(map, i);
        if (row < rows)
            return (struct memory_row){.region = i,
                                       .heading = row == 0,
                                       .address = row == 0 ? map->regions[i].start
                                                           : memory_region_base(map, i) +
                                                                 (row - 1) * memory_row_bytes(map)};
        row -= rows;
    }
    return (struct memory_row){.region = map->region_count};
}

uint64_t memory_fitting_cell(const struct memory_map *map, uint64_t rows)
{
    struct memory_map trial = *map;
    trial.bytes_per_cell = MEMORY_CELL_LEAST;
    while (memory_rows(&trial) > rows && trial.bytes_per_cell < (uint64_t)1 << 40)
        trial.bytes_per_cell *= 2;
    /* If headings alone fill the screen, larger cells save no more rows. */
    while (trial.bytes_per_cell > MEMORY_CELL_LEAST) {
        uint64_t now = memory_rows(&trial);
        trial.bytes_per_cell /= 2;
        if (memory_rows(&trial) > rows && memory_rows(&trial) > now) {
            trial.bytes_per_cell *= 2;
            break;
        }
    }
    return trial.bytes_per_cell;
}

enum { LABEL_MOST = 40, LABEL_LEAST = 7, BETWEEN = 2, MORE_WIDTH = 9 };

/* The labels of the legend, each behind a glyph and a space. */
struct placed {
    struct alike_field labels[SESSION_COLORS]; /* row: position in the session's legend */
    size_t shown, colors;                      /* of so many colours on the screen */
    int end_x, end_y;                          /* after the last label */
};

/* Returns the positions that have cells on the screen, as bits. */
static unsigned colors_shown(const struct memory_grid *grid)
{
    unsigned shown = 0;
    for (int i = 0; grid->cells && i < grid->rows * grid->map.columns; i++)
        if (grid->cells[i].used > 0)
            shown |= 1U << grid->cells[i].color;
    return shown;
}

/* Returns true if another function of the legend has the same name: it needs room to differ. */
static bool has_namesake(const struct session_legend *legend, size_t at)
{
    for (size_t i = 0; i < legend->count; i++)
        if (i != at && strcmp(legend->entry[i].label, legend->entry[at].label) == 0)
            return true;
    return false;
}

/* Places labels of at most `most` columns. Returns false if not all have room. */
static bool place_within(const struct session_legend *legend, unsigned shown, int width, int rows,
                         int most, struct placed *placed)
{
    int x = 1, y = 0;
    *placed = (struct placed){.end_x = 1};
    for (size_t i = 0; i < legend->count; i++)
        placed->colors += shown >> i & 1;
    for (size_t i = 0; i < legend->count; i++) {
        if (!(shown >> i & 1))
            continue;
        const int whole = text_width(legend->entry[i].label);
        const int label = whole < most && !has_namesake(legend, i) ? whole : most;
        /* The last line keeps room for the number of those that have none. */
        const bool last = placed->shown + 1 == placed->colors;
        if (x + 2 + label + (y + 1 == rows && !last ? BETWEEN + MORE_WIDTH : 0) > width) {
            if (++y == rows)
                return false;
            x = 1;
            if (x + 2 + label > width)
                return false;
        }
        placed->labels[placed->shown++] = (struct alike_field){x + 2, y, label, i, NULL};
        x += 2 + label + BETWEEN;
        placed->end_x = x;
        placed->end_y = y;
    }
    return true;
}

/* Places all labels, cut as little as that needs, or as many of the shortest as have room. */
static void place(const struct memory_grid *grid, const struct session_legend *legend, int width,
                  int rows, struct placed *placed)
{
    const unsigned shown = colors_shown(grid);
    int most = LABEL_MOST;
    while (!place_within(legend, shown, width, rows, most, placed) && most > LABEL_LEAST)
        most--;
}

size_t memory_legend_at(const struct memory_grid *grid, const struct browse *browse,
                        const struct memory_layout *layout, int x, int y)
{
    struct placed placed;
    place(grid, &browse->legend, layout->legend_width, layout->legend_rows, &placed);
    for (size_t i = 0; i < placed.shown; i++) {
        const struct alike_field *label = &placed.labels[i];
        if (y - layout->legend_y == label->y && x >= label->x - 2 && x < label->x + label->width)
            return label->row;
    }
    return SIZE_MAX;
}

/* Draws the colours that are on the screen, with their names. */
static void legend_render(const struct memory_grid *grid, const struct browse *browse,
                          const struct area *area, const struct memory_layout *layout)
{
    const struct area lines =
        area_part(area, 0, layout->legend_y, layout->legend_width, layout->legend_rows);
    struct placed placed;
    if (grid->alternate) {
        area_text(&lines, 1, 0, theme_style(THEME_FAINT),
                  "colours only tell neighbours apart; a goes back");
        return;
    }
    place(grid, &browse->legend, layout->legend_width, layout->legend_rows, &placed);
    for (size_t i = 0; i < placed.shown; i++) {
        const struct alike_field *label = &placed.labels[i];
        area_put(&lines, label->x - 2, label->y,
                 grid_colors(lines.grid) ? 0x2588 : browse_pattern(browse, label->row),
                 browse_category(browse, lines.grid, label->row));
        area_category(&lines, label->x, label->y, label->width, theme_style(THEME_PLAIN),
                      browse->legend.entry[label->row].label);
    }
    if (placed.shown < placed.colors)
        area_print(&lines, placed.end_x, placed.end_y, theme_style(THEME_FAINT), "%zu more",
                   placed.colors - placed.shown);
    struct legend_names names = {browse->session, &browse->legend};
    alike_rewrite(&lines, placed.labels, placed.shown, list_legend_name, &names);
}

/* One row of the layout: a member, or padding. */
struct layout_row {
    const struct session_member *member; /* NULL: padding */
    uint64_t offset, size;
};

/* Finds row `wanted`. If there is none, stores the number of rows in *count and returns false. */
static bool find_row(const struct memory_details *details, int wanted, struct layout_row *row,
                     int *count)
{
    uint64_t end = 0;
    int at = 0;
    for (size_t i = 0; i <= details->member_count; i++) {
        const struct session_member *member =
            i < details->member_count ? &details->members[i] : NULL;
        uint64_t start = member ? member->offset : details->type_size;
        if (start > end && at++ == wanted) {
            *row = (struct layout_row){NULL, end, start - end};
            return true;
        }
        if (member && at++ == wanted) {
            *row = (struct layout_row){member, member->offset, member->size};
            return true;
        }
        if (member && member->offset + member->size > end)
            end = member->offset + member->size;
    }
    *count = at;
    return false;
}

int memory_members_rows(const struct memory_details *details)
{
    struct layout_row row;
    int count = 0;
    find_row(details, -1, &row, &count);
    return count + 1;
}

static void render_row(const struct layout_row *row, const struct area *area, int y)
{
    struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    char text[FORMAT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, row->offset);
    area_field_right(area, 1, y, 6, faint, text);
    snprintf(text, sizeof(text), "%" PRIu64 " B", row->size);
    area_field_right(area, 8, y, 8, row->member ? plain : theme_style(THEME_WARNING), text);
    if (!row->member) {
        area_text(area, 18, y, theme_style(THEME_WARNING), "padding");
        return;
    }
    int name = row->member->name[0] ? (area->width - 18) / 3 : 0;
    area_field(area, 18, y, name, plain, row->member->name);
    area_category(area, 18 + name + (name > 0), y, area->width - 19 - name, theme_style(THEME_GOOD),
                  row->member->type);
}

/* Draws the layout from row `first` on (0: below the heading). The last tells how many are left. */
static void members_render(const struct memory_details *details, const struct browse *browse,
                           const struct area *area, int first)
{
    char size[FORMAT_SIZE];
    int rows = memory_members_rows(details) - 1, unused;
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_HEADING), "layout of ");
    x += area_category(area, x, 0, area->width - x - 12, theme_style(THEME_GOOD),
                       session_type_name(browse->session, details->allocation.type));
    area_print(area, x, 0, theme_style(THEME_FAINT), "  %s", format_size(size, details->type_size));
    if (first > rows - (area->height - 1))
        first = rows > area->height - 1 ? rows - (area->height - 1) : 0;
    for (int y = 1; y < area->height && first + y <= rows; y++) {
        struct layout_row row;
        if (y + 1 == area->height && first + y < rows) {
            area_print(area, 18, y, theme_style(THEME_FAINT), "and %d more", rows - first - y + 1);
            break;
        }
        if (find_row(details, first + y - 1, &row, &unused))
            render_row(&row, area, y);
    }
}

#define NEIGHBOUR_NAME 24
#define REGION_GAP (UINT64_C(16) << 20) /* between two regions, as session_regions() */
#define MEMBERS_LEAST 4                 /* rows; the layout is not shown in fewer */

/* ---- status ----------------------------------------------------------------------------- */

/* Draws a part of a line if it fits whole. Returns the column after it. */
static int part(const struct area *area, int x, int y, enum theme_role role, const char *text)
{
    if (x + text_width(text) > area->width)
        return area->width;
    return x + area_text(area, x, y, theme_style(role), text);
}

/* Draws what is not in use in the cursor's region, which has this number. */
static void render_use(const struct session_use *use, size_t number, const struct browse *browse,
                       const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], text[160];
    if (!use) {
        area_text(area, 1, 1, theme_style(THEME_FAINT), browse_pending(text, browse));
        return;
    }
    const bool sampled = session_sampled(browse->session);
    int x = 1 + area_print(area, 1, 1, theme_style(THEME_FAINT), "region %zu: ", number);
    format_size(a, SESSION_HOLE_LEAST);
    if (use->hole_count == 0)
        snprintf(text, sizeof(text), "no %s of %s or more", sampled ? "gap" : "hole", a);
    else
        snprintf(text, sizeof(text), "%s%s %s%s%s%s, %s",
                 sampled ? "a sample: blocks may lie in " : "", format_count(b, use->hole_count),
                 sampled ? "gap" : "hole", use->hole_count == 1 ? "" : "s",
                 area->width < 60 ? "" : " from ", area->width < 60 ? "" : a,
                 format_size(c, use->hole_bytes));
    x = part(area, x, 1, THEME_PLAIN, text);
    if (use->hole_count > 0) {
        snprintf(text, sizeof(text), ", largest %s at %" PRIx64, format_size(a, use->largest),
                 use->largest_at);
        x = part(area, x, 1, THEME_PLAIN, text);
    }
    if (use->unknown_count > 0) {
        snprintf(text, sizeof(text), " · unclear %s", format_size(a, use->unknown_bytes));
        x = part(area, x, 1, THEME_WARNING, text);
    }
    if (use->filtered_bytes > 0) {
        snprintf(text, sizeof(text), " · filtered out %s", format_size(a, use->filtered_bytes));
        x = part(area, x, 1, THEME_FAINT, text);
    }
    snprintf(text, sizeof(text), " · small gaps %s", format_size(a, use->small_bytes));
    x = part(area, x, 1, THEME_FAINT, text);
    snprintf(text, sizeof(text), " · gaps to %d B %s", SESSION_OVERHEAD_MOST,
             format_size(a, use->overhead_bytes));
    part(area, x, 1, THEME_FAINT, text);
}

static void render_status(const struct memory_grid *grid, const struct browse *browse,
                          const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    const struct memory_map *map = &grid->map;
    size_t number = memory_region_of(map, grid->cursor);
    const struct session_region *region = &map->regions[number];
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_FAINT), "at ");
    x += area_text(area, x, 0, theme_style(THEME_STRONG), format_instant(a, browse->moment_ns));
    if (grid->play.playing)
        x += area_print(area, x, 0, theme_style(THEME_GOOD), " playing %s", memory_speed(grid, b));
    x += area_print(
        area, x, 0, theme_style(THEME_PLAIN), " · %s a cell · by %s · region %zu of %zu, %s in use",
        format_size(a, map->bytes_per_cell),
        grid->alternate ? "neighbour" : color_by_words(browse->color_by), number + 1,
        map->region_count, format_percent(b, region->used_bytes, region->end - region->start));
    if (grid->pages)
        area_whole_text(area, x, 0, theme_style(THEME_FAINT),
                        " · dim: not in memory, ░: free in memory");
    render_use(grid->use, number + 1, browse, area);
}

/* ---- cells ------------------------------------------------------------------------------ */

/* Returns the glyph of a level. There are only seven levels, so that rows do not touch. */
static uint32_t level_glyph(uint64_t bytes, uint64_t whole)
{
    uint64_t level = bytes >= whole ? 7 : 1 + (uint64_t)((double)bytes / (double)whole * 6);
    return (uint32_t)(0x2580 + level);
}

/* Dims a cell in use of which nothing is in memory, and hatches one in memory that nothing uses. */
static uint32_t show_pages(const struct memory_pages *pages, const struct session_cell *cell,
                           uint64_t address, uint64_t end, uint32_t glyph, struct cell_style *style)
{
    const uint64_t resident = session_pages_resident(pages->runs, pages->count, address, end);
    if (cell->used + cell->filtered > 0 && resident == 0)
        style->attributes |= CELL_DIM;
    return cell->used + cell->filtered == 0 && resident > 0 ? 0x2591 : glyph;
}

static void render_cell(const struct memory_grid *grid, const struct browse *browse,
                        const struct area *area, int x, int y, uint64_t address,
                        const struct session_cell *cell)
{
    uint64_t whole = grid->map.bytes_per_cell;
    size_t color = grid->alternate ? cell->alternate : cell->color;
    struct cell_style style = theme_style(THEME_FAINT);
    uint32_t glyph = 0x00b7;
    if (cell->used > 0) {
        style = grid->alternate ? theme_category(area->grid, color, SESSION_COLORS - 1, -1)
                                : browse_category(browse, area->grid, color);
        glyph = grid_colors(area->grid) ? level_glyph(cell->used, whole)
                                        : browse_pattern(browse, color);
    } else if (cell->filtered > 0) {
        style = theme_style(THEME_FILTERED);
        glyph = grid_colors(area->grid) ? level_glyph(cell->filtered, whole) : '-';
    }
    if (grid->pages)
        glyph = show_pages(grid->pages, cell, address, address + whole, glyph, &style);
    const struct memory_details *details = grid->details;
    if (details->found && cell->id == details->allocation.id && grid_colors(area->grid))
        style.background = theme_style(THEME_NEAR).background;
    area_put(area, x, y, glyph, style);
}

static void render_heading(const struct memory_map *map, const struct area *area, int y,
                           size_t number)
{
    const struct session_region *region = &map->regions[number];
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    int x = area_print(area, 1, y, theme_style(THEME_HEADING), "%012" PRIx64 " – %012" PRIx64,
                       region->start, region->end);
    area_print(area, x + 3, y, theme_style(THEME_FAINT), "%s, %s in use by %s",
               format_size(a, region->end - region->start), format_size(b, region->used_bytes),
               format_count(c, region->count));
}

/* Draws a dot in the cell's colour on a bright ground, reverse without colours. */
static void render_cursor(const struct area *area, int x, int y)
{
    struct cell_style style = grid_cell(area->grid, area->x + x, area->y + y)->style;
    if (grid_colors(area->grid) > 0) {
        style.background = theme_style(THEME_POINT).background;
        style.attributes = CELL_BOLD;
    } else {
        style.attributes = CELL_REVERSE | CELL_BOLD;
    }
    area_put(area, x, y, 0x25cf, style);
}

static void render_rows(const struct memory_grid *grid, const struct browse *browse,
                        const struct area *area, const struct memory_layout *layout)
{
    const struct memory_map *map = &grid->map;
    for (int row = 0; row < grid->rows; row++) {
        struct memory_row at = memory_row_at(map, grid->first_row + (uint64_t)row);
        int y = layout->grid_y + row;
        if (at.region >= map->region_count)
            break;
        if (at.heading) {
            struct area heading = area_part(area, 0, y, layout->grid_x + map->columns, 1);
            render_heading(map, &heading, 0, at.region);
            continue;
        }
        const struct session_region *region = &map->regions[at.region];
        area_print(area, 1, y, theme_style(THEME_FAINT), "%012" PRIx64, at.address);
        for (int column = 0; column < map->columns; column++) {
            uint64_t address = at.address + (uint64_t)column * map->bytes_per_cell;
            if (address + map->bytes_per_cell <= region->start || address >= region->end)
                continue;
            render_cell(grid, browse, area, layout->grid_x + column, y, address,
                        &grid->cells[row * map->columns + column]);
            if (address <= grid->cursor && grid->cursor < address + map->bytes_per_cell)
                render_cursor(area, layout->grid_x + column, y);
        }
    }
}

/* ---- details ---------------------------------------------------------------------------- */

/* Writes `thread 3 "main"`, or "thread 3" if it has no name. */
static const char *thread_name(const struct browse *browse, uint32_t thread, char *out, size_t size)
{
    const char *name = session_thread_name(browse->session, thread);
    if (!*name || strcmp(name, "?") == 0)
        snprintf(out, size, "thread %" PRIu32, thread);
    else
        snprintf(out, size, "thread %" PRIu32 " \"%.24s\"", thread, name);
    return out;
}

/* Draws how often the address was in use before, flush right, if there is room after column `from`.
 */
static void render_history(const struct memory_details *details, const struct area *area, int from)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], text[96];
    if (details->used_before == 0)
        return;
    snprintf(text, sizeof(text), "address in use %s× before, until %s",
             format_count(a, details->used_before), format_instant(b, details->last_free_ns));
    int x = area->width - text_width(text) - 1;
    if (x >= from)
        area_text(area, x, 0, theme_style(THEME_FAINT), text);
}

static int render_allocation(const struct memory_details *details, const struct browse *browse,
                             const struct area *area)
{
    const struct session *session = browse->session;
    const struct session_allocation *allocation = &details->allocation;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], name[64];
    struct cell_style plain = theme_style(THEME_PLAIN);
    int x = 1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%" PRIx64, allocation->address);
    x += area_print(area, x, 0, plain, "  %s", format_size(a, allocation->size));
    if (allocation->count > 1)
        x += area_print(area, x, 0, plain, " ×%" PRIu64, allocation->count);
    if (allocation->type != 0)
        x += 2 + area_category(area, x + 2, 0, area->width / 3, theme_style(THEME_GOOD),
                               session_type_name(session, allocation->type));
    x += area_print(area, x, 0, theme_style(THEME_FAINT), "  %s by ",
                    session_kind_name(session, allocation->kind));
    x += area_category(area, x, 0, area->width - x - 1, plain,
                       session_function_name(session, allocation->function));
    render_history(details, area, x + 2);

    uint64_t age = details->ns > allocation->alloc_ns ? details->ns - allocation->alloc_ns : 0;
    x = 1 + area_print(area, 1, 1, plain, "%s old, allocated at %s by %s", format_duration(a, age),
                       format_instant(b, allocation->alloc_ns),
                       thread_name(browse, allocation->thread, name, sizeof(name)));
    const char *fate = x + 24 > area->width ? "" : ", ";
    int y = *fate ? 1 : 2;
    x = *fate ? x : 1;
    if (allocation->free_ns == SESSION_LIVE)
        area_print(area, x, y, theme_style(THEME_WARNING), "%s%s", fate,
                   session_recording(session) ? "not freed so far"
                   : session_stopped(session) ? "live when the recording stopped"
                                              : "never freed");
    else
        area_print(area, x, y, plain, "%sfreed at %s%s%s", fate,
                   format_instant(a, allocation->free_ns),
                   allocation->free_thread != allocation->thread ? " by " : "",
                   allocation->free_thread != allocation->thread
                       ? thread_name(browse, allocation->free_thread, name, sizeof(name))
                       : "");
    return y + 1;
}

/* Draws a gap in which no block is allocated; one of REGION_GAP or more is not a hole. */
static void render_hole(const struct memory_details *details, const struct area *area)
{
    char a[FORMAT_SIZE];
    area_print(area, 1, 0, theme_style(THEME_STRONG), "%" PRIx64, details->address);
    const uint64_t from = details->below.address + details->below.size, to = details->above.address;
    if (details->has_below && details->has_above && to - from >= SESSION_HOLE_LEAST &&
        to - from < REGION_GAP && details->unknown_gap) {
        area_print(area, 1, 1, theme_style(THEME_PLAIN),
                   "unclear: %s beside what may be a mapping; heap, mapping or nothing",
                   format_size(a, to - from));
    } else if (details->has_below && details->has_above && to - from < REGION_GAP) {
        area_print(area, 1, 1, theme_style(THEME_PLAIN), "a hole of %s, %" PRIx64 " – %" PRIx64,
                   format_size(a, to > from ? to - from : 0), from, to);
    } else {
        area_text(area, 1, 1, theme_style(THEME_PLAIN), "nothing is allocated here");
    }
}

static int render_neighbour(const struct browse *browse, const struct area *area, int x, int y,
                            const char *where, uint64_t gap,
                            const struct session_allocation *neighbour)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    /* Memory so far away is another region. */
    if (gap >= REGION_GAP)
        return x + area_print(area, x, y, theme_style(THEME_FAINT), "nothing near %s  ", where);
    const char *name = neighbour->type
                           ? session_type_name(browse->session, neighbour->type)
                           : session_function_name(browse->session, neighbour->function);
    struct cell_style faint = theme_style(THEME_FAINT);
    x += area_print(area, x, y, theme_style(THEME_PLAIN), "%s %s", format_size(a, gap), where);
    x += area_print(area, x, y, faint, " (%s ", format_size(b, neighbour->size));
    x += area_category(area, x, y, NEIGHBOUR_NAME, faint, name);
    return x + area_text(area, x, y, faint, ")  ");
}

static void render_around(const struct memory_details *details, const struct browse *browse,
                          const struct area *area, int y)
{
    uint64_t start = details->found ? details->allocation.address : details->address;
    uint64_t end = details->found ? start + details->allocation.size : start;
    int x = 1 + area_text(area, 1, y, theme_style(THEME_FAINT), "free: ");
    if (details->has_below) {
        uint64_t below_end = details->below.address + details->below.size;
        x = render_neighbour(browse, area, x, y, "below", start > below_end ? start - below_end : 0,
                             &details->below);
    }
    if (details->has_above)
        render_neighbour(browse, area, x, y, "above",
                         details->above.address > end ? details->above.address - end : 0,
                         &details->above);
}

static void render_frame(const struct browse *browse, const struct area *area, int y, size_t depth,
                         const struct session_frame *frame, bool call_site)
{
    char place[160] = "";
    int x = 1 + area_print(area, 1, y, theme_style(THEME_FAINT), "#%-3zu", depth);
    if (frame->file[0] && frame->line > 0)
        snprintf(place, sizeof(place), "%s:%" PRIu32 "%s%s", basename(frame->file), frame->line,
                 frame->inlined ? " inlined" : "", frame->guessed ? " by frame pointer" : "");
    else
        snprintf(place, sizeof(place), "%s%s",
                 session_function_module(browse->session, frame->function),
                 frame->guessed ? " by frame pointer" : "");
    int place_width = text_width(place) < area->width / 2 ? text_width(place) : area->width / 2;
    const char *name = session_function_name(browse->session, frame->function);
    int room = area->width - x - place_width - 3;
    int width = area_name_width(name, room);
    area_name(area, x, y, width, theme_style(call_site ? THEME_STRONG : THEME_PLAIN), name);
    area_field(area, x + width + 2, y, place_width, theme_style(THEME_FAINT), place);
}

static void render_stack(const struct memory_grid *grid, const struct browse *browse,
                         const struct area *area)
{
    const struct memory_details *details = grid->details;
    int count = (int)details->frame_count, first = grid->stack_scroll;
    if (first > count - area->height)
        first = count > area->height ? count - area->height : 0;
    for (int y = 0; y < area->height && first + y < count; y++) {
        size_t depth = (size_t)first + (size_t)y;
        render_frame(browse, area, y, depth, &details->frames[depth], depth == details->call_site);
    }
    const char *state = session_stack_state(browse->session, details->allocation.stack);
    bool whole = strcmp(state, "complete") == 0;
    if (!whole && area->height > count - first)
        area_print(area, 1, count - first, theme_style(THEME_WARNING), "the stack is cut: %s",
                   state);
    if (count > area->height || grid->stack_focus) {
        char text[64];
        snprintf(text, sizeof(text), " %s%d–%d of %d%s", grid->stack_focus ? "↑↓ " : "", first + 1,
                 first + area->height < count ? first + area->height : count, count,
                 whole ? "" : ", cut");
        area_text(area, area->width - text_width(text) - 1, area->height - 1,
                  theme_style(grid->stack_focus ? THEME_KEY : THEME_FAINT), text);
    }
}

/* Returns the rows for the layout of the type, 0 if the whole stack leaves too few. */
static int members_height(const struct memory_details *details, int room)
{
    int needed = memory_members_rows(details), left = room - (int)details->frame_count - 1;
    if (details->member_count == 0 || left < MEMBERS_LEAST)
        return 0;
    return needed < left ? needed : left;
}

/* Draws only the members, as the user asked. */
static void render_members(const struct memory_grid *grid, const struct browse *browse,
                           const struct area *area)
{
    if (grid->details->member_count == 0) {
        area_text(area, 1, 0, theme_style(THEME_FAINT),
                  grid->details->allocation.type == 0 ? "its type is not known"
                                                      : "no members of its type are known");
        return;
    }
    members_render(grid->details, browse, area, grid->stack_scroll);
    if (grid->stack_focus)
        area_text(area, area->width - 3, 0, theme_style(THEME_KEY), "↑↓");
}

static void render_details(const struct memory_grid *grid, const struct browse *browse,
                           const struct area *area)
{
    const struct memory_details *details = grid->details;
    int y = 2;
    if (details->found)
        y = render_allocation(details, browse, area);
    else
        render_hole(details, area);
    if (area->height >= 5)
        render_around(details, browse, area, y++);
    if (details->found && grid->members && y < area->height) {
        struct area layout = area_part(area, 0, y, area->width, area->height - y);
        render_members(grid, browse, &layout);
    } else if (details->found && y < area->height) {
        int room = area->height - y, members = members_height(details, room);
        struct area stack = area_part(area, 0, y, area->width, room - members);
        render_stack(grid, browse, &stack);
        struct area layout = area_part(area, 0, y + room - members, area->width, members);
        if (members > 0)
            members_render(details, browse, &layout, 0);
    }
}

void memory_grid_render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct memory_grid *grid = view;
    struct memory_layout layout = memory_lay_out(area->width, area->height, memory_is_tall(grid));
    if (!grid->regions_known) {
        char text[PENDING_SIZE];
        area_text(area, 2, 1, theme_style(THEME_FAINT), browse_pending(text, browse));
        return;
    }
    if (grid->map.region_count == 0) {
        char a[FORMAT_SIZE];
        area_print(area, 2, 1, theme_style(THEME_FAINT),
                   "nothing is live at %s; [ and ] step in time, p goes to the peak",
                   format_instant(a, browse->moment_ns));
        return;
    }
    render_status(grid, browse, area);
    if (grid->cells)
        render_rows(grid, browse, area, &layout);
    legend_render(grid, browse, area, &layout);
    struct area details = area_part(area, layout.details_x, layout.details_y, layout.details_width,
                                    layout.details_height);
    if (grid->pane == MEMORY_HOLES)
        memory_holes_render(grid, browse, &details);
    else if (grid->pane == MEMORY_OVER_TIME)
        memory_over_time_render(grid, browse, &details);
    else if (grid->details_known)
        render_details(grid, browse, &details);
}
