/* SPDX-License-Identifier: BSD-2-Clause */
/* The use of memory over time: blocks, the allocator's own bytes, small gaps and holes. */
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/memory/grid.h"

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
    (void)session;
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
    (void)session;
    return selection_use(selection, moment->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST,
                         &moment->use, error);
}

/* Loads the use at the moment itself, which may lie between two columns. */
static void load_now(struct memory_grid *grid, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct moment_data *)0)->request),
                                          sizeof(struct moment_data), run_now, NULL};
    const struct moment_data wanted = {
        .request = {exploration->selections, exploration->moment_ns}};
    const struct moment_data *now =
        exploration_get(exploration, &grid->now_load, &kind, &wanted.request);
    grid->now = now ? &now->use : NULL;
}

void memory_load_over_time(struct memory_grid *grid, struct exploration *exploration)
{
    load_now(grid, exploration);
    static const struct load_kind kind = {sizeof(((struct moment_data *)0)->request),
                                          sizeof(struct moment_data), run_moment, NULL};
    const uint64_t from = session_start_ns(exploration->session);
    const uint64_t to = session_duration_ns(exploration->session);
    if (grid->moments_generation != exploration->selections || grid->moments_from != from ||
        grid->moments_to != to) {
        memset(grid->moment_known, 0, sizeof(grid->moment_known));
        grid->moments_generation = exploration->selections;
        grid->moments_from = from;
        grid->moments_to = to > from ? to : from + 1;
    }
    for (size_t column; (column = next_column(grid)) < MEMORY_MOMENTS;) {
        const struct moment_data wanted = {
            .request = {exploration->selections, memory_moment_of(grid, column)}};
        const struct moment_data *moment =
            exploration_get(exploration, &grid->moment_load, &kind, &wanted.request);
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
static int render_legend(const struct memory_grid *grid, const struct exploration *exploration,
                         const struct area *area)
{
    const struct session_use *use = grid->now;
    char size[FORMAT_SIZE], text[PENDING_SIZE];
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_FAINT), "at "), y = 0;
    x += area_text(area, x, 0, theme_style(THEME_STRONG),
                   format_instant(size, exploration->moment_ns));
    if (!use) {
        area_text(area, x + 2, 0, theme_style(THEME_FAINT), exploration_pending(text, exploration));
        return 1;
    }
    x += 2;
    for (int part = 0; part <= PARTS; part++) {
        const uint64_t bytes = part < PARTS ? part_of(use, (enum part)part) : use->unknown_bytes;
        const char *name = part < PARTS ? part_names[part] : "not known beside mapped blocks";
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

void memory_over_time_render(const struct memory_grid *grid, const struct exploration *exploration,
                             const struct area *area)
{
    char text[FORMAT_SIZE];
    uint64_t scale = 1;
    for (size_t i = 0; i < MEMORY_MOMENTS; i++)
        if (grid->moment_known[i] && sum_of(&grid->moments[i]) > scale)
            scale = sum_of(&grid->moments[i]);
    const int top = render_legend(grid, exploration, area);
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
        if (memory_moment_of(grid, wanted) <= exploration->moment_ns)
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
        exploration_pending(pending, exploration);
        area_text(area, (area->width - text_width(pending)) / 2, area->height - 1,
                  theme_style(THEME_FAINT), pending);
    }
}
