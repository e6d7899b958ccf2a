/* SPDX-License-Identifier: BSD-2-Clause */
/* The holes of memory at the moment: the next one from the cursor, and the list of all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/memory/grid.h"

/* ---- the next hole ---------------------------------------------------------------------- */

struct gaps_data {
    struct {
        uint64_t renewals, ns;
    } request;
    struct session_hole *holes; /* by address */
    size_t count;
};

static int by_address(const void *left, const void *right)
{
    const struct session_hole *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static bool run_gaps(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct gaps_data *gaps = data;
    (void)selection;
    if (!session_holes(session, gaps->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, false,
                       &gaps->holes, &gaps->count, error))
        return false;
    if (gaps->count > 0)
        qsort(gaps->holes, gaps->count, sizeof(*gaps->holes), by_address);
    return true;
}

static void clear_gaps(void *data)
{
    free(((struct gaps_data *)data)->holes);
}

void memory_seek_hole(struct memory_grid *grid, const struct exploration *exploration, bool up)
{
    grid->seeking = true;
    grid->seek.generation = exploration->generation;
    grid->seek.ns = exploration->moment_ns;
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

void memory_take_hole(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct gaps_data *)0)->request),
                                          sizeof(struct gaps_data), run_gaps, clear_gaps};
    const struct gaps_data wanted = {.request = {exploration->renewals, exploration->moment_ns}};
    if (!grid->seeking)
        return;
    /* The user has gone on: the answer must not move the cursor. */
    grid->seeking = grid->seek.generation == exploration->generation &&
                    grid->seek.ns == exploration->moment_ns && grid->seek.address == grid->cursor;
    const struct gaps_data *gaps =
        grid->seeking ? exploration_get(exploration, &grid->gaps_load, &kind, &wanted.request)
                      : NULL;
    if (!gaps)
        return;
    grid->seeking = false;
    const struct session_hole *hole = next_hole(gaps, grid->cursor, grid->seek.up);
    char size[FORMAT_SIZE];
    if (hole) {
        grid->cursor = hole->start;
        grid->exact = true;
    } else if (!exploration->message[0]) {
        exploration_say(exploration, "no further hole of %s or more in this direction",
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

static void clear_holes(void *data)
{
    free(((struct holes_data *)data)->holes);
}

void memory_open_holes(struct memory_grid *grid, const struct exploration *exploration)
{
    grid->worst_wanted = grid->pane == MEMORY_HOLES && !grid->peak_asked &&
                         (exploration->moment_ns == exploration->peak_ns ||
                          exploration->moment_ns == session_peak_ns(exploration->session));
    grid->worst_from = exploration->moment_ns;
}

/* Goes to the moment with the most holes, once it is known. */
static void take_worst(struct memory_grid *grid, struct exploration *exploration)
{
    const struct session_use *use;
    char time[FORMAT_SIZE];
    uint64_t worst;
    grid->worst_wanted = exploration->moment_ns == grid->worst_from;
    if (!grid->worst_wanted || !worst_holes_get(exploration, &worst, &use))
        return;
    grid->worst_wanted = false;
    if (!use || worst == exploration->moment_ns)
        return;
    exploration->moment_ns = worst;
    memory_load_regions(grid, exploration);
    exploration_say(exploration, "%s, not the peak: most holes of %d moments; p goes to the peak",
                    format_instant(time, worst), WORST_HOLES_STEPS + 1);
}

void memory_load_holes(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct holes_data *)0)->request),
                                          sizeof(struct holes_data), run_holes, clear_holes};
    const struct memory_hole *before = grid->holes;
    if (grid->worst_wanted)
        take_worst(grid, exploration);
    const struct holes_data wanted = {.request = {exploration->renewals, exploration->moment_ns}};
    const struct holes_data *holes =
        grid->worst_wanted
            ? NULL
            : exploration_get(exploration, &grid->holes_load, &kind, &wanted.request);
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

/* Returns the rows that each hole takes: what pins it needs rows of its own where the pane is
 * narrow. */
static int rows_of_hole(const struct area *area)
{
    return area->width >= 110 ? 1 : 3;
}

/* Draws "below Node, 48 B, since 1.2 s": the block on one side. */
static void render_pin(const struct exploration *exploration, const struct area *area, int x, int y,
                       int width, const char *side, const struct session_allocation *pin)
{
    char size[FORMAT_SIZE], time[FORMAT_SIZE], rest[2 * FORMAT_SIZE + 16];
    struct area part = area_part(area, x, y, width, 1);
    const struct cell_style faint = theme_style(THEME_FAINT);
    if (pin->id == 0)
        return;
    const char *name = pin->type ? session_type_name(exploration->session, pin->type)
                                 : session_function_name(exploration->session, pin->function);
    snprintf(rest, sizeof(rest), ", %s, since %s", format_size(size, pin->size),
             format_instant(time, pin->alloc_ns));
    int at = area_print(&part, 0, 0, faint, "%s ", side);
    at +=
        area_category(&part, at, 0, width - at - text_width(rest), theme_style(THEME_PLAIN), name);
    area_text(&part, at, 0, faint, rest);
}

static void render_hole(const struct exploration *exploration, const struct area *area, int y,
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
        render_pin(exploration, area, 4, y + 1, area->width - 5, "below", &row->below);
        render_pin(exploration, area, 4, y + 2, area->width - 5, "above", &row->above);
        return;
    }
    const int half = (area->width - 45) / 2;
    render_pin(exploration, area, 44, y, half - 2, "below", &row->below);
    render_pin(exploration, area, 44 + half, y, half - 1, "above", &row->above);
}

/* Draws how many holes there are, and at which moment. */
static void render_sum(const struct memory_grid *grid, const struct exploration *exploration,
                       const struct area *area)
{
    char count[FORMAT_SIZE], size[FORMAT_SIZE], bytes[FORMAT_SIZE], time[FORMAT_SIZE], text[160];
    const bool sampled = session_sampled(exploration->session);
    uint64_t sum = 0;
    for (size_t i = 0; i < grid->hole_count; i++)
        sum += grid->holes[i].hole.end - grid->holes[i].hole.start;
    char least[FORMAT_SIZE + 16] = "";
    if (area->width >= 60)
        snprintf(least, sizeof(least), " of %s or more", format_size(size, SESSION_HOLE_LEAST));
    snprintf(text, sizeof(text), "%s %s%s%s, %s at %s", format_count(count, grid->hole_count),
             sampled ? "gap" : "hole", grid->hole_count == 1 ? "" : "s", least,
             format_size(bytes, sum), format_instant(time, exploration->moment_ns));
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
    snprintf(text, sizeof(text), "not counted: %s gap%s beside mapped blocks, %s",
             format_count(count, use->unknown_count), use->unknown_count == 1 ? "" : "s",
             format_size(bytes, use->unknown_bytes));
    area_field(area, 1, 1, area->width - 2, theme_style(THEME_WARNING), text);
    return true;
}

void memory_holes_render(const struct memory_grid *grid, const struct exploration *exploration,
                         const struct area *area)
{
    char text[PENDING_SIZE];
    if (!grid->holes) {
        area_text(area, 1, 0, theme_style(THEME_FAINT), exploration_pending(text, exploration));
        return;
    }
    render_sum(grid, exploration, area);
    const int top = render_unknown(grid->around, area) ? 2 : 1;
    const int step = rows_of_hole(area), rows = (area->height - top) / step;
    size_t first = grid->hole >= (size_t)rows ? grid->hole - (size_t)rows + 1 : 0;
    for (int i = 0; i < rows && first + (size_t)i < grid->hole_count; i++)
        render_hole(exploration, area, top + i * step, &grid->holes[first + (size_t)i],
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
