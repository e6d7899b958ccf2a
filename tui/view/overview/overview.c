/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The overview: first the findings, then the totals, the live bytes over time, and the functions
 * that held most at the peak. The user can select and follow the lines of findings and functions.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/view/overview/findings.h"
#include "tui/screen/format.h"
#include "tui/keys/keys.h"
#include "tui/screen/theme.h"
#include "tui/view/view.h"

#define TOP_MOST 40
#define SLOTS_MOST 400

/* The data: the request and what the engine finds. */
struct overview_data {
    struct {
        uint64_t selections, start, end, slot_count;
    } request;
    struct finding findings[FINDINGS_MOST];
    size_t finding_count;
    struct session_function_row top[TOP_MOST]; /* by bytes at the peak, or allocated */
    size_t top_count;
    bool top_at_peak;
    uint64_t top_bytes; /* of all functions together */
    struct session_slot slots[SLOTS_MOST];
};

struct overview {
    struct load load;
    const struct overview_data *data; /* NULL: not known yet */
    int selected;                     /* line: findings, then functions */
};

static void *create(void)
{
    return calloc(1, sizeof(struct overview));
}

static void destroy(void *view, struct exploration *exploration)
{
    load_clear(&exploration->loader, &((struct overview *)view)->load);
    free(view);
}

/* ---- loading ---------------------------------------------------------------------------- */

static int by_peak(const void *left, const void *right)
{
    const struct session_function_row *a = left, *b = right;
    if (a->at_peak_bytes != b->at_peak_bytes)
        return a->at_peak_bytes < b->at_peak_bytes ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static int by_self(const void *left, const void *right)
{
    const struct session_function_row *a = left, *b = right;
    if (a->self_bytes != b->self_bytes)
        return a->self_bytes < b->self_bytes ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static uint64_t shown_bytes(const struct overview_data *data,
                            const struct session_function_row *row)
{
    return data->top_at_peak ? row->at_peak_bytes : row->self_bytes;
}

static void take_top(struct overview_data *data, struct session_function_row *rows, size_t count)
{
    data->top_count = 0;
    data->top_bytes = 0;
    data->top_at_peak = false;
    for (size_t i = 0; i < count; i++)
        data->top_at_peak |= rows[i].at_peak_bytes > 0;
    for (size_t i = 0; i < count; i++)
        data->top_bytes += shown_bytes(data, &rows[i]);
    if (count > 0)
        qsort(rows, count, sizeof(*rows), data->top_at_peak ? by_peak : by_self);
    while (data->top_count < count && data->top_count < TOP_MOST &&
           shown_bytes(data, &rows[data->top_count]) > 0) {
        data->top[data->top_count] = rows[data->top_count];
        data->top_count++;
    }
}

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct overview_data *data = argument;
    struct session_function_row *rows = NULL;
    size_t count = 0;
    const bool good = selection_functions(selection, &rows, &count, error);
    data->finding_count = findings_collect(session, selection, rows, count, good ? NULL : error,
                                           data->findings, FINDINGS_MOST);
    take_top(data, rows, count);
    free(rows);
    return selection_timeline(selection, data->request.start, data->request.end,
                              (size_t)data->request.slot_count, SESSION_COLOR_NONE, data->slots,
                              error) &&
           good;
}

static void load(struct overview *overview, struct exploration *exploration, int width)
{
    static const struct load_kind kind = {sizeof(((struct overview_data *)0)->request),
                                          sizeof(struct overview_data), run, NULL};
    const uint64_t start = session_start_ns(exploration->session);
    const uint64_t end = session_duration_ns(exploration->session);
    const int slots = width - 4 > SLOTS_MOST ? SLOTS_MOST : width - 4;
    const struct overview_data wanted = {.request = {exploration->selections, start,
                                                     end > start ? end : start + 1,
                                                     slots > 1 ? (uint64_t)slots : 1}};
    overview->data = exploration_get(exploration, &overview->load, &kind, &wanted.request);
}

/* ---- keys ------------------------------------------------------------------------------- */

static int line_count(const struct overview *overview)
{
    return overview->data ? (int)(overview->data->finding_count + overview->data->top_count) : 0;
}

static void select_line(struct overview *overview, int line)
{
    int last = line_count(overview) - 1;
    overview->selected = line > last ? last : line;
    if (overview->selected < 0)
        overview->selected = 0;
}

static void follow(const struct overview *overview, struct exploration *exploration, bool narrow)
{
    size_t selected = (size_t)overview->selected;
    if (!overview->data)
        return;
    if (selected < overview->data->finding_count) {
        const struct finding *finding = &overview->data->findings[selected];
        if (finding->filter[0])
            exploration_narrow(exploration, finding->filter);
        if (!narrow)
            exploration->wish_view = finding->view;
        if (!finding->filter[0] && finding->view == VIEW_SAME)
            exploration_say(exploration, "this line counts no allocations");
        return;
    }
    selected -= overview->data->finding_count;
    if (selected >= overview->data->top_count)
        return;
    exploration->function = overview->data->top[selected].function;
    exploration->has_function = true;
    if (narrow) {
        char step[1200], name[1100];
        const char *function = session_function_name(exploration->session, exploration->function);
        snprintf(step, sizeof(step), "where function == %s",
                 filter_quote(name, sizeof(name), function));
        exploration_narrow(exploration, step);
    } else {
        exploration->wish_view = VIEW_FUNCTIONS;
    }
}

/* The rows of the screen, from top to bottom. */
struct layout {
    int findings, totals, chart, chart_height, top, top_rows;
};

static struct layout lay_out(const struct overview *overview, int height)
{
    struct layout layout;
    layout.findings = 1;
    const int findings = overview->data ? (int)overview->data->finding_count : 1;
    layout.totals = layout.findings + findings + 1;
    layout.chart = layout.totals + 4;
    int left = height - layout.chart;
    layout.chart_height = left >= 30 ? 10 : left >= 20 ? 6 : left >= 13 ? 4 : left >= 10 ? 3 : 2;
    layout.top = layout.chart + layout.chart_height + 3;
    layout.top_rows = height - layout.top - 1;
    return layout;
}

static int first_top_row(const struct overview *overview, int rows)
{
    int line = overview->selected - (int)overview->data->finding_count;
    return line >= rows ? line - rows + 1 : 0;
}

static void click(struct overview *overview, const struct view_input *input)
{
    if (!overview->data)
        return;
    struct layout layout = lay_out(overview, input->height);
    int finding = input->y - layout.findings, row = input->y - layout.top - 1;
    if (finding >= 0 && finding < (int)overview->data->finding_count)
        select_line(overview, finding);
    else if (row >= 0 && row < layout.top_rows)
        select_line(overview, (int)overview->data->finding_count + row +
                                  first_top_row(overview, layout.top_rows));
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct overview *overview = view;
    load(overview, exploration, input->width);
    if (overview->data)
        select_line(overview, overview->selected);
    int page = 10;
    switch (input->action) {
    case ACTION_REFRESH:
        break;
    case ACTION_UP:
    case ACTION_WHEEL_UP:
        select_line(overview, overview->selected - 1);
        break;
    case ACTION_DOWN:
    case ACTION_WHEEL_DOWN:
        select_line(overview, overview->selected + 1);
        break;
    case ACTION_PAGE_UP:
        select_line(overview, overview->selected - page);
        break;
    case ACTION_PAGE_DOWN:
        select_line(overview, overview->selected + page);
        break;
    case ACTION_HOME:
        select_line(overview, 0);
        break;
    case ACTION_END:
        select_line(overview, line_count(overview) - 1);
        break;
    case ACTION_FOLLOW:
        follow(overview, exploration, false);
        break;
    case ACTION_NARROW:
        follow(overview, exploration, true);
        break;
    case ACTION_CLICK: {
        int before = overview->selected;
        click(overview, input);
        if (before == overview->selected && input->y > 0)
            break;
        break;
    }
    default:
        return false;
    }
    return true;
}

/* ---- cells ------------------------------------------------------------------------------ */

static void render_findings(const struct overview_data *data, int chosen, const struct area *area,
                            int y)
{
    area_text(area, 1, y - 1, theme_style(THEME_HEADING), "Findings");
    for (size_t i = 0; i < data->finding_count; i++) {
        const struct finding *finding = &data->findings[i];
        enum theme_role role = finding->gravity == FINDING_GOOD  ? THEME_GOOD
                               : finding->gravity == FINDING_ODD ? THEME_WARNING
                                                                 : THEME_ERROR;
        struct cell_style mark = theme_style(role);
        mark.attributes &= (uint16_t)~CELL_UNDERLINE;
        area_put(area, 1, y, finding->gravity == FINDING_GOOD ? 0x2713 : '!', mark);
        bool selected = chosen == (int)i;
        area_field(area, 3, y, area->width - 4, theme_style(selected ? THEME_CURSOR : THEME_PLAIN),
                   finding->text);
        y++;
    }
}

static void render_totals(const struct exploration *exploration, const struct area *area, int y)
{
    const struct session *session = exploration->session;
    const struct selection *selection = exploration->selection;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    const char *about = exploration->about;
    uint64_t count = selection_allocations(selection), bytes = selection_bytes(selection);
    uint64_t live = selection_live_count(selection);
    area_text(area, 1, y, theme_style(THEME_HEADING), "Totals");
    area_print(area, 10, y, theme_style(THEME_PLAIN), "allocated  %s%s in %s%s (average %s%s)",
               about, format_size(a, bytes), about, format_count(b, count), about,
               format_size(c, count ? bytes / count : 0));
    int x = 10 + area_text(area, 10, y + 1, theme_style(THEME_PLAIN), "peak       ");
    if (exploration->peak_known)
        x += area_print(area, x, y + 1, theme_style(THEME_PLAIN), "%s%s at %s", about,
                        format_size(a, exploration->peak_bytes),
                        format_duration(b, exploration->peak_ns));
    else
        x += area_text(area, x, y + 1, theme_style(THEME_FAINT), "counting …");
    area_print(area, x, y + 1, theme_style(THEME_PLAIN), " · live at the end %s%s in %s%s", about,
               format_size(c, selection_live_bytes(selection)), about, format_count(d, live));
    area_print(area, 10, y + 2, theme_style(THEME_FAINT),
               "%s · %s thread%s · %s stacks · %s%s freed",
               format_duration(a, session_duration_ns(session) - session_start_ns(session)),
               format_count(b, (uint64_t)session_meta_number(session, "threads")),
               session_meta_number(session, "threads") == 1 ? "" : "s",
               format_count(c, (uint64_t)session_meta_number(session, "stacks")), about,
               format_count(d, count - live));
}

static void render_chart(const struct overview_data *data, const struct exploration *exploration,
                         const struct area *area, int y, int height)
{
    const int slot_count = (int)data->request.slot_count;
    uint64_t scale = 1;
    for (int i = 0; i < slot_count; i++)
        if (data->slots[i].peak_bytes > scale)
            scale = data->slots[i].peak_bytes;
    char text[FORMAT_SIZE];
    area_text(area, 1, y, theme_style(THEME_HEADING), "Live bytes over time");
    area_print(area, 23, y, theme_style(THEME_FAINT), "up to %s%s", exploration->about,
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
    const uint64_t start = session_start_ns(exploration->session);
    if (start == 0)
        area_text(area, 2, y + 1 + height, theme_style(THEME_FAINT), "0 s");
    else
        area_text(area, 2, y + 1 + height, theme_style(THEME_FAINT), format_duration(text, start));
    format_duration(text, session_duration_ns(exploration->session));
    area_text(area, 2 + chart.width - text_width(text), y + 1 + height, theme_style(THEME_FAINT),
              text);
    const uint64_t peak = exploration->peak_ns;
    const uint64_t end = session_duration_ns(exploration->session);
    if (!exploration->peak_known || end <= start || peak < start)
        return;
    int at = (int)((double)(peak - start) / (double)(end - start) * chart.width);
    if (at > 4 && at < chart.width - 14)
        area_text(area, 2 + at, y + 1 + height, theme_style(THEME_FAINT), "▲ peak");
}

static void render_top(const struct overview *overview, const struct exploration *exploration,
                       const struct area *area, const struct layout *layout)
{
    const struct session *session = exploration->session;
    area_text(area, 1, layout->top, theme_style(THEME_HEADING),
              overview->data->top_at_peak ? "Who held most at the program's peak"
                                          : "Who allocated most");
    if (*exploration->about)
        area_text(area, 38, layout->top, theme_style(THEME_FAINT), "~ estimates");
    int first = first_top_row(overview, layout->top_rows);
    int name_column = area->width >= 100 ? 40 : 26;
    int bar = name_column - 18;
    for (int i = 0; i < layout->top_rows && first + i < (int)overview->data->top_count; i++) {
        const struct session_function_row *row = &overview->data->top[first + i];
        uint64_t bytes = shown_bytes(overview->data, row);
        char size[FORMAT_SIZE], percent[FORMAT_SIZE];
        int y = layout->top + 1 + i;
        bool selected = overview->selected == (int)overview->data->finding_count + first + i;
        area_field_right(area, 1, y, 7, theme_style(THEME_PLAIN), format_size_short(size, bytes));
        area_field_right(area, 9, y, 5, theme_style(THEME_FAINT),
                         format_percent(percent, bytes, overview->data->top_bytes));
        bars_row(area, 15, y, bar, bytes, shown_bytes(overview->data, &overview->data->top[0]),
                 theme_category(area->grid, 0, SESSION_COLORS - 1, -1));
        const char *place = session_function_place(session, row->function);
        if (!*place)
            place = session_function_module(session, row->function);
        int place_width = area->width >= 60 ? (area->width - name_column) / 3 : 0;
        area_name(area, name_column, y, area->width - name_column - place_width - 2,
                  theme_style(selected ? THEME_CURSOR : THEME_PLAIN),
                  session_function_name(session, row->function));
        area_field(area, area->width - place_width - 1, y, place_width, theme_style(THEME_FAINT),
                   place);
    }
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct overview *overview = view;
    struct layout layout = lay_out(overview, area->height);
    render_totals(exploration, area, layout.totals);
    if (!overview->data) {
        char text[PENDING_SIZE];
        area_text(area, 1, layout.findings, theme_style(THEME_FAINT),
                  exploration_pending(text, exploration));
        return;
    }
    render_findings(overview->data, overview->selected, area, layout.findings);
    render_chart(overview->data, exploration, area, layout.chart, layout.chart_height);
    if (layout.top_rows > 0)
        render_top(overview, exploration, area, &layout);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "show what the selected line counts"},
};

const struct view_ops overview_view = {
    .name = "overview",
    .title = "Overview",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
};
