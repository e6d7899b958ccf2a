/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the timeline: chart, axes, legend, details of the slot under the cursor. */
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/timeline/timeline.h"

#define TICK_COLUMNS 12

/* ---- chart ------------------------------------------------------------------------------ */

static uint64_t largest(const struct timeline *timeline)
{
    uint64_t most = 1;
    for (int i = 0; i < timeline->slot_count; i++) {
        if (timeline->slots[i].peak_bytes > most)
            most = timeline->slots[i].peak_bytes;
        if (timeline->slots[i].live_bytes > most)
            most = timeline->slots[i].live_bytes;
    }
    return most;
}

static void render_slot(const struct exploration *exploration, const struct area *chart, int x,
                        const struct session_slot *slot, uint64_t scale)
{
    struct bar_layer layers[SESSION_COLORS + 1];
    size_t count = exploration->legend.count;
    uint64_t sum = 0;
    if (count > SESSION_COLORS)
        count = SESSION_COLORS;
    for (size_t i = 0; i < count; i++) {
        layers[i] = (struct bar_layer){.value = slot->color_bytes[i],
                                       .style = exploration_category(exploration, chart->grid, i),
                                       .pattern = exploration_pattern(exploration, i)};
        sum += slot->color_bytes[i];
    }
    /* On top: bytes allocated and freed inside the slot. */
    layers[count] = (struct bar_layer){.value = slot->peak_bytes > sum ? slot->peak_bytes - sum : 0,
                                       .style = theme_style(THEME_TRANSIENT),
                                       .pattern = ':'};
    bars_column(chart, x, layers, count + 1, scale, CELL_DEFAULT);
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
    if (ns < timeline->from || ns >= timeline->to)
        return -1;
    return (int)((double)(ns - timeline->from) / (double)(timeline->to - timeline->from) *
                 timeline->slot_count);
}

static void render_marks(const struct timeline *timeline, const struct exploration *exploration,
                         const struct area *chart)
{
    const struct session_mark *marks = NULL;
    size_t count = session_marks(exploration->session, &marks);
    int free_from = 0;
    for (size_t i = 0; i < count; i++) {
        int x = column_of(timeline, marks[i].ns);
        if (x < 0)
            continue;
        render_cursor(chart, x, 0x2506, THEME_MATCH);
        const char *name = marks[i].name && marks[i].name[0] ? marks[i].name : marks[i].kind;
        int width = text_width(name);
        if (x + 1 < free_from || x + 1 + width >= chart->width)
            continue;
        bool room = true;
        for (int k = 1; k <= width; k++)
            room &= is_blank(chart, x + k, 0);
        if (room)
            free_from = x + 2 + area_text(chart, x + 1, 0, theme_style(THEME_MATCH), name);
    }
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

/* Returns the step of the size axis: about four in a chart, fewer in a low one. */
static uint64_t size_step(uint64_t most, int height)
{
    uint64_t parts = height >= 20 ? 6 : height >= 9 ? 4 : 2;
    return bars_nice_size((most + parts - 1) / parts);
}

static void render_size_axis(const struct area *area, const struct timeline_layout *layout,
                             uint64_t scale, uint64_t step)
{
    int x = layout->axis_width - 1;
    for (int y = 0; y < layout->chart_height; y++)
        area_put(area, x, y, 0x2502, theme_style(THEME_FAINT));
    for (uint64_t value = step; value <= scale; value += step) {
        int y = layout->chart_height -
                (int)((double)value / (double)scale * layout->chart_height + 0.5);
        char text[FORMAT_SIZE];
        area_field_right(area, 0, y, x, theme_style(THEME_FAINT), format_size_short(text, value));
        area_put(area, x, y, 0x2524, theme_style(THEME_FAINT));
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
    area_field_right(area, 0, y, x0 - 1, faint, "0");
    area_put(area, x0 - 1, y, 0x253c, faint);
    area_fill(area, x0, y, timeline->slot_count, 1, 0x2500, faint);
    uint64_t span = timeline->to - timeline->from;
    uint64_t step =
        nice_time((uint64_t)((double)span * TICK_COLUMNS / (double)timeline->slot_count) + 1);
    int free_from = 0;
    for (uint64_t at = (timeline->from + step - 1) / step * step; at < timeline->to; at += step) {
        int x = column_of(timeline, at);
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

static void render_range(const struct timeline *timeline, const struct area *area,
                         const struct timeline_layout *layout)
{
    int y = layout->chart_height, x0 = layout->axis_width;
    if (timeline->ranging) {
        uint64_t begin = timeline_edge(timeline, timeline->cursor), end = timeline->range_ns;
        int a = column_of(timeline, begin < end ? begin : end);
        int b = column_of(timeline, begin < end ? end : begin);
        a = a < 0 ? 0 : a;
        b = b < 0 ? timeline->slot_count - 1 : b;
        area_fill(area, x0 + a, y, b - a + 1, 1, 0x2550, theme_style(THEME_MATCH));
    }
    area_put(area, x0 + timeline->cursor, y, 0x25b2, theme_style(THEME_STRONG));
}

/* ---- legend and details ----------------------------------------------------------------- */

static void render_legend(const struct timeline *timeline, const struct exploration *exploration,
                          const struct area *area, const struct timeline_layout *layout)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    struct area legend =
        area_part(area, layout->legend_x + 2, 0, layout->legend_width - 3, layout->chart_height);
    int y = 0;
    bool percents = legend.width >= 30;
    int label = legend.width - 2 - 7 - (percents ? 6 : 0);
    area_print(&legend, 0, y++, theme_style(THEME_HEADING), "by %s%s",
               color_by_name(exploration->color_by), percents ? ", at the cursor" : "");
    for (size_t i = 0; i < exploration->legend.count && y < legend.height; i++, y++) {
        char size[FORMAT_SIZE], percent[FORMAT_SIZE];
        struct cell_style style = exploration_category(exploration, legend.grid, i);
        area_put(&legend, 0, y,
                 grid_colors(legend.grid) ? 0x2588 : exploration_pattern(exploration, i), style);
        area_category(&legend, 2, y, label, theme_style(THEME_PLAIN),
                      exploration->legend.entry[i].label);
        area_field_right(&legend, 2 + label, y, 7, theme_style(THEME_PLAIN),
                         format_size_short(size, slot->color_bytes[i]));
        if (percents)
            area_field_right(&legend, 9 + label, y, 6, theme_style(THEME_FAINT),
                             format_percent(percent, slot->color_bytes[i], slot->live_bytes));
    }
    if (y < legend.height && slot->peak_bytes > slot->live_bytes) {
        char size[FORMAT_SIZE];
        area_put(&legend, 0, y, grid_colors(legend.grid) ? 0x2588 : ':',
                 theme_style(THEME_TRANSIENT));
        area_field(&legend, 2, y, label, theme_style(THEME_FAINT), "gone within the slot");
        area_field_right(&legend, 2 + label, y, 7, theme_style(THEME_FAINT),
                         format_size_short(size, slot->peak_bytes - slot->live_bytes));
    }
}

static uint64_t rss_at(const struct exploration *exploration, uint64_t ns)
{
    const struct session_rss *samples = NULL;
    size_t count = session_rss(exploration->session, &samples);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && samples[i].ns < ns; i++)
        bytes = samples[i].bytes;
    return bytes;
}

static void render_slot_line(const struct timeline *timeline, const struct exploration *exploration,
                             const struct area *area, int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    uint64_t begin = timeline_edge(timeline, timeline->cursor);
    uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    int x = 1;
    struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    x += area_text(area, x, y, faint, "slot ");
    x += area_print(area, x, y, plain, "%s – %s", format_moment(a, begin, end - begin),
                    format_moment(b, end, end - begin));
    x += area_print(area, x, y, faint, "  live %s", exploration->about);
    x += area_text(area, x, y, theme_style(THEME_STRONG), format_size(a, slot->live_bytes));
    x += area_print(area, x, y, plain, " in %s%s", exploration->about,
                    format_count(a, slot->live_count));
    if (slot->peak_bytes > slot->live_bytes && x + 16 <= area->width) {
        x += area_print(area, x, y, faint, "  peak %s", exploration->about);
        x += area_text(area, x, y, plain, format_size(a, slot->peak_bytes));
    }
    uint64_t rss = rss_at(exploration, end);
    if (rss > 0 && x + 15 <= area->width) {
        x += area_text(area, x, y, faint, "  RSS ");
        area_text(area, x, y, plain, format_size(a, rss));
    }
}

static void render_flow_line(const struct timeline *timeline, const char *about,
                             const struct area *area, int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    char count[FORMAT_SIZE], size[FORMAT_SIZE];
    int x = 1;
    struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    x += area_text(area, x, y, faint, "allocated ");
    x += area_print(area, x, y, plain, "+%s%s, %s%s", about,
                    format_count(count, slot->allocated_count), about,
                    format_size(size, slot->allocated_bytes));
    x += area_text(area, x, y, faint, "  freed ");
    x += area_print(area, x, y, plain, "−%s%s, %s%s", about, format_count(count, slot->freed_count),
                    about, format_size(size, slot->freed_bytes));
    bool grew = slot->allocated_bytes >= slot->freed_bytes;
    x += area_text(area, x, y, faint, "  net ");
    area_print(area, x, y, plain, "%s%s%s", grew ? "+" : "−", about,
               format_size(size, grew ? slot->allocated_bytes - slot->freed_bytes
                                      : slot->freed_bytes - slot->allocated_bytes));
}

static void render_shares(const struct timeline *timeline, const struct exploration *exploration,
                          const struct area *area, int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    if (!timeline->shares)
        return;
    if (timeline->share_count == 0) {
        area_text(area, 1, y, theme_style(THEME_FAINT), "nothing was allocated in this slot");
        return;
    }
    int x = 1 + area_text(area, 1, y, theme_style(THEME_FAINT), "by ");
    for (size_t i = 0; i < timeline->share_count; i++) {
        char percent[FORMAT_SIZE];
        const char *name =
            session_function_name(exploration->session, timeline->shares[i].function);
        int width = text_width(name) < 40 ? text_width(name) : 40;
        format_percent(percent, timeline->shares[i].bytes, slot->allocated_bytes);
        if (x + width + 1 + text_width(percent) >= area->width)
            break;
        area_name(area, x, y, width, theme_style(THEME_PLAIN), name);
        x += width + 1;
        x += 2 + area_text(area, x, y, theme_style(THEME_FAINT), percent);
    }
}

void timeline_render(const void *view, const struct exploration *exploration,
                     const struct area *area)
{
    const struct timeline *timeline = view;
    struct timeline_layout layout = timeline_lay_out(area->width, area->height);
    uint64_t most = largest(timeline), step = size_step(most, layout.chart_height);
    uint64_t scale = (most + step - 1) / step * step;
    struct area chart =
        area_part(area, layout.axis_width, 0, layout.chart_width, layout.chart_height);
    for (int x = 0; x < timeline->slot_count; x++)
        render_slot(exploration, &chart, x, &timeline->slots[x], scale);
    render_rss(timeline, exploration, &chart, scale);
    render_marks(timeline, exploration, &chart);
    render_cursor(&chart, timeline->cursor, 0x2502, THEME_STRONG);
    render_size_axis(area, &layout, scale, step);
    render_time_axis(timeline, area, &layout);
    render_range(timeline, area, &layout);
    if (!timeline->slots_known) {
        char text[PENDING_SIZE];
        area_text(area, layout.axis_width + 2, layout.chart_height / 2, theme_style(THEME_FAINT),
                  exploration_pending(text, exploration));
        return;
    }
    if (layout.legend_x >= 0)
        render_legend(timeline, exploration, area, &layout);
    render_slot_line(timeline, exploration, area, layout.details);
    if (layout.detail_rows >= 3) {
        render_flow_line(timeline, exploration->about, area, layout.details + 1);
        render_shares(timeline, exploration, area, layout.details + 2);
    }
}
