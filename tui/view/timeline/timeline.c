/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline view: live bytes over time, with a window, a cursor and a range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"
#include "tui/view/common/offers.h"
#include "tui/view/timeline/timeline.h"
#include "tui/view/view.h"

enum pane { BY_TYPE, BY_USER, PANES };

struct range_row {
    uint64_t id; /* the key */
    enum session_growth_by by;
    struct session_growth grown;
};

#define AT(member) offsetof(struct range_row, grown.member.bytes)
enum { COLUMN_NAME, COLUMN_NET, COLUMNS = 5 };
static const struct table_column range_columns[COLUMNS] = {
    [COLUMN_NAME] = {"type", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
    [COLUMN_NET] = {"net", 8, .keep = true, .meaning = "allocated less freed, in bytes",
                    .file = "net_bytes", .number = TABLE_GROWTH, .at = TABLE_ASKED},
    {"allocated", 9, 48, .meaning = "bytes, in the range", .file = "bytes", .number = TABLE_BYTES,
     .at = AT(allocated)},
    {"freed", 7, 48, .meaning = "bytes, in the range", .file = "freed_bytes", .number = TABLE_BYTES,
     .at = AT(freed)},
    {"at end", 7, 34, .meaning = "live at the end of the range", .file = "to_bytes",
     .number = TABLE_BYTES, .at = AT(after)},
};

/* ---- rows ------------------------------------------------------------------------------- */

struct range_data {
    struct list_data list; /* of[1], of[2]: the range */
    struct session_growth total;
};

static bool ask_range(const void *view, const struct browse *browse, struct list_request *request)
{
    request->of[1] = browse->range_from_ns;
    request->of[2] = browse->range_to_ns;
    return browse->has_range;
}

static bool run_range(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct range_data *data = context;
    const struct list_request *request = &data->list.request;
    const enum session_growth_by by =
        request->kind->columns == range_columns ? SESSION_GROWTH_TYPE : SESSION_GROWTH_USER;
    struct session_growth *all;
    size_t count;
    if (!selection_growth(selection, request->of[1], request->of[2], by, &all, &count, &data->total,
                          error))
        return false;
    struct range_row *rows = data->list.rows = calloc(count + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < count; i++)
        if (all[i].allocated.count > 0 || all[i].freed.count > 0)
            rows[data->list.count++] = (struct range_row){all[i].id, by, all[i]};
    free(all);
    if (!rows)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    return rows;
}

static uint64_t net_of(const void *view, const void *row, size_t column)
{
    return (uint64_t)session_growth_net(&((const struct range_row *)row)->grown);
}

static const char *name_of(const struct timeline *timeline, const struct range_row *row)
{
    return growth_name(timeline->session, row->by, row->grown.id);
}

static void range_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const int64_t net = (int64_t)net_of(view, row, column);
    cell->styled = column == COLUMN_NET;
    if (column == COLUMN_NAME)
        cell->name = name_of(view, row);
    if (column != COLUMN_NET)
        return;
    growth_text(cell->text, net);
    cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
}

static const struct list_kind types_list = {.columns = range_columns,
                                            .column_count = COLUMNS,
                                            .row_size = sizeof(struct range_row),
                                            .sort = COLUMN_NET,
                                            .load =
                                                LIST_LOAD(range_data, run_range, list_free_rows),
                                            .ask = ask_range,
                                            .cell = range_cell,
                                            .number = net_of};

/* The same of functions. */
static const struct list_kind *make_users_list(void)
{
    static struct table_column user_columns[COLUMNS];
    static struct list_kind users_list;
    memcpy(user_columns, range_columns, sizeof(range_columns));
    user_columns[COLUMN_NAME] = (struct table_column){
        "function of yours", .text = true, .keep = true, .cut = TABLE_CUT_NAME, .file = "user"};
    users_list = types_list;
    users_list.columns = user_columns;
    return &users_list;
}

void timeline_load_range(struct timeline *timeline, struct browse *browse)
{
    timeline->session = browse->session;
    for (int pane = 0; pane < PANES; pane++)
        list_load(&timeline->ranges[pane], browse);
}

static void set_range(struct timeline *timeline, struct browse *browse, uint64_t a, uint64_t b)
{
    browse->marking = false;
    browse->has_range = a != b;
    browse->range_from_ns = a < b ? a : b;
    browse->range_to_ns = a < b ? b : a;
    for (int pane = 0; pane < PANES; pane++)
        timeline->ranges[pane].table = (struct table){.sort = COLUMN_NET, .descending = true};
    if (!browse->has_range)
        browse_say(browse, "a range needs two moments");
}

static void range_of_text(struct timeline *timeline, struct browse *browse, const char *text)
{
    char from[200], to[200];
    uint64_t a, b;
    struct session_error error = {.message = ""};
    if (!split_times(text, from, to, sizeof(from)))
        browse_complain(browse, "write two times, such as 2s 5s, or start..peak");
    else if (!session_moment(browse->session, from, &a, &error) ||
             !session_moment(browse->session, to, &b, &error))
        browse_complain(browse, "%s", error.message);
    else
        set_range(timeline, browse, a, b);
}

/* Marks a range by two actions or by text ("2s 5s"), and shows what grew in it. */
static void timeline_range(struct timeline *timeline, struct browse *browse, const char *text)
{
    if (text && text[strspn(text, " ")] != 0) {
        range_of_text(timeline, browse, text);
    } else if (browse->marking) {
        set_range(timeline, browse, timeline->range_ns, browse->moment_ns);
    } else {
        browse->marking = true;
        timeline->range_ns = browse->moment_ns;
        browse_say(browse, "range begun: move the cursor, then v again");
    }
}

static struct table_place place_of(enum pane pane, int shown, int width, int height)
{
    if (width < 70)
        return (struct table_place){0, 1, (int)pane == shown ? width : 0, height - 1};
    const int half = width / 2;
    return (struct table_place){pane == BY_TYPE ? 0 : half, 1,
                                pane == BY_TYPE ? half - 1 : width - half, height - 1};
}

/* ---- what it counts --------------------------------------------------------------------- */

enum happened { BORN, ALLOCATED, FREED }; /* born: and live at the end of the range */

/* Returns the step that selects what happened in the range, of one type or function if `which` is
 * not NULL: the caller frees it. NULL: memory is exhausted. */
static char *make_step(const struct browse *browse, enum happened happened, const char *field,
                       const char *which)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], *step = NULL, *name = NULL;
    format_filter_time(a, browse->range_from_ns + 1);
    format_filter_time(b, browse->range_to_ns);
    if (which && !(name = filter_quoted(which)))
        return NULL;
    const char *and = field[0] ? " and " : "", *is = which ? " == " : field[0] ? " is null" : "";
    const char *value = which ? name : "";
    int length;
    if (happened == BORN)
        length = asprintf(&step,
                          "where alloc_time in %s .. %s and (freed == false or free_time > %s)"
                          "%s%s%s%s",
                          a, b, b, and, field, is, value);
    else
        length =
            asprintf(&step, "where %s in %s .. %s%s%s%s%s",
                     happened == FREED ? "free_time" : "alloc_time", a, b, and, field, is, value);
    free(name);
    return length < 0 ? NULL : step;
}

/* Returns the selected row of the pane that has the keys, NULL if there is none. */
static const struct range_row *selected(const struct timeline *timeline)
{
    return list_selected(&timeline->ranges[timeline->pane]);
}

/* Returns the name of a row of that pane, NULL if it has none in filters. */
static const char *tested_name(const struct timeline *timeline, const struct range_row *row)
{
    return row->id != 0 ? name_of(timeline, row) : NULL;
}

static void offer(struct view_offer *offer, const char *label, const char *name)
{
    snprintf(offer->label, sizeof(offer->label), name ? "%s: %.90s" : "%s", label, name);
}

static size_t offer_row(const struct timeline *timeline, const struct browse *browse,
                        struct view_offer *out, size_t capacity)
{
    static const char *const labels[] = {"born in the range", "allocated in the range",
                                         "freed in the range"};
    const struct range_row *row = selected(timeline);
    size_t count = 0;
    const char *name = NULL;
    if (row) {
        name = name_of(timeline, row);
        for (size_t i = 0; i < 3 && count < capacity; i++) {
            offer(&out[count], labels[i], name);
            out[count].step =
                make_step(browse, (enum happened)i, timeline->pane == BY_TYPE ? "type" : "user",
                          tested_name(timeline, row));
            count += out[count].step != NULL;
        }
    }
    for (size_t i = 0; i < 3 && count < capacity; i++) {
        offer(&out[count], labels[i], row ? "all" : NULL);
        out[count].step = make_step(browse, (enum happened)i, "", NULL);
        count += out[count].step != NULL;
    }
    return count;
}

static size_t timeline_offers(void *view, struct browse *browse, struct view_offer *out,
                              size_t capacity)
{
    const struct timeline *timeline = view;
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    if (browse->has_range)
        return offer_row(timeline, browse, out, capacity);
    if (capacity < 3 || timeline->slot_count == 0)
        return 0;
    format_filter_time(a, timeline_edge(timeline, timeline->cursor));
    format_filter_time(b, timeline_edge(timeline, timeline->cursor + 1) - 1);
    offer(&out[0], "allocated in the slot under the cursor", NULL);
    size_t count = offer_step(&out[0], "where alloc_time in %s .. %s", a, b);
    offer(&out[count], "freed in the slot under the cursor", NULL);
    count += offer_step(&out[count], "where free_time in %s .. %s", a, b);
    format_filter_time(a, browse->moment_ns);
    offer(&out[count], "live at the moment of the cursor", NULL);
    return count + offer_step(&out[count],
                              "where alloc_time <= %s and (freed == false or free_time > %s)", a,
                              a);
}

static bool timeline_copy(void *view, struct browse *browse, FILE *out)
{
    const struct timeline *timeline = view;
    const struct list *list = &timeline->ranges[timeline->pane];
    if (browse->has_range && list_selected(list)) {
        const struct table_source source = list_source(list);
        table_copy(&source, list->table.selected, out);
        return true;
    }
    char a[FORMAT_SIZE];
    fprintf(out, "%s\n", format_filter_time(a, browse->moment_ns));
    return true;
}

static bool timeline_table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct timeline *timeline = view;
    const struct list *list = &timeline->ranges[timeline->pane];
    const struct table_source source = list_source(list);
    if (!browse->has_range)
        return timeline_write_slots(timeline, browse->session, out, format);
    if (list->data)
        table_write(&source, out, format);
    return list->data != NULL;
}

/* ---- keys and cells --------------------------------------------------------------------- */

/* Returns false if the action means nothing to the tables of the range. */
static bool act_on_range(struct timeline *timeline, struct browse *browse,
                         const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, true);
    const enum pane pane = (enum pane)timeline->pane;
    struct list *list = &timeline->ranges[pane];
    if (!browse->has_range || browse->marking)
        return false;
    if (input->action == ACTION_NEXT_PANE || input->action == ACTION_PREVIOUS_PANE) {
        timeline->pane = !timeline->pane;
        return true;
    }
    if (input->action == ACTION_BACK) {
        browse->has_range = false;
        return true;
    }
    if (input->action == ACTION_FOLLOW) {
        const struct range_row *row = selected(timeline);
        char *step = row ? make_step(browse, row->grown.born.count > 0 ? BORN : ALLOCATED,
                                     pane == BY_TYPE ? "type" : "user", tested_name(timeline, row))
                         : NULL;
        if (step)
            browse_list(browse, step);
        free(step);
        return true;
    }
    struct table_place place = place_of(pane, timeline->pane, input->width, layout.range_rows);
    place.y += layout.range_y;
    return list_update(list, browse, input, &place) != TABLE_IGNORED;
}

static void render_heading(const struct timeline *timeline, const struct browse *browse,
                           const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    const struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    const uint64_t from = browse->range_from_ns, to = browse->range_to_ns;
    const struct range_data *data = timeline->ranges[BY_TYPE].data;
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_HEADING), "range ");
    x += area_print(area, x, 0, theme_style(THEME_STRONG), "%s – %s",
                    format_moment(a, from, (to - from) / 100 + 1),
                    format_moment(b, to, (to - from) / 100 + 1));
    if (!data) {
        char text[PENDING_SIZE];
        area_print(area, x, 0, faint, "  %s", browse_pending(text, browse));
        return;
    }
    x += area_print(area, x, 0, plain, "  net %s%s", browse->about,
                    growth_text(a, session_growth_net(&data->total)));
    x += area_print(area, x, 0, faint, " = %s allocated − %s freed",
                    format_size_short(a, data->total.allocated.bytes),
                    format_size_short(b, data->total.freed.bytes));
    if (x + 24 < area->width)
        area_print(area, x, 0, faint, " · %s born", format_count(c, data->total.born.count));
}

void timeline_range_render(const struct timeline *timeline, const struct browse *browse,
                           const struct area *area)
{
    render_heading(timeline, browse, area);
    for (int pane = 0; pane < PANES; pane++) {
        const struct table_place place =
            place_of((enum pane)pane, timeline->pane, area->width, area->height);
        if (place.width == 0)
            continue;
        struct area part = area_part(area, place.x, place.y, place.width, place.height);
        const struct list *list = &timeline->ranges[pane];
        if (!list->data) {
            char text[PENDING_SIZE];
            area_text(&part, 1, 0, theme_style(THEME_FAINT), browse_pending(text, browse));
            continue;
        }
        const struct table_source source = list_source(list);
        struct table table = list->table;
        table.blurred = pane != timeline->pane;
        table_render(&table, &source, &part);
    }
}

const struct session_legend *timeline_no_legend(void)
{
    static struct session_legend none;
    return &none;
}

static void *create(void)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    if (timeline) {
        timeline->slots = timeline_no_slots();
        timeline->legend = timeline_no_legend();
        timeline->dragged_ns = UINT64_MAX;
        list_init(&timeline->ranges[BY_TYPE], &types_list, timeline);
        list_init(&timeline->ranges[BY_USER], make_users_list(), timeline);
    }
    return timeline;
}

static void destroy(void *view, struct browse *browse)
{
    struct timeline *timeline = view;
    timeline_loads_clear(timeline, browse);
    list_clear(&timeline->ranges[BY_TYPE], browse);
    list_clear(&timeline->ranges[BY_USER], browse);
    free(timeline);
}

struct timeline_layout timeline_lay_out(const struct timeline *timeline, int width, int height,
                                        bool range)
{
    struct timeline_layout layout = {.axis_width = 8, .legend_x = -1};
    /* Labels of several keys are longer. */
    const bool longer = strchr(timeline->stack.text, ',') != NULL ||
                        strcmp(timeline->stack.text, SESSION_STACKING_GROUPS) == 0;
    layout.legend_width = width >= (longer ? 110 : 160)  ? 48
                          : width >= (longer ? 74 : 110) ? 38
                          : width >= 64                  ? 26
                                                         : 0;
    layout.chart_width = width - layout.axis_width - layout.legend_width;
    if (layout.legend_width > 0)
        layout.legend_x = layout.axis_width + layout.chart_width;
    if (layout.chart_width > TIMELINE_SLOTS_MOST)
        layout.chart_width = TIMELINE_SLOTS_MOST;
    if (layout.chart_width < 1)
        layout.chart_width = 1;
    layout.range_rows = !range ? 0 : height >= 30 ? height * 2 / 5 : height >= 8 ? height / 2 : 0;
    layout.range_y = height - layout.range_rows;
    height -= layout.range_rows;
    layout.detail_rows = height >= 14 ? 3 : 1;
    layout.chart_height = height - 2 - layout.detail_rows;
    if (layout.chart_height < 1)
        layout.chart_height = 1;
    layout.details = layout.chart_height + 2;
    return layout;
}

uint64_t timeline_edge(const struct timeline *timeline, int slot)
{
    size_t i = 0;
    while (i + 1 < timeline->run_count && (uint64_t)slot >= timeline->runs[i + 1].first)
        i++;
    const struct timeline_run *run = &timeline->runs[i];
    const uint64_t span = run->to - run->from, count = run->count > 0 ? run->count : 1;
    const uint64_t at = (uint64_t)slot - run->first;
    return run->from + span / count * at + span % count * at / count;
}

uint64_t timeline_rate(const struct timeline *timeline, int slot, uint64_t count)
{
    const uint64_t length = timeline_edge(timeline, slot + 1) - timeline_edge(timeline, slot);
    const double rate = (double)count * 1e9 / (double)(length > 0 ? length : 1);
    return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

int timeline_slot_of(const struct timeline *timeline, uint64_t ns)
{
    int low = 0, high = timeline->slot_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (timeline_edge(timeline, middle) <= ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- window and cursor ------------------------------------------------------------------ */

static uint64_t session_end(const struct browse *browse)
{
    uint64_t duration = session_duration_ns(browse->session);
    return duration > 0 ? duration : 1;
}

/* Sets the window, moved and cut so that it lies within the session. */
static void set_window(struct timeline *timeline, uint64_t end, uint64_t from, uint64_t span)
{
    uint64_t least = (uint64_t)timeline->columns;
    if (span < least)
        span = least;
    if (span > end)
        span = end;
    if (from > end - span)
        from = end - span;
    timeline->from = from;
    timeline->to = from + span;
}

static void move_window(struct timeline *timeline, struct browse *browse, uint64_t from,
                        uint64_t span)
{
    set_window(timeline, session_end(browse), from, span);
    timeline->slot_count = timeline->columns;
    timeline_load_runs(timeline, browse);
}

/* Shows the whole time of the selected process, or of the session. */
static void show_all(struct timeline *timeline, struct browse *browse)
{
    const uint64_t start = session_start_ns(browse->session), end = session_end(browse);
    move_window(timeline, browse, start, end > start ? end - start : 0);
}

/* Moves the window so that it holds the shared moment, and the cursor to that moment. */
static void show_moment(struct timeline *timeline, struct browse *browse)
{
    uint64_t span = timeline->to - timeline->from, moment = browse->moment_ns;
    if (moment < timeline->from || moment >= timeline->to)
        move_window(timeline, browse, moment > span / 2 ? moment - span / 2 : 0, span);
    timeline->cursor = timeline_slot_of(timeline, moment);
}

static void set_cursor(struct timeline *timeline, struct browse *browse, int slot)
{
    const uint64_t span = timeline->to - timeline->from;
    uint64_t step = span / (uint64_t)timeline->slot_count;
    step = step ? step : 1;
    if (slot < 0) {
        const uint64_t back = step * (uint64_t)-slot;
        move_window(timeline, browse, timeline->from > back ? timeline->from - back : 0, span);
        slot = 0;
    } else if (slot >= timeline->slot_count) {
        move_window(timeline, browse,
                    timeline->from + step * (uint64_t)(slot - timeline->slot_count + 1), span);
        slot = timeline->slot_count - 1;
    }
    timeline->cursor = slot;
    browse->moment_ns = timeline_edge(timeline, slot + 1) - 1;
}

static void zoom(struct timeline *timeline, struct browse *browse, bool in)
{
    uint64_t span = timeline->to - timeline->from, moment = browse->moment_ns;
    uint64_t wider = in ? span / 2 : span > UINT64_MAX / 2 ? span : span * 2;
    /* The moment keeps its position on the screen. */
    uint64_t before = moment > timeline->from ? moment - timeline->from : 0;
    uint64_t offset = (uint64_t)((double)before / (double)span * (double)wider);
    move_window(timeline, browse, moment > offset ? moment - offset : 0, wider);
    show_moment(timeline, browse);
}

static void pan(struct timeline *timeline, struct browse *browse, bool later, int columns)
{
    uint64_t span = timeline->to - timeline->from;
    uint64_t move = span / (uint64_t)timeline->slot_count * (uint64_t)columns;
    uint64_t from = later                   ? timeline->from + move
                    : timeline->from > move ? timeline->from - move
                                            : 0;
    uint64_t before = timeline->from;
    move_window(timeline, browse, from, span);
    if (timeline->from == before)
        timeline->cursor = later ? timeline->slot_count - 1 : 0;
    browse->moment_ns = timeline_edge(timeline, timeline->cursor + 1) - 1;
}

static void fit(struct timeline *timeline, struct browse *browse, const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, browse->has_range);
    timeline->columns = layout.chart_width;
    const uint64_t start = session_start_ns(browse->session);
    /* A window that shows everything still does when the session grows or the process changes. */
    if (timeline->to == 0 || timeline->start != start ||
        (timeline->from == timeline->start && timeline->to == timeline->end))
        show_all(timeline, browse);
    else
        move_window(timeline, browse, timeline->from, timeline->to - timeline->from);
    timeline->start = start;
    timeline->end = session_end(browse);
    if (browse->moment_ns >= session_end(browse))
        browse->moment_ns = session_end(browse) - 1;
    show_moment(timeline, browse);
}

/* ---- keys ------------------------------------------------------------------------------- */

static void go_to(struct timeline *timeline, struct browse *browse, const char *text)
{
    uint64_t ns;
    if (!parse_time(text, &ns)) {
        browse_complain(browse, "\"%.40s\" is not a time; write 2.5s, 300ms or 12us", text);
        return;
    }
    uint64_t end = session_end(browse);
    browse->moment_ns = ns < end ? ns : end - 1;
    show_moment(timeline, browse);
}

static bool click(struct timeline *timeline, struct browse *browse, const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, browse->has_range);
    const int slot = input->x - layout.axis_width;
    if (input->action == ACTION_CLICK && layout.legend_x >= 0 && input->x > layout.legend_x &&
        input->y > 0 && input->y < layout.chart_height) {
        /* It is drawn, and its entries select blocks. */
        size_t layers[SESSION_COLORS];
        const size_t layer = (size_t)input->y - 1, count = timeline_layers(timeline, layers);
        if (!input->twice && timeline->slots_known && timeline->mode != TIMELINE_RSS &&
            layer < count)
            legend_follow(browse, timeline->legend, timeline_stack_name(timeline, browse),
                          layers[layer]);
        return true;
    }
    if (slot < 0 || slot >= timeline->slot_count || input->y >= layout.details)
        return false;
    set_cursor(timeline, browse, slot);
    if (input->action == ACTION_CLICK)
        timeline->dragged_ns = timeline_edge(timeline, slot);
    else
        zoom(timeline, browse, input->action == ACTION_WHEEL_UP);
    return true;
}

/* Marks the range from where the button went down to where the mouse is. */
static bool drag(struct timeline *timeline, struct browse *browse, const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, browse->has_range);
    int slot = input->x - layout.axis_width;
    if (timeline->dragged_ns == UINT64_MAX)
        return true;
    slot = slot < 0 ? 0 : slot >= timeline->slot_count ? timeline->slot_count - 1 : slot;
    if (input->action == ACTION_DRAG) {
        browse->marking = true;
        timeline->range_ns = timeline->dragged_ns;
        set_cursor(timeline, browse, slot);
    } else if (browse->marking) {
        timeline_range(timeline, browse, NULL);
    }
    return true;
}

/* The browser has asked by a menu, or the user by a command. */
static bool stack_by(struct timeline *timeline, struct browse *browse, const char *by)
{
    if (by)
        timeline_stack_by(timeline, browse, by);
    return by != NULL;
}

static bool act(struct timeline *timeline, struct browse *browse, const struct view_input *input)
{
    switch (input->action) {
    case ACTION_REFRESH:
        break;
    case ACTION_LEFT:
    case ACTION_STEP_BACK:
        set_cursor(timeline, browse, timeline->cursor - 1);
        break;
    case ACTION_RIGHT:
    case ACTION_STEP_FORWARD:
        set_cursor(timeline, browse, timeline->cursor + 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAN_LEFT:
        pan(timeline, browse, false, timeline->slot_count / 2);
        break;
    case ACTION_PAGE_DOWN:
    case ACTION_PAN_RIGHT:
        pan(timeline, browse, true, timeline->slot_count / 2);
        break;
    case ACTION_HOME:
        browse->moment_ns = 0;
        show_moment(timeline, browse);
        break;
    case ACTION_END:
        browse->moment_ns = session_end(browse) - 1;
        show_moment(timeline, browse);
        break;
    case ACTION_PEAK:
        if (browse_go_to_peak(browse))
            show_moment(timeline, browse);
        break;
    case ACTION_ZOOM_IN:
    case ACTION_ZOOM_OUT:
        zoom(timeline, browse, input->action == ACTION_ZOOM_IN);
        break;
    case ACTION_ZOOM_ALL:
        show_all(timeline, browse);
        show_moment(timeline, browse);
        break;
    case ACTION_RANGE:
        timeline_range(timeline, browse, input->text);
        break;
    case ACTION_DIRECTION:
        timeline->mode = (timeline->mode + 1) % TIMELINE_MODES;
        break;
    case ACTION_STACK_BY:
        return stack_by(timeline, browse, input->text);
    case ACTION_COMPRESS:
        timeline->compress = !timeline->compress;
        browse_say(browse, timeline->compress ? "idle gaps take one column each"
                                              : "all times have the same length");
        break;
    case ACTION_DIFF:
        browse_show(browse, VIEW_DIFF);
        break;
    case ACTION_FOLLOW:
    case ACTION_TO_MEMORY:
        browse_show(browse, VIEW_MEMORY);
        break;
    case ACTION_DRAG:
    case ACTION_DROP:
        return drag(timeline, browse, input);
    case ACTION_GOTO:
        go_to(timeline, browse, input->text);
        break;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        return click(timeline, browse, input);
    case ACTION_BACK:
        if (!browse->marking)
            return false;
        browse->marking = false;
        break;
    default:
        return false;
    }
    return true;
}

/* Returns true if an action moves the cursor even if a list has the keys. */
static bool is_of_chart(const struct timeline *timeline, const struct browse *browse,
                        const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, browse->has_range);
    switch (input->action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
        return true;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        return input->y < layout.range_y;
    default:
        return browse->marking;
    }
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct timeline *timeline = view;
    browse_load_legend(browse);
    timeline_check_stack(timeline, browse);
    fit(timeline, browse, input);
    if (input->action == ACTION_CLICK)
        timeline->dragged_ns = UINT64_MAX; /* click() knows better of the chart */
    bool used = !is_of_chart(timeline, browse, input) && input->action != ACTION_REFRESH &&
                act_on_range(timeline, browse, input);
    if (!used)
        used = act(timeline, browse, input);
    fit(timeline, browse, input);
    if (!input->more)
        timeline_load(timeline, browse);
    return used;
}

static const struct key_binding keys[] = {
    {ACTION_LEFT, "one slot earlier", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "one slot later", .keys = {KEYCODE_RIGHT}},
    {ACTION_UP, "range: up one row", .keys = {KEYCODE_UP, 'k'}},
    {ACTION_DOWN, "range: down one row", .keys = {KEYCODE_DOWN, 'j'}},
    {ACTION_SORT, "range: sort by the next column", .keys = {'s'}},
    {ACTION_SORT_LEFT, "range: sort by the column to the left", .keys = {'<'}},
    {ACTION_SORT_RIGHT, "range: sort by the column to the right", .keys = {'>'}},
    {ACTION_SORT_REVERSE, "range: sort the other way round", .keys = {'r'}},
    {ACTION_FOLLOW, "memory as it was at the cursor; range: what the selected row counts",
     .keys = {KEYCODE_ENTER}, .footer = "follow"},
    {ACTION_ZOOM_IN, "zoom in around the cursor", .keys = {'+', '='}, .footer_keys = "+ -",
     .footer = "zoom"},
    {ACTION_ZOOM_OUT, "zoom out", .keys = {'-'}},
    {ACTION_ZOOM_ALL, "zoom to show everything", .keys = {'0'}},
    {ACTION_RANGE, "mark a range of time: type 2s 5s, or move and press v again; shows what grew",
     .keys = {'v'}, .footer = "range"},
    {ACTION_DIFF, "what changed between two moments", .keys = {'d'}},
    {ACTION_DIRECTION,
     "live bytes, allocations a second, net growth of each slot, each stacked by colour; the "
     "resident set by its parts",
     .keys = {'b'}, .footer = "mode"},
    {ACTION_COMPRESS, "shorten idle gaps, and back", .keys = {'z'}},
    {ACTION_STEP_BACK, "one step back in time", .keys = {'['}, .footer_keys = "[ ]",
     .footer = "time"},
    {ACTION_STEP_FORWARD, "one step forward in time", .keys = {']'}},
    {ACTION_PEAK, "to the moment of the peak", .keys = {'p'}, .footer = "peak"},
    {ACTION_STACK_BY, "stack by another field, or by the groups of the filter, than the colours do",
     .keys = {'G'}, .footer = "stack"},
    {ACTION_GOTO, "go to a time, such as 2.5s or 300ms", .keys = {'g'}, .footer = "go to"},
    {ACTION_PAN_LEFT, "move the window to earlier times", .keys = {'H'}},
    {ACTION_PAN_RIGHT, "move the window to later times", .keys = {'L'}},
    {ACTION_PAGE_UP, "one page earlier", .keys = {KEYCODE_PAGE_UP}},
    {ACTION_PAGE_DOWN, "one page later", .keys = {KEYCODE_PAGE_DOWN}},
};

const struct view_ops timeline_view = {
    .name = "timeline",
    .title = "Timeline",
    .keys = KEY_TABLE(keys),
    .asks = "time:",
    .asks_range = "range, such as 2s 5s, or move:",
    .help = "Live bytes over time. v marks a range and shows which types and functions grew in it.",
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = timeline_render,
    .offers = timeline_offers,
    .copy = timeline_copy,
    .chosen = timeline_chosen,
    .choose = timeline_choose,
    .table = timeline_table,
};
