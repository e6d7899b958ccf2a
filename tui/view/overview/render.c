/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the overview. */
#include <stdio.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/overview/overview.h"

/* ---- layout ----------------------------------------------------------------------------- */

static struct overview_layout overview_lay_out(const struct overview *overview, int width,
                                               int height)
{
    struct overview_layout layout = {.ranked = 1};
    const int ranked = (int)overview->ranked_count, facts = overview_fact_lines(overview);
    const int most = height * 2 / 5;
    layout.ranked_rows = ranked < most ? ranked : most;
    layout.facts = layout.ranked + layout.ranked_rows;
    layout.fact_rows = facts < most ? facts : most;
    layout.totals = layout.facts + layout.fact_rows + (height >= 20);
    layout.total_rows = height >= 18 ? 3 : height >= 12 ? 1 : 0;
    layout.outside = layout.totals + layout.total_rows;
    const int left = height - layout.outside - 1;
    layout.chart_height = left >= 34 ? 8 : left >= 24 ? 5 : left >= 15 ? 3 : 0;
    layout.chart = layout.outside + 1 + (layout.chart_height > 0);
    layout.held = layout.chart + (layout.chart_height > 0 ? layout.chart_height + 2 : 0);
    layout.held_rows = height - layout.held - 1;
    layout.columns = width >= 70 ? 2 : 1;
    if (layout.held_rows < 1)
        layout.held_rows = 0;
    return layout;
}

/* Returns the first row of a part of `rows` rows that shows the selected one. */
static int first_shown(int selected, int rows)
{
    return selected >= rows ? selected - rows + 1 : 0;
}

static int held_start(const struct overview *overview, enum overview_held way)
{
    return (int)overview->ranked_count + overview_fact_lines(overview) +
           (way == HELD_BY_WHAT ? (int)overview->held_counts[HELD_BY_USER] : 0);
}

/* Returns the first row that a held part shows. */
static int held_first(const struct overview *overview, enum overview_held way, int rows)
{
    const int at = overview->selected - held_start(overview, way);
    return at >= 0 && at < (int)overview->held_counts[way] ? first_shown(at, rows) : 0;
}

/* Tells which of the held parts a screen of one column shows. */
static enum overview_held held_shown(const struct overview *overview)
{
    return overview->selected >= held_start(overview, HELD_BY_WHAT) &&
                   overview->held_counts[HELD_BY_WHAT] > 0
               ? HELD_BY_WHAT
               : HELD_BY_USER;
}

int overview_line_at(const struct overview *overview, int width, int height, int x, int y)
{
    const struct overview_layout layout = overview_lay_out(overview, width, height);
    if (y >= layout.ranked && y < layout.ranked + layout.ranked_rows)
        return y - layout.ranked + first_shown(overview->selected, layout.ranked_rows);
    if (y >= layout.facts && y < layout.facts + layout.fact_rows)
        return (int)overview->ranked_count + y - layout.facts;
    if (y <= layout.held || y > layout.held + layout.held_rows)
        return -1;
    const enum overview_held way = layout.columns == 1 ? held_shown(overview)
                                   : x < width / 2     ? HELD_BY_USER
                                                       : HELD_BY_WHAT;
    const int row = y - layout.held - 1 + held_first(overview, way, layout.held_rows);
    return row < (int)overview->held_counts[way] ? held_start(overview, way) + row : -1;
}

/* ---- findings --------------------------------------------------------------------------- */

struct finding_columns {
    int word, word_width, type, type_width, user, user_width; /* type_width 0: not shown */
    int rest;                                                 /* 0: not shown */
};

/* In a narrow window the finding comes first, and its subject only if there is room. */
static struct finding_columns finding_columns(const struct area *area)
{
    const bool narrow = area->width < 60;
    struct finding_columns columns = {.word = 14, .word_width = narrow ? 11 : 17};
    columns.type = columns.word + columns.word_width + narrow;
    columns.rest = area->width >= 110 ? area->width - 40 : 0;
    const int room = area->width - columns.type - 2 - (columns.rest > 0 ? 40 : 0);
    const int types = narrow ? 0 : room * 2 / 5;
    columns.type_width = types > 0 ? types - 1 : 0;
    columns.user = columns.type + types;
    columns.user_width = room - types;
    return columns;
}

static struct alike_name finding_type(void *context, size_t number)
{
    const struct ranked_finding *finding = &((const struct overview *)context)->ranked[number];
    return (struct alike_name){.name = finding->type[0] ? finding->type : SESSION_UNKNOWN_TYPE};
}

static struct alike_name finding_user(void *context, size_t number)
{
    const struct ranked_finding *finding = &((const struct overview *)context)->ranked[number];
    return (struct alike_name){.name = finding->user[0] ? finding->user : "no own code"};
}

static void render_one(const struct overview *overview, const struct browse *browse,
                       const struct area *area, int y, size_t number)
{
    const struct finding_columns columns = finding_columns(area);
    const struct ranked_finding *finding = &overview->ranked[number];
    const int severity = ranked_severity(finding, browse->peak_bytes);
    const struct cell_style plain = theme_style(THEME_PLAIN);
    const char *about = browse->about;
    char size[FORMAT_SIZE], a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], rest[120];
    area_put(area, 1, y, severity > 0 ? 0x25b2 : 0x00b7,
             theme_style(severity > 1   ? THEME_ERROR
                         : severity > 0 ? THEME_WARNING
                                        : THEME_FAINT));
    snprintf(rest, sizeof(rest), "%s%s", about, format_size(size, finding->bytes));
    area_field_right(area, 2, y, 10, plain, rest);
    area_field(area, columns.word, y, columns.word_width, plain, ranked_word(finding));
    if (finding->kind == RANKED_HOLES) {
        area_print(area, columns.type, y, plain,
                   area->width < 60 ? "%s hole%s" : "%s hole%s of 1 KiB or more at %s",
                   format_count(a, finding->count), finding->count == 1 ? "" : "s",
                   format_instant(b, finding->first_ns));
        return;
    }
    if (columns.type_width > 0)
        area_category(area, columns.type, y, columns.type_width, plain,
                      finding_type((void *)overview, number).name);
    area_name(area, columns.user, y, columns.user_width, plain,
              finding_user((void *)overview, number).name);
    if (columns.rest == 0)
        return;
    snprintf(rest, sizeof(rest), "%s%s block%s, %s – %s", about, format_count(a, finding->count),
             finding->count == 1 ? "" : "s", format_instant(b, finding->first_ns),
             format_instant(c, finding->last_ns));
    area_field(area, columns.rest, y, 39, theme_style(THEME_FAINT), rest);
}

/* Tells types and functions of the findings apart that look alike, and marks the selected one. */
static void finding_names(const struct overview *overview, const struct area *area, int y,
                          size_t first, int rows)
{
    const struct finding_columns columns = finding_columns(area);
    struct alike_field types[RANKED_MOST], users[RANKED_MOST];
    size_t count = 0;
    for (int i = 0; i < rows && count < RANKED_MOST; i++) {
        const size_t number = first + (size_t)i;
        if (overview->ranked[number].kind == RANKED_HOLES)
            continue;
        types[count] = (struct alike_field){columns.type, y + i, columns.type_width, number, NULL};
        users[count++] =
            (struct alike_field){columns.user, y + i, columns.user_width, number, NULL};
    }
    if (columns.type_width > 0)
        alike_rewrite(area, types, count, finding_type, (void *)overview);
    alike_rewrite(area, users, count, finding_user, (void *)overview);
    const int selected = overview->selected - (int)first;
    if (selected >= 0 && selected < rows)
        area_restyle(area, 3, y + selected, area->width - 4, theme_style(THEME_CURSOR));
}

static void render_facts(const struct overview *overview, const struct area *area,
                         const struct overview_layout *layout)
{
    for (int i = 0; i < layout->fact_rows; i++) {
        const struct finding *finding = overview_fact(overview, (size_t)i);
        const bool selected = overview->selected == (int)overview->ranked_count + i;
        static const enum theme_role roles[] = {[FINDING_GOOD] = THEME_GOOD,
                                                [FINDING_NOTE] = THEME_FAINT,
                                                [FINDING_ODD] = THEME_WARNING,
                                                [FINDING_BAD] = THEME_ERROR};
        struct cell_style mark = theme_style(roles[finding->gravity]);
        mark.attributes &= (uint16_t)~CELL_UNDERLINE;
        area_put(area, 1, layout->facts + i,
                 finding->gravity == FINDING_GOOD   ? 0x2713
                 : finding->gravity == FINDING_NOTE ? 0x00b7
                                                    : '!',
                 mark);
        area_field(area, 3, layout->facts + i, area->width - 4,
                   theme_style(selected ? THEME_CURSOR : THEME_PLAIN), finding->text);
    }
}

static void render_findings(const struct overview *overview, const struct browse *browse,
                            const struct area *area, const struct overview_layout *layout)
{
    area_text(area, 1, 0, theme_style(THEME_HEADING), "Findings");
    if (overview->kinds_done < RANKED_KINDS && overview->data) {
        char pending[PENDING_SIZE];
        area_print(area, 11, 0, theme_style(THEME_FAINT), "%s", browse_pending(pending, browse));
    }
    const int first = overview->selected < (int)overview->ranked_count
                          ? first_shown(overview->selected, layout->ranked_rows)
                          : 0;
    for (int i = 0; i < layout->ranked_rows; i++)
        render_one(overview, browse, area, layout->ranked + i, (size_t)first + (size_t)i);
    finding_names(overview, area, layout->ranked, (size_t)first, layout->ranked_rows);
    render_facts(overview, area, layout);
}

/* ---- totals ----------------------------------------------------------------------------- */

static void render_totals(const struct browse *browse, const struct area *area, int y, int rows)
{
    const struct session *session = browse->session;
    const struct selection *selection = browse->selection;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    const char *about = browse->about;
    uint64_t count = selection_allocations(selection), bytes = selection_bytes(selection);
    uint64_t live = selection_live_count(selection);
    area_text(area, 1, y, theme_style(THEME_HEADING), "Totals");
    area_print(area, 10, y, theme_style(THEME_PLAIN), "allocated  %s%s in %s%s (average %s%s)",
               about, format_size(a, bytes), about, format_count(b, count), about,
               format_size(c, count ? bytes / count : 0));
    if (rows < 2)
        return;
    int x = 10 + area_text(area, 10, y + 1, theme_style(THEME_PLAIN), "peak       ");
    if (browse->peak_known)
        x += area_print(area, x, y + 1, theme_style(THEME_PLAIN), "%s%s at %s", about,
                        format_size(a, browse->peak_bytes), format_duration(b, browse->peak_ns));
    else
        x += area_text(area, x, y + 1, theme_style(THEME_FAINT), "counting …");
    area_print(area, x, y + 1, theme_style(THEME_PLAIN), " · live %s %s%s in %s%s",
               session_recording(browse->session) ? "now"
               : session_stopped(browse->session) ? "when the recording stopped"
                                                  : "at the end",
               about, format_size(c, selection_live_bytes(selection)), about,
               format_count(d, live));
    if (rows < 3)
        return;
    area_print(area, 10, y + 2, theme_style(THEME_FAINT),
               "%s · %s thread%s · %s stack%s · %s%s freed",
               format_duration(a, session_duration_ns(session) - session_start_ns(session)),
               format_count(b, (uint64_t)session_meta_number(session, "threads")),
               session_meta_number(session, "threads") == 1 ? "" : "s",
               format_count(c, (uint64_t)session_meta_number(session, "stacks")),
               format_plural((uint64_t)session_meta_number(session, "stacks")), about,
               format_count(d, count - live));
}

static void render_chart(const struct overview_data *data, const struct browse *browse,
                         const struct area *area, int y, int height)
{
    const int slot_count = (int)data->request.slot_count;
    uint64_t scale = 1;
    for (int i = 0; i < slot_count; i++)
        if (data->slots[i].peak_bytes > scale)
            scale = data->slots[i].peak_bytes;
    char text[FORMAT_SIZE];
    area_text(area, 1, y, theme_style(THEME_HEADING), "Live bytes over time");
    area_print(area, 23, y, theme_style(THEME_FAINT), "up to %s%s", browse->about,
               format_size(text, scale));
    struct area chart = area_part(area, 2, y + 1, slot_count, height);
    struct cell_style live = theme_category(area->grid, 0, SESSION_COLORS - 1, -1);
    for (int x = 0; x < chart.width; x++) {
        const struct session_slot *slot = &data->slots[x];
        struct bar_layer layers[2] = {
            {slot->live_bytes, live, '#'},
            {slot->peak_bytes - slot->live_bytes, theme_style(THEME_TRANSIENT), '.'}};
        if (slot->peak_bytes < slot->live_bytes)
            layers[1].value = 0;
        bars_column(&chart, x, layers, 2, scale, CELL_DEFAULT);
    }
    const uint64_t start = session_start_ns(browse->session);
    if (start == 0)
        area_text(area, 2, y + 1 + height, theme_style(THEME_FAINT), "0 s");
    else
        area_text(area, 2, y + 1 + height, theme_style(THEME_FAINT), format_duration(text, start));
    format_duration(text, session_duration_ns(browse->session));
    area_text(area, 2 + chart.width - text_width(text), y + 1 + height, theme_style(THEME_FAINT),
              text);
    const uint64_t peak = browse->peak_ns;
    const uint64_t end = session_duration_ns(browse->session);
    if (!browse->peak_known || end <= start || peak < start)
        return;
    int at = (int)((double)(peak - start) / (double)(end - start) * chart.width);
    if (at > 4 && at < chart.width - 14)
        area_text(area, 2 + at, y + 1 + height, theme_style(THEME_FAINT), "▲ peak");
}

/* Returns the resident set size at a time, 0 if it is not known. */
static uint64_t rss_at(const struct browse *browse, uint64_t ns)
{
    const struct session_rss *samples = NULL;
    const size_t count = session_rss(browse->session, &samples);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && samples[i].ns <= ns; i++)
        bytes = samples[i].bytes;
    return bytes;
}

struct part {
    const char *name;
    uint64_t bytes;
};

/* Draws sizes in a row, in their short form if they have no room otherwise. */
static void render_parts(const struct area *area, int x, int y, const struct part *parts,
                         size_t count)
{
    char text[FORMAT_SIZE];
    int width = 0;
    for (size_t i = 0; i < count; i++)
        width += text_width(parts[i].name) + text_width(format_size(text, parts[i].bytes));
    const bool briefly = x + width > area->width;
    for (size_t i = 0; i < count; i++) {
        if (briefly)
            format_size_short(text, parts[i].bytes);
        else
            format_size(text, parts[i].bytes);
        if (x + text_width(parts[i].name) + text_width(text) > area->width) {
            area_text(area, x, y, theme_style(THEME_FAINT), " …");
            return;
        }
        x += area_text(area, x, y, theme_style(THEME_FAINT), parts[i].name);
        x += area_text(area, x, y, theme_style(THEME_PLAIN), text);
    }
}

/* Draws what lies outside of blocks at the peak. */
static void render_outside(const struct overview *overview, const struct browse *browse,
                           const struct area *area, int y)
{
    const struct session_use *use = overview->use;
    const struct cell_style faint = theme_style(THEME_FAINT);
    const bool narrow = area->width < 100; /* so that RSS has room */
    int x = 1 + area_text(area, 1, y, theme_style(THEME_HEADING),
                          narrow ? "Outside blocks at peak" : "Outside blocks at the peak");
    if (session_sampled(browse->session)) {
        area_text(area, x, y, faint, "  not known: blocks that are not in the sample look empty");
        return;
    }
    if (!use) {
        char pending[PENDING_SIZE];
        area_print(area, x, y, faint, "  %s", browse_pending(pending, browse));
        return;
    }
    if (session_meta_number(browse->session, "made_up_addresses")) {
        area_text(area, x, y, faint, "  not known: the recording has no addresses");
        return;
    }
    const uint64_t rss = rss_at(browse, browse->peak_ns);
    struct part parts[5] = {{"  holes ", use->hole_bytes}};
    size_t count = 1;
    if (use->unknown_bytes > 0)
        parts[count++] = (struct part){"  unclear ", use->unknown_bytes};
    if (narrow) {
        parts[count++] = (struct part){"  gaps <1K ", use->small_bytes + use->overhead_bytes};
    } else {
        parts[count++] = (struct part){"  small gaps ", use->small_bytes};
        parts[count++] = (struct part){"  overhead ", use->overhead_bytes};
    }
    if (rss > 0)
        parts[count++] = (struct part){"  RSS ", rss};
    render_parts(area, x, y, parts, count);
}

/* ---- at the peak ------------------------------------------------------------------------ */

/* The names of what was held. Functions of one name are one. */
struct held_names {
    const struct session *session;
    const struct growth_data *held;
    enum session_growth_by by;
};

static struct alike_name held_name(void *context, size_t row)
{
    const struct held_names *names = context;
    return (struct alike_name){
        .name = growth_name(names->session, names->by, names->held->rows[row].id)};
}

static void render_held(const struct overview *overview, const struct browse *browse,
                        const struct area *area, enum overview_held way)
{
    const struct growth_data *held = overview->held[way];
    char text[PENDING_SIZE];
    area_text(area, 0, 0, theme_style(THEME_HEADING),
              way == HELD_BY_USER ? "At the peak, by function of yours"
              : overview->held_by[way] == SESSION_GROWTH_SIZE
                  ? "At the peak, by size (types unknown)"
                  : "At the peak, by type");
    if (!held) {
        area_text(area, 0, 1, theme_style(THEME_FAINT), browse_pending(text, browse));
        return;
    }
    struct held_names names = {browse->session, held, overview->held_by[way]};
    struct alike_field fields[ALIKE_MOST];
    size_t shown = 0;
    const int rows = area->height - 1, first = held_first(overview, way, rows);
    const int bar = area->width >= 46 ? 8 : 0, name = 14 + bar + (bar > 0);
    for (int i = 0; i < rows && first + i < (int)overview->held_counts[way]; i++) {
        const struct session_growth *row = &held->rows[first + i];
        const bool selected = overview->selected == held_start(overview, way) + first + i;
        char size[FORMAT_SIZE], percent[FORMAT_SIZE], bytes[FORMAT_SIZE + 2];
        snprintf(bytes, sizeof(bytes), "%s%s", browse->about,
                 format_size_short(size, row->after.bytes));
        area_field_right(area, 0, 1 + i, 7, theme_style(THEME_PLAIN), bytes);
        area_field_right(area, 8, 1 + i, 5, theme_style(THEME_FAINT),
                         format_percent(percent, row->after.bytes, held->total.after.bytes));
        bars_row(area, 14, 1 + i, bar, row->after.bytes, held->rows[0].after.bytes,
                 theme_category(area->grid, 0, SESSION_COLORS - 1, -1));
        const struct cell_style style = theme_style(selected ? THEME_CURSOR : THEME_PLAIN);
        const char *text_of = held_name(&names, (size_t)first + (size_t)i).name;
        if (way == HELD_BY_WHAT)
            area_category(area, name, 1 + i, area->width - name - 1, style, text_of);
        else
            area_name(area, name, 1 + i, area->width - name - 1, style, text_of);
        if (shown < ALIKE_MOST)
            fields[shown++] = (struct alike_field){name, 1 + i, area->width - name - 1,
                                                   (size_t)first + (size_t)i, NULL};
    }
    alike_rewrite(area, fields, shown, held_name, &names);
}

void overview_render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct overview *overview = view;
    const struct overview_layout layout = overview_lay_out(overview, area->width, area->height);
    if (layout.total_rows > 0)
        render_totals(browse, area, layout.totals, layout.total_rows);
    if (!overview->data) {
        char text[PENDING_SIZE];
        area_text(area, 1, 0, theme_style(THEME_HEADING), "Findings");
        area_text(area, 11, 0, theme_style(THEME_FAINT), browse_pending(text, browse));
        return;
    }
    render_findings(overview, browse, area, &layout);
    if (layout.outside < area->height)
        render_outside(overview, browse, area, layout.outside);
    if (layout.chart_height > 0)
        render_chart(overview->data, browse, area, layout.chart, layout.chart_height);
    if (layout.held_rows < 1)
        return;
    const int half = layout.columns == 2 ? area->width / 2 : area->width;
    if (layout.columns == 2 || held_shown(overview) == HELD_BY_USER) {
        struct area left = area_part(area, 1, layout.held, half - 1, layout.held_rows + 1);
        render_held(overview, browse, &left, HELD_BY_USER);
    }
    if (layout.columns == 2 || held_shown(overview) == HELD_BY_WHAT) {
        struct area right =
            area_part(area, layout.columns == 2 ? half : 1, layout.held,
                      layout.columns == 2 ? area->width - half : half - 1, layout.held_rows + 1);
        render_held(overview, browse, &right, HELD_BY_WHAT);
    }
}
