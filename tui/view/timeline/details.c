/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the legend of the timeline, and the details of the moment and the slot under the cursor. */
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/short_name.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/timeline/timeline.h"

/* ---- legend and details ----------------------------------------------------------------- */

static uint64_t rss_at(const struct exploration *exploration, uint64_t ns)
{
    const struct session_rss *samples = NULL;
    size_t count = session_rss(exploration->session, &samples);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && samples[i].ns < ns; i++)
        bytes = samples[i].bytes;
    return bytes;
}

/* Draws the single events of the slot from row `y` of the legend on. */
static void render_events(const struct timeline *timeline, const struct exploration *exploration,
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
                      event->type != 0
                          ? session_type_name(exploration->session, event->type)
                          : session_function_name(exploration->session, event->function));
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
    if (timeline->mode == TIMELINE_LIVE)
        format_size_short(out, slot->color_bytes[color]);
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

/* Returns a label of several keys in the shortest form that no other one has, valid until the next
 * call. */
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
static void render_heading(const struct timeline *timeline, const struct exploration *exploration,
                           const struct area *legend)
{
    const char *name = timeline_stack_name(timeline, exploration);
    const struct cell_style heading = theme_style(THEME_HEADING);
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    const uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    char moment[FORMAT_SIZE], behind[FORMAT_SIZE + sizeof(" at ")];
    if (timeline->mode == TIMELINE_LIVE)
        snprintf(behind, sizeof(behind), " at %s",
                 format_moment(moment, exploration->moment_ns, end - begin));
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

void timeline_legend_render(const struct timeline *timeline, const struct exploration *exploration,
                            const struct area *area, const struct timeline_layout *layout,
                            uint64_t scale)
{
    /* The moment itself, or as long as that is not known the end of its slot. */
    const struct session_slot *slot =
        timeline->at ? timeline->at : &timeline->slots[timeline->cursor];
    const struct session_slot *whole = &timeline->slots[timeline->cursor];
    struct area legend =
        area_part(area, layout->legend_x + 2, 0, layout->legend_width - 3, layout->chart_height);
    int y = 0;
    bool percents = legend.width >= 30;
    int label = legend.width - 2 - 7 - (percents ? 6 : 0);
    render_heading(timeline, exploration, &legend);
    y++;
    struct legend_names context = {exploration->session, timeline->legend};
    struct alike_field labels[SESSION_COLORS];
    size_t label_count = 0;
    for (size_t i = 0; i < timeline->legend->count && y < legend.height; i++, y++) {
        char size[FORMAT_SIZE], percent[FORMAT_SIZE];
        struct cell_style style = timeline_style(timeline, legend.grid, i);
        color_text(timeline, slot, i, size);
        area_put(&legend, 0, y, grid_colors(legend.grid) ? 0x2588 : timeline_pattern(timeline, i),
                 style);
        area_category(&legend, 2, y, label, theme_style(THEME_PLAIN), label_of(&context, i).name);
        labels[label_count++] = (struct alike_field){2, y, label, i, NULL};
        area_field_right(&legend, 2 + label, y, 7, theme_style(THEME_PLAIN), size);
        if (percents && timeline->mode == TIMELINE_LIVE)
            area_field_right(&legend, 9 + label, y, 6, theme_style(THEME_FAINT),
                             format_percent(percent, slot->color_bytes[i], slot->live_bytes));
    }
    alike_rewrite(&legend, labels, label_count, label_of, &context);
    const uint64_t rss =
        timeline->mode == TIMELINE_LIVE ? rss_at(exploration, exploration->moment_ns + 1) : 0;
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
    render_events(timeline, exploration, &legend, y + 1);
}

/* Draws what is live at the moment itself. */
static void render_moment(const struct timeline *timeline, const struct exploration *exploration,
                          const struct area *area, int y)
{
    const struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    const uint64_t begin = timeline_edge(timeline, timeline->cursor);
    const uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    char a[FORMAT_SIZE];
    int x = 1 + area_text(area, 1, y, faint, "at ");
    x += area_text(area, x, y, theme_style(THEME_STRONG),
                   format_moment(a, exploration->moment_ns, end - begin));
    x += area_print(area, x, y, faint, "  live ");
    if (!timeline->at) {
        char text[PENDING_SIZE];
        area_text(area, x, y, faint, exploration_pending(text, exploration));
        return;
    }
    x += area_print(area, x, y, theme_style(THEME_STRONG), "%s%s", exploration->about,
                    format_size(a, timeline->at->live_bytes));
    x += area_print(area, x, y, plain, " in %s%s", exploration->about,
                    format_count(a, timeline->at->live_count));
    const uint64_t rss = rss_at(exploration, exploration->moment_ns + 1);
    if (rss > 0 && x + 15 <= area->width) {
        x += area_text(area, x, y, faint, "  RSS ");
        x += area_text(area, x, y, plain, format_size(a, rss));
    }
    if (exploration->peak_known && exploration->moment_ns == exploration->peak_ns &&
        x + 10 <= area->width)
        area_text(area, x, y, theme_style(THEME_GOOD), "  the peak");
}

static void render_flow_line(const struct timeline *timeline, const char *about,
                             const struct area *area, int y)
{
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    char count[FORMAT_SIZE], size[FORMAT_SIZE];
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
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
    struct alike_name names[TIMELINE_SHARES_MOST];
    for (size_t i = 0; i < timeline->share_count; i++)
        names[i] = list_function_name(exploration->session, timeline->shares[i].function);
    int x = 1 + area_text(area, 1, y, theme_style(THEME_FAINT), "by ");
    for (size_t i = 0; i < timeline->share_count; i++) {
        char percent[FORMAT_SIZE];
        char name[SHORT_NAME_SIZE], shown[SHORT_NAME_SIZE];
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

void timeline_details_render(const struct timeline *timeline, const struct exploration *exploration,
                             const struct area *area, const struct timeline_layout *layout)
{
    render_moment(timeline, exploration, area, layout->details);
    if (layout->detail_rows < 3)
        return;
    render_flow_line(timeline, exploration->about, area, layout->details + 1);
    render_shares(timeline, exploration, area, layout->details + 2);
}
