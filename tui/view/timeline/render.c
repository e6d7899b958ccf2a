/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the timeline: the chart, and the lines about the slot under the cursor. */
#include <stdio.h>
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/timeline/timeline.h"

/* ---- legend and details ----------------------------------------------------------------- */

static uint64_t rss_at(const struct browse *browse, uint64_t ns)
{
    const struct session_rss *samples = NULL;
    size_t count = session_rss(browse->session, &samples);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && samples[i].ns < ns; i++)
        bytes = samples[i].bytes;
    return bytes;
}

/* Draws the single events of the slot from row `y` of the legend on. */
static void render_events(const struct timeline *timeline, const struct browse *browse,
                          const struct area *legend, int y)
{
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    if (timeline->event_count == 0 || y + 1 >= legend->height)
        return;
    area_text(legend, 0, y++, theme_style(THEME_HEADING), "events of the slot");
    for (size_t i = 0; i < timeline->event_count && y < legend->height; i++, y++) {
        const struct timeline_event *event = &timeline->events[i];
        char time[FORMAT_SIZE], size[FORMAT_SIZE];
        area_field_right(legend, 0, y, 7, theme_style(THEME_FAINT),
                         format_duration(time, event->ns - begin));
        area_print(legend, 8, y, theme_style(event->is_free ? THEME_PLAIN : THEME_STRONG), "%s%s",
                   event->is_free ? "−" : "+", format_size_short(size, event->size));
        area_category(legend, 16, y, legend->width - 16, theme_style(THEME_PLAIN),
                      event->type != 0 ? session_type_name(browse->session, event->type)
                                       : session_function_name(browse->session, event->function));
    }
}

/* Writes what the chart shows of a colour: bytes live at the moment, allocations a second, or the
 * growth of the slot. */
static void color_text(const struct timeline *timeline, const struct session_slot *slot,
                       size_t color, char *out)
{
    const struct timeline_colors *colors =
        timeline->colors ? &timeline->colors[timeline->cursor] : NULL;
    out[0] = 0;
    if (timeline_shows_bytes(timeline))
        format_size_short(out, timeline_layer_bytes(timeline, slot, color));
    else if (colors && timeline->mode == TIMELINE_RATE)
        format_count_short(out, timeline_rate(timeline, timeline->cursor, colors->up[color]));
    else if (colors && colors->up[color] + colors->down[color] == 0)
        snprintf(out, FORMAT_SIZE, "0");
    else if (colors)
        growth_text(out, colors->down[color] > 0 ? -(int64_t)colors->down[color]
                                                 : (int64_t)colors->up[color]);
}

typedef char *short_form(char *out, size_t size, const char *name);

/* Writes a label of several keys, with each of them in a short form. */
static void put_keys(char *out, size_t size, const char *label, short_form *form)
{
    static const char between[] = SESSION_STACKING_BETWEEN;
    const char *at = label;
    size_t length = 0;
    for (const char *end; (end = strstr(at, between)); at = end + sizeof(between) - 1) {
        char key[SHORT_NAME_SIZE];
        snprintf(key, sizeof(key), "%.*s", (int)(end - at), at);
        form(out + length, size - length, key);
        length += strlen(out + length);
        length += (size_t)snprintf(out + length, size - length, "%s", between);
        if (length + sizeof(between) >= size)
            return;
    }
    form(out + length, size - length, at);
}

/* Returns true if another label looks like `shown` in this form. */
static bool is_shared(const struct session_legend *legend, size_t row, const char *shown,
                      short_form *form)
{
    char other[SHORT_NAME_SIZE];
    for (size_t i = 0; i < legend->count; i++) {
        put_keys(other, sizeof(other), legend->entry[i].label, form);
        if (i != row && strcmp(other, shown) == 0)
            return true;
    }
    return false;
}

/* Returns a label of keys in the shortest form that no other has, valid until the next call. */
static const char *short_keys(const struct session_legend *legend, size_t row)
{
    static short_form *const forms[] = {short_name, short_name_with_parameters};
    static char text[SHORT_NAME_SIZE]; /* only one thread draws */
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        put_keys(text, sizeof(text), legend->entry[row].label, forms[i]);
        if (!is_shared(legend, row, text, forms[i]))
            return text;
    }
    return legend->entry[row].label;
}

static struct alike_name label_of(void *context, size_t row)
{
    const struct legend_names *names = context;
    struct alike_name name = list_legend_name(context, row);
    if (strstr(name.name, SESSION_STACKING_BETWEEN))
        name.name = short_keys(names->legend, row);
    return name;
}

/* Says what the layers and their numbers are. A long list of fields makes way for the moment. */
static void render_heading(const struct timeline *timeline, const struct browse *browse,
                           const struct area *legend)
{
    const char *name = timeline->mode == TIMELINE_RSS ? "part of RSS"
                       : timeline->stack.text[0]      ? timeline->stack.text
                                                      : color_by_words(browse->color_by);
    const struct cell_style heading = theme_style(THEME_HEADING);
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    const uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    char moment[FORMAT_SIZE], behind[FORMAT_SIZE + sizeof(" at ")];
    if (timeline_shows_bytes(timeline))
        snprintf(behind, sizeof(behind), " at %s",
                 format_moment(moment, browse->moment_ns, end - begin));
    else
        snprintf(behind, sizeof(behind), "%s",
                 timeline->mode == TIMELINE_RATE ? ", allocations/s" : ", net of slot");
    const bool by = timeline->mode != TIMELINE_RATE &&
                    text_width(name) + text_width(behind) + 3 <= legend->width;
    const int x = !by ? 0 : area_text(legend, 0, 0, heading, "by ");
    const int room = legend->width - x - text_width(behind);
    const int width = text_width(name) < room ? text_width(name) : room;
    if (width > 0)
        area_field(legend, x, 0, width, heading, name);
    area_text(legend, x + (width > 0 ? width : 0), 0, heading, behind);
}

enum { HELD_MOST = 14, HELD_LEAST = 4 };

/* Draws what is live at the moment, largest first. */
static void render_held(const struct timeline *timeline, const struct browse *browse,
                        const struct area *area)
{
    const struct growth_data *held = timeline->held;
    const enum session_growth_by by = timeline->held_by;
    if (!held || !timeline->at || area->height < HELD_LEAST)
        return;
    area_text(area, 0, 0, theme_style(THEME_HEADING),
              by == SESSION_GROWTH_TYPE   ? "live then, by type"
              : by == SESSION_GROWTH_SIZE ? "live then, by size"
                                          : "live then, by function of yours");
    for (int i = 0; i < HELD_MOST && i + 1 < area->height && (size_t)i < held->count; i++) {
        const struct session_growth *row = &held->rows[i];
        const char *name = growth_name(browse->session, by, row->id);
        char text[FORMAT_SIZE];
        if (row->after.bytes == 0)
            break;
        area_field_right(area, 0, i + 1, 6, theme_style(THEME_PLAIN),
                         format_size_short(text, row->after.bytes));
        area_field_right(area, 6, i + 1, 6, theme_style(THEME_FAINT),
                         format_percent(text, row->after.bytes, timeline->at->live_bytes));
        if (by == SESSION_GROWTH_TYPE)
            area_category(area, 14, i + 1, area->width - 14, theme_style(THEME_PLAIN), name);
        else
            area_name(area, 14, i + 1, area->width - 14, theme_style(THEME_PLAIN), name);
    }
}

/* `scale` is the number at the top of the chart. */
static void legend_render(const struct timeline *timeline, const struct browse *browse,
                          const struct area *area, const struct timeline_layout *layout,
                          uint64_t scale)
{
    /* The moment itself, or as long as that is not known the end of its slot. */
    const struct session_slot *slot = timeline->at && timeline->mode != TIMELINE_RSS
                                          ? timeline->at
                                          : &timeline->slots[timeline->cursor];
    const struct session_slot *whole = &timeline->slots[timeline->cursor];
    struct area legend =
        area_part(area, layout->legend_x + 2, 0, layout->legend_width - 3, layout->chart_height);
    int y = 0;
    bool percents = legend.width >= 30;
    int label = legend.width - 2 - 7 - (percents ? 6 : 0);
    render_heading(timeline, browse, &legend);
    y++;
    struct legend_names context = {browse->session, timeline->legend};
    struct alike_field labels[SESSION_COLORS];
    size_t label_count = 0, layers[SESSION_COLORS];
    const size_t layer_count = timeline_layers(timeline, layers);
    for (size_t layer = 0; layer < layer_count && y < legend.height; layer++, y++) {
        const size_t i = layers[layer];
        const bool made = i >= timeline->legend->count; /* a rest that the legend does not have */
        char size[FORMAT_SIZE], percent[FORMAT_SIZE];
        struct cell_style style = timeline_style(timeline, legend.grid, i);
        color_text(timeline, slot, i, size);
        area_put(&legend, 0, y, grid_colors(legend.grid) ? 0x2588 : timeline_pattern(timeline, i),
                 style);
        area_category(&legend, 2, y, label, theme_style(THEME_PLAIN),
                      made ? "rest" : label_of(&context, i).name);
        if (!made)
            labels[label_count++] = (struct alike_field){2, y, label, i, NULL};
        area_field_right(&legend, 2 + label, y, 7, theme_style(THEME_PLAIN), size);
        if (percents && timeline_shows_bytes(timeline))
            area_field_right(
                &legend, 9 + label, y, 6, theme_style(THEME_FAINT),
                format_percent(percent, timeline_layer_bytes(timeline, slot, i), slot->live_bytes));
    }
    alike_rewrite(&legend, labels, label_count, label_of, &context);
    const uint64_t rss =
        timeline->mode == TIMELINE_LIVE ? rss_at(browse, browse->moment_ns + 1) : 0;
    if (y < legend.height && rss > 0) {
        char size[FORMAT_SIZE];
        area_put(&legend, 0, y, 0x2500, theme_style(THEME_STRONG));
        area_field(&legend, 2, y, label, theme_style(THEME_FAINT),
                   rss > scale ? "RSS, above" : "RSS");
        area_field_right(&legend, 2 + label, y++, 7, theme_style(THEME_FAINT),
                         format_size_short(size, rss));
    }
    if (timeline->mode == TIMELINE_LIVE && y < legend.height &&
        whole->peak_bytes > whole->live_bytes) {
        char size[FORMAT_SIZE], least[FORMAT_SIZE + sizeof("\u2265")];
        area_put(&legend, 0, y, grid_colors(legend.grid) ? 0x2588 : ':',
                 theme_style(THEME_TRANSIENT));
        snprintf(least, sizeof(least), "\u2265%s",
                 format_size_short(size, whole->peak_bytes - whole->live_bytes));
        area_field(&legend, 2, y, label, theme_style(THEME_FAINT), "gone within the slot");
        area_field_right(&legend, 2 + label, y++, 7, theme_style(THEME_FAINT), least);
    }
    render_events(timeline, browse, &legend, y + 1);
    y += 1 + (timeline->event_count > 0 ? (int)timeline->event_count + 2 : 0);
    const struct area below = area_part(&legend, 0, y, legend.width, legend.height - y);
    if (y < legend.height)
        render_held(timeline, browse, &below);
}

static void render_moment(const struct timeline *timeline, const struct browse *browse,
                          const struct area *area, int y)
{
    const struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    const uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    char a[FORMAT_SIZE];
    int x = 1 + area_text(area, 1, y, faint, "at ");
    x += area_text(area, x, y, theme_style(THEME_STRONG),
                   format_moment(a, browse->moment_ns, end - begin));
    x += area_print(area, x, y, faint, "  live ");
    if (!timeline->at) {
        char text[PENDING_SIZE];
        area_text(area, x, y, faint, browse_pending(text, browse));
        return;
    }
    x += area_print(area, x, y, theme_style(THEME_STRONG), "%s%s", browse->about,
                    format_size(a, timeline->at->live_bytes));
    x += area_print(area, x, y, plain, " in %s%s", browse->about,
                    format_count(a, timeline->at->live_count));
    const uint64_t rss = rss_at(browse, browse->moment_ns + 1);
    if (rss > 0 && x + 15 <= area->width) {
        x += area_text(area, x, y, faint, "  RSS ");
        x += area_text(area, x, y, plain, format_size(a, rss));
    }
    if (browse->peak_known && browse->moment_ns == browse->peak_ns && x + 10 <= area->width)
        area_text(area, x, y, theme_style(THEME_GOOD), "  the peak");
}

static void flow_line(const struct timeline *timeline, const char *about, const struct area *area,
                      int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    char count[FORMAT_SIZE], size[FORMAT_SIZE], a[FORMAT_SIZE], b[FORMAT_SIZE];
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    const uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    int x = 1;
    struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    if (area->width >= 110)
        x += area_print(area, x, y, faint, "slot %s – %s  ", format_moment(a, begin, end - begin),
                        format_moment(b, end, end - begin));
    x += area_text(area, x, y, faint, "allocated ");
    x += area_print(area, x, y, plain, "+%s%s, %s%s", about,
                    format_count(count, slot->allocated_count), about,
                    format_size(size, slot->allocated_bytes));
    x += area_text(area, x, y, faint, "  freed ");
    x += area_print(area, x, y, plain, "−%s%s, %s%s", about, format_count(count, slot->freed_count),
                    about, format_size(size, slot->freed_bytes));
    bool grew = slot->allocated_bytes >= slot->freed_bytes;
    x += area_text(area, x, y, faint, "  net ");
    x += area_print(area, x, y, plain, "%s%s%s", grew ? "+" : "−", about,
                    format_size(size, grew ? slot->allocated_bytes - slot->freed_bytes
                                           : slot->freed_bytes - slot->allocated_bytes));
    if (slot->peak_bytes > slot->live_bytes && x + 16 <= area->width) {
        x += area_print(area, x, y, faint, "  peak \u2265%s", about);
        area_text(area, x, y, plain, format_size(size, slot->peak_bytes));
    }
}

/* Writes the name of a function of the slot so that no other one there has the same. */
static void share_name(const struct alike_name *names, size_t count, size_t at, char *out,
                       size_t size)
{
    char apart[ALIKE_DIFFERENCE_SIZE];
    bool one_name = false, one_short_name = false;
    short_name(out, size, names[at].name);
    for (size_t i = 0; i < count; i++) {
        char other[SHORT_NAME_SIZE];
        if (i == at || strcmp(short_name(other, sizeof(other), names[i].name), out) != 0)
            continue;
        one_short_name = true;
        one_name = one_name || strcmp(names[i].name, names[at].name) == 0;
    }
    if (one_short_name && !one_name)
        short_name_with_parameters(out, size, names[at].name);
    const size_t length = strlen(out);
    snprintf(out + length, size - length, "%s", alike_difference(names, count, at, apart));
}

static void render_shares(const struct timeline *timeline, const struct browse *browse,
                          const struct area *area, int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    if (!timeline->shares)
        return;
    if (timeline->share_count == 0) {
        area_text(area, 1, y, theme_style(THEME_FAINT), "nothing was allocated in this slot");
        return;
    }
    struct alike_name names[TIMELINE_SHARES_MOST];
    for (size_t i = 0; i < timeline->share_count; i++)
        names[i] = list_function_name(browse->session, timeline->shares[i].function);
    int x = 1 + area_text(area, 1, y, theme_style(THEME_FAINT), "by ");
    for (size_t i = 0; i < timeline->share_count; i++) {
        char percent[FORMAT_SIZE], name[SHORT_NAME_SIZE], shown[SHORT_NAME_SIZE];
        share_name(names, timeline->share_count, i, name, sizeof(name));
        const int width = text_width(name) < 40 ? text_width(name) : 40;
        format_percent(percent, timeline->shares[i].bytes, slot->allocated_bytes);
        if (x + width + 1 + text_width(percent) >= area->width)
            break;
        area_field(area, x, y, width, theme_style(THEME_PLAIN),
                   short_name_fit_again(shown, sizeof(shown), name, width));
        x += 1 + width;
        x += 2 + area_text(area, x, y, theme_style(THEME_FAINT), percent);
    }
}

/* Draws the lines below the chart, and the legend beside it. */
static void details_render(const struct timeline *timeline, const struct browse *browse,
                           const struct area *area, const struct timeline_layout *layout)
{
    render_moment(timeline, browse, area, layout->details);
    if (layout->detail_rows < 3)
        return;
    flow_line(timeline, browse->about, area, layout->details + 1);
    render_shares(timeline, browse, area, layout->details + 2);
}

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
static uint64_t largest_with_rss(const struct timeline *timeline, const struct browse *browse)
{
    const struct session_rss *samples = NULL;
    const size_t count = session_rss(browse->session, &samples);
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
    size_t positions[SESSION_COLORS];
    const size_t count = timeline_layers(timeline, positions);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        layers[i] = (struct bar_layer){.value = timeline_layer_bytes(timeline, slot, positions[i]),
                                       .style = timeline_style(timeline, chart->grid, positions[i]),
                                       .pattern = timeline_pattern(timeline, positions[i])};
        sum += layers[i].value;
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

static void render_cursor(const struct area *chart, int x, uint32_t glyph, enum theme_role role)
{
    for (int y = 0; y < chart->height; y++)
        if (grid_cell(chart->grid, chart->x + x, chart->y + y)->glyph == ' ')
            area_put(chart, x, y, glyph, theme_style(role));
}

static int column_of(const struct timeline *timeline, uint64_t ns)
{
    return ns < timeline->from || ns >= timeline->to ? -1 : timeline_slot_of(timeline, ns);
}

static void render_marks(const struct timeline *timeline, const struct browse *browse,
                         const struct area *chart)
{
    const struct session_mark *marks = NULL;
    const size_t count = session_marks(browse->session, &marks);
    for (size_t i = 0; i < count; i++) {
        const int x = column_of(timeline, marks[i].ns);
        if (x >= 0)
            render_cursor(chart, x, 0x2506, THEME_MATCH);
    }
}

/* Draws the names of the marks on the axis. A name without room ends in an ellipsis, or is left
 * out if another one begins before it. */
static void mark_names(const struct timeline *timeline, const struct browse *browse,
                       const struct area *area, const struct timeline_layout *layout)
{
    const struct session_mark *marks = NULL;
    const size_t count = session_marks(browse->session, &marks);
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
static void render_rss(const struct timeline *timeline, const struct browse *browse,
                       const struct area *chart, uint64_t scale)
{
    const struct session_rss *samples = NULL;
    size_t count = session_rss(browse->session, &samples), at = 0;
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
        const int16_t layer =
            below->glyph == 0x2588 ? below->style.foreground : below->style.background;
        if (layer != CELL_DEFAULT)
            style = theme_style(THEME_LINE);
        style.background = layer;
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
static void tick(const struct area *area, int x, int y, const char *text)
{
    area_field_right(area, 0, y, x, theme_style(THEME_FAINT), text);
    area_put(area, x, y, 0x2524, theme_style(THEME_FAINT));
}

static void size_axis(const struct area *area, const struct timeline_layout *layout,
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
        tick(area, x, y, mode == TIMELINE_RATE ? rate : format_size_short(text, value));
        if (mode == TIMELINE_NET) {
            const int below = layout->chart_height - height;
            y = height + (int)((double)value / (double)scale * below + 0.5);
            text[0] = 0;
            growth_text(text, -(int64_t)value);
            if (y > height && y < layout->chart_height)
                tick(area, x, y, text);
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

static void time_axis(const struct timeline *timeline, const struct area *area,
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
    int free_from = 0, before = -1;
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

static void render_range(const struct timeline *timeline, const struct browse *browse,
                         const struct area *area, const struct timeline_layout *layout)
{
    const int y = layout->chart_height, x0 = layout->axis_width;
    uint64_t begin = browse->range_from_ns, end = browse->range_to_ns;
    if (browse->marking) {
        const uint64_t moment = browse->moment_ns;
        begin = moment < timeline->range_ns ? moment : timeline->range_ns;
        end = moment < timeline->range_ns ? timeline->range_ns : moment;
    }
    if ((browse->marking || browse->has_range) && end >= timeline->from && begin < timeline->to) {
        const int a = timeline_slot_of(timeline, begin), b = timeline_slot_of(timeline, end);
        area_fill(area, x0 + a, y, b - a + 1, 1, 0x2550, theme_style(THEME_MATCH));
    }
    area_put(area, x0 + timeline->cursor, y, 0x25b2, theme_style(THEME_STRONG));
}

static void render_slots(const struct timeline *timeline, const struct browse *browse,
                         const struct area *chart, uint64_t scale)
{
    for (int x = 0; x < timeline->slot_count; x++)
        if (timeline->mode == TIMELINE_RATE)
            render_rate(timeline, chart, x, scale);
        else if (timeline->mode == TIMELINE_NET)
            render_net(timeline, chart, x, scale);
        else
            render_slot(timeline, chart, x, &timeline->slots[x], scale);
    if (timeline->mode == TIMELINE_LIVE)
        render_rss(timeline, browse, chart, scale);
}

void timeline_render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct timeline *timeline = view;
    const struct timeline_layout layout =
        timeline_lay_out(timeline, area->width, area->height, browse->has_range);
    const uint64_t most = largest_with_rss(timeline, browse);
    const uint64_t step = axis_step(timeline->mode, most, layout.chart_height);
    const uint64_t scale = (most + step - 1) / step * step;
    struct area chart =
        area_part(area, layout.axis_width, 0, layout.chart_width, layout.chart_height);
    render_slots(timeline, browse, &chart, scale);
    render_gaps(timeline, &chart);
    render_marks(timeline, browse, &chart);
    render_cursor(&chart, timeline->cursor, 0x2502, THEME_STRONG);
    size_axis(area, &layout, timeline->mode, scale, step);
    time_axis(timeline, area, &layout);
    mark_names(timeline, browse, area, &layout);
    render_range(timeline, browse, area, &layout);
    if (!timeline->slots_known) {
        char text[PENDING_SIZE];
        area_text(area, layout.axis_width + 2, layout.chart_height / 2, theme_style(THEME_FAINT),
                  browse_pending(text, browse));
    } else {
        if (layout.legend_x >= 0)
            legend_render(timeline, browse, area, &layout, scale);
        details_render(timeline, browse, area, &layout);
    }
    if (layout.range_rows > 0) {
        struct area range = area_part(area, 0, layout.range_y, area->width, layout.range_rows);
        timeline_range_render(timeline, browse, &range);
    }
}
