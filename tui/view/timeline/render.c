/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the timeline: chart, axes, legend, details of the slot under the cursor. */
#include <stdio.h>
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/timeline/timeline.h"

#define TICK_COLUMNS 12

/* ---- chart ------------------------------------------------------------------------------ */

/* Returns the allocations a second of a slot. */
static uint64_t rate_of(const struct timeline *timeline, int slot)
{
    return timeline_rate(timeline, slot, timeline->slots[slot].allocated_count);
}

/* Returns the bytes by which a slot grew or, with `down`, became less. */
static uint64_t net_of(const struct session_slot *slot, bool down)
{
    const uint64_t more = down ? slot->freed_bytes : slot->allocated_bytes;
    const uint64_t less = down ? slot->allocated_bytes : slot->freed_bytes;
    return more > less ? more - less : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sum_of(const uint64_t *colors)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SESSION_COLORS; i++)
        sum += colors[i];
    return sum;
}

/* Returns the largest number that the chart shows. */
static uint64_t largest(const struct timeline *timeline)
{
    uint64_t most = 1;
    for (int i = 0; i < timeline->slot_count; i++) {
        const struct session_slot *slot = &timeline->slots[i];
        if (timeline->mode == TIMELINE_RATE)
            most = larger(most, rate_of(timeline, i));
        else if (timeline->mode == TIMELINE_NET && timeline->colors)
            most = larger(most,
                          larger(sum_of(timeline->colors[i].up), sum_of(timeline->colors[i].down)));
        else if (timeline->mode == TIMELINE_NET)
            most = larger(most, larger(net_of(slot, false), net_of(slot, true)));
        else
            most = larger(most, larger(slot->peak_bytes, slot->live_bytes));
    }
    return most;
}

/* Returns the largest number with room for the resident set size, if that is not much larger. */
static uint64_t largest_with_rss(const struct timeline *timeline,
                                 const struct exploration *exploration)
{
    const struct session_rss *samples = NULL;
    const size_t count = session_rss(exploration->session, &samples);
    const uint64_t most = largest(timeline);
    uint64_t rss = most;
    for (size_t i = 0; timeline->mode == TIMELINE_LIVE && i < count; i++)
        if (samples[i].ns >= timeline->from && samples[i].ns < timeline->to)
            rss = larger(rss, samples[i].bytes);
    return rss / 2 <= most ? rss : most;
}

static void render_slot(const struct timeline *timeline, const struct area *chart, int x,
                        const struct session_slot *slot, uint64_t scale)
{
    struct bar_layer layers[SESSION_COLORS + 1];
    size_t count = timeline->legend->count;
    uint64_t sum = 0;
    if (count > SESSION_COLORS)
        count = SESSION_COLORS;
    for (size_t i = 0; i < count; i++) {
        layers[i] = (struct bar_layer){.value = slot->color_bytes[i],
                                       .style = timeline_style(timeline, chart->grid, i),
                                       .pattern = timeline_pattern(timeline, i)};
        sum += slot->color_bytes[i];
    }
    /* On top: bytes allocated and freed inside the slot. */
    layers[count] = (struct bar_layer){.value = slot->peak_bytes > sum ? slot->peak_bytes - sum : 0,
                                       .style = theme_style(THEME_TRANSIENT),
                                       .pattern = ':'};
    bars_column(chart, x, layers, count + 1, scale, CELL_DEFAULT);
}

/* Writes the layers of a slot in the legend's order. As long as the colours are not known, all of
 * it is one layer, of `value`. */
static size_t layers_of(const struct timeline *timeline, const struct grid *grid,
                        const uint64_t *colors, uint64_t value, double factor,
                        struct bar_layer *layers)
{
    const size_t named = timeline->legend->count;
    const size_t count = named < SESSION_COLORS ? named : SESSION_COLORS;
    if (!colors || count == 0) {
        layers[0] = (struct bar_layer){value, theme_category(grid, 0, SESSION_COLORS - 1, -1), '#'};
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        layers[i] = (struct bar_layer){.value = (uint64_t)((double)colors[i] * factor),
                                       .style = timeline_style(timeline, grid, i),
                                       .pattern = timeline_pattern(timeline, i)};
    return count;
}

static void render_rate(const struct timeline *timeline, const struct area *chart, int x,
                        uint64_t scale)
{
    struct bar_layer layers[SESSION_COLORS];
    const uint64_t length = timeline_edge(timeline, x + 1) - timeline_edge(timeline, x);
    const size_t count =
        layers_of(timeline, chart->grid, timeline->colors ? timeline->colors[x].up : NULL,
                  rate_of(timeline, x), 1e9 / (double)(length > 0 ? length : 1), layers);
    bars_column(chart, x, layers, count, scale, CELL_DEFAULT);
}

/* Draws what has grown above the middle, and what has become less below it. */
static void render_net(const struct timeline *timeline, const struct area *chart, int x,
                       uint64_t scale)
{
    const struct session_slot *slot = &timeline->slots[x];
    const struct timeline_colors *colors = timeline->colors ? &timeline->colors[x] : NULL;
    const int upper = (chart->height + 1) / 2;
    const struct area above = area_part(chart, 0, 0, chart->width, upper);
    const struct area below = area_part(chart, 0, upper, chart->width, chart->height - upper);
    struct bar_layer layers[SESSION_COLORS];
    size_t count = layers_of(timeline, chart->grid, colors ? colors->up : NULL, net_of(slot, false),
                             1, layers);
    bars_column(&above, x, layers, count, scale, CELL_DEFAULT);
    count = layers_of(timeline, chart->grid, colors ? colors->down : NULL, net_of(slot, true), 1,
                      layers);
    bars_hanging(&below, x, layers, count, scale);
}

static bool is_blank(const struct area *area, int x, int y)
{
    return grid_cell(area->grid, area->x + x, area->y + y)->glyph == ' ';
}

static void render_cursor(const struct area *chart, int x, uint32_t glyph, enum theme_role role)
{
    for (int y = 0; y < chart->height; y++)
        if (is_blank(chart, x, y))
            area_put(chart, x, y, glyph, theme_style(role));
}

static int column_of(const struct timeline *timeline, uint64_t ns)
{
    return ns < timeline->from || ns >= timeline->to ? -1 : timeline_slot_of(timeline, ns);
}

/* Draws a line for each mark. */
static void render_marks(const struct timeline *timeline, const struct exploration *exploration,
                         const struct area *chart)
{
    const struct session_mark *marks = NULL;
    const size_t count = session_marks(exploration->session, &marks);
    for (size_t i = 0; i < count; i++) {
        const int x = column_of(timeline, marks[i].ns);
        if (x >= 0)
            render_cursor(chart, x, 0x2506, THEME_MATCH);
    }
}

/* Draws the names of the marks on the axis. A name without room ends in an ellipsis, or is left
 * out if another one begins before it. */
static void render_mark_names(const struct timeline *timeline,
                              const struct exploration *exploration, const struct area *area,
                              const struct timeline_layout *layout)
{
    const struct session_mark *marks = NULL;
    const size_t count = session_marks(exploration->session, &marks);
    const int y = layout->chart_height;
    int free_from = 0;
    for (size_t i = 0; i < count; i++) {
        const int x = column_of(timeline, marks[i].ns);
        const char *name = marks[i].name && marks[i].name[0] ? marks[i].name : marks[i].kind;
        if (x < free_from)
            continue;
        int room = timeline->slot_count - x - 1;
        for (size_t k = i + 1; k < count; k++) {
            const int next = column_of(timeline, marks[k].ns);
            if (next > x + 1 && next - x - 1 < room)
                room = next - x - 1;
        }
        area_put(area, layout->axis_width + x, y, 0x253c, theme_style(THEME_MATCH));
        const int width = text_width(name) < room ? text_width(name) : room;
        if (width >= 2)
            area_field(area, layout->axis_width + x + 1, y, width, theme_style(THEME_MATCH), name);
        free_from = x + 1 + width;
    }
}

/* Draws the gaps that take one slot. */
static void render_gaps(const struct timeline *timeline, const struct area *chart)
{
    for (size_t i = 0; i < timeline->run_count; i++)
        for (int y = 0; timeline->runs[i].gap && y < chart->height; y++)
            area_put(chart, (int)timeline->runs[i].first, y, 0x250a, theme_style(THEME_FAINT));
}

/* Draws the resident set size as a dashed line where it lies within the scale. */
static void render_rss(const struct timeline *timeline, const struct exploration *exploration,
                       const struct area *chart, uint64_t scale)
{
    const struct session_rss *samples = NULL;
    size_t count = session_rss(exploration->session, &samples), at = 0;
    for (int x = 0; count > 0 && x < timeline->slot_count; x++) {
        uint64_t end = timeline_edge(timeline, x + 1);
        while (at + 1 < count && samples[at + 1].ns < end)
            at++;
        if (samples[at].ns >= end || samples[at].bytes > scale)
            continue;
        int row = (int)((double)samples[at].bytes / (double)scale * (chart->height - 1) + 0.5);
        int y = chart->height - 1 - row;
        struct cell_style style = theme_style(THEME_STRONG);
        const struct cell *below = grid_cell(chart->grid, chart->x + x, chart->y + y);
        style.background =
            below->glyph == 0x2588 ? below->style.foreground : below->style.background;
        area_put(chart, x, y, 0x2500, style);
    }
}

/* ---- axes ------------------------------------------------------------------------------- */

/* Returns the step of the vertical axis: about four in a chart, fewer in a low one. */
static uint64_t axis_step(enum timeline_mode mode, uint64_t most, int height)
{
    uint64_t parts = height >= 20 ? 6 : height >= 9 ? 4 : 2;
    if (mode == TIMELINE_NET)
        parts = (parts + 1) / 2;
    return mode == TIMELINE_RATE ? bars_nice_count((most + parts - 1) / parts)
                                 : bars_nice_size((most + parts - 1) / parts);
}

/* Draws a number of the vertical axis. */
static void render_tick(const struct area *area, int x, int y, const char *text)
{
    area_field_right(area, 0, y, x, theme_style(THEME_FAINT), text);
    area_put(area, x, y, 0x2524, theme_style(THEME_FAINT));
}

static void render_size_axis(const struct area *area, const struct timeline_layout *layout,
                             enum timeline_mode mode, uint64_t scale, uint64_t step)
{
    const int height = mode == TIMELINE_NET ? (layout->chart_height + 1) / 2 : layout->chart_height;
    int x = layout->axis_width - 1;
    for (int y = 0; y < layout->chart_height; y++)
        area_put(area, x, y, 0x2502, theme_style(THEME_FAINT));
    for (uint64_t value = step; value <= scale; value += step) {
        int y = height - (int)((double)value / (double)scale * height + 0.5);
        char text[FORMAT_SIZE], rate[FORMAT_SIZE + sizeof("/s")];
        if (mode == TIMELINE_RATE)
            snprintf(rate, sizeof(rate), "%s/s", format_count_short(text, value));
        render_tick(area, x, y, mode == TIMELINE_RATE ? rate : format_size_short(text, value));
        if (mode == TIMELINE_NET) {
            const int below = layout->chart_height - height;
            y = height + (int)((double)value / (double)scale * below + 0.5);
            text[0] = 0;
            growth_text(text, -(int64_t)value);
            if (y > height && y < layout->chart_height)
                render_tick(area, x, y, text);
        }
        if (value > UINT64_MAX - step)
            break;
    }
}

/* Rounds up to 1, 2 or 5 × 10^n. */
static uint64_t nice_time(uint64_t ns)
{
    for (uint64_t unit = 1; unit < UINT64_MAX / 10; unit *= 10)
        for (uint64_t factor = 1; factor <= 5; factor += factor == 1 ? 1 : 3)
            if (unit * factor >= ns)
                return unit * factor;
    return ns;
}

static void render_time_axis(const struct timeline *timeline, const struct area *area,
                             const struct timeline_layout *layout)
{
    int y = layout->chart_height, x0 = layout->axis_width;
    struct cell_style faint = theme_style(THEME_FAINT);
    const int zero = timeline->mode == TIMELINE_NET ? (layout->chart_height + 1) / 2 : y;
    area_field_right(area, 0, zero, x0 - 1, faint, "0");
    area_put(area, x0 - 1, zero, 0x253c, faint);
    area_fill(area, x0, y, timeline->slot_count, 1, 0x2500, faint);
    uint64_t span = timeline->to - timeline->from;
    uint64_t step =
        nice_time((uint64_t)((double)span * TICK_COLUMNS / (double)timeline->slot_count) + 1);
    int free_from = 0;
    int before = -1;
    for (uint64_t at = (timeline->from + step - 1) / step * step; at < timeline->to; at += step) {
        int x = column_of(timeline, at);
        if (x == before)
            continue; /* in a gap */
        before = x;
        char text[FORMAT_SIZE];
        format_moment(text, at, step);
        int width = text_width(text), left = x0 + x - (x > 3 ? width / 2 : 0);
        area_put(area, x0 + x, y, 0x252c, faint);
        if (left < free_from || left + width > x0 + timeline->slot_count)
            continue;
        area_text(area, left, y + 1, faint, text);
        free_from = left + width + 1;
    }
}

static void render_range(const struct timeline *timeline, const struct exploration *exploration,
                         const struct area *area, const struct timeline_layout *layout)
{
    const int y = layout->chart_height, x0 = layout->axis_width;
    uint64_t begin = exploration->range_from_ns, end = exploration->range_to_ns;
    if (exploration->marking) {
        const uint64_t moment = exploration->moment_ns;
        begin = moment < timeline->range_ns ? moment : timeline->range_ns;
        end = moment < timeline->range_ns ? timeline->range_ns : moment;
    }
    if ((exploration->marking || exploration->has_range) && end >= timeline->from &&
        begin < timeline->to) {
        const int a = timeline_slot_of(timeline, begin), b = timeline_slot_of(timeline, end);
        area_fill(area, x0 + a, y, b - a + 1, 1, 0x2550, theme_style(THEME_MATCH));
    }
    area_put(area, x0 + timeline->cursor, y, 0x25b2, theme_style(THEME_STRONG));
}

static void render_slots(const struct timeline *timeline, const struct exploration *exploration,
                         const struct area *chart, uint64_t scale)
{
    for (int x = 0; x < timeline->slot_count; x++) {
        if (timeline->mode == TIMELINE_RATE)
            render_rate(timeline, chart, x, scale);
        else if (timeline->mode == TIMELINE_NET)
            render_net(timeline, chart, x, scale);
        else
            render_slot(timeline, chart, x, &timeline->slots[x], scale);
    }
    if (timeline->mode == TIMELINE_LIVE)
        render_rss(timeline, exploration, chart, scale);
}

void timeline_render(const void *view, const struct exploration *exploration,
                     const struct area *area)
{
    const struct timeline *timeline = view;
    const struct timeline_layout layout =
        timeline_lay_out(timeline, area->width, area->height, exploration->has_range);
    const uint64_t most = largest_with_rss(timeline, exploration);
    const uint64_t step = axis_step(timeline->mode, most, layout.chart_height);
    const uint64_t scale = (most + step - 1) / step * step;
    struct area chart =
        area_part(area, layout.axis_width, 0, layout.chart_width, layout.chart_height);
    render_slots(timeline, exploration, &chart, scale);
    render_gaps(timeline, &chart);
    render_marks(timeline, exploration, &chart);
    render_cursor(&chart, timeline->cursor, 0x2502, THEME_STRONG);
    render_size_axis(area, &layout, timeline->mode, scale, step);
    render_time_axis(timeline, area, &layout);
    render_mark_names(timeline, exploration, area, &layout);
    render_range(timeline, exploration, area, &layout);
    if (!timeline->slots_known) {
        char text[PENDING_SIZE];
        area_text(area, layout.axis_width + 2, layout.chart_height / 2, theme_style(THEME_FAINT),
                  exploration_pending(text, exploration));
    } else {
        if (layout.legend_x >= 0)
            timeline_legend_render(timeline, exploration, area, &layout, scale);
        timeline_details_render(timeline, exploration, area, &layout);
    }
    if (layout.range_rows > 0) {
        struct area range = area_part(area, 0, layout.range_y, area->width, layout.range_rows);
        timeline_range_render(timeline, exploration, &range);
    }
}
