/* SPDX-License-Identifier: BSD-2-Clause */
/* The range of time that the user has marked, and what grew in it: by type and by own functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/moment.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/timeline/timeline.h"

enum pane { BY_TYPE, BY_USER, PANES };
enum column { COLUMN_NAME, COLUMN_NET, COLUMN_ALLOCATED, COLUMN_FREED, COLUMN_NOW };

static const struct table_column type_columns[] = {
    {.title = "type", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
    {.title = "net",
     .width = 8,
     .keep = true,
     .meaning = "allocated less freed, in bytes",
     .file = "net_bytes"},
    {.title = "allocated",
     .width = 9,
     .least_width = 48,
     .meaning = "bytes, in the range",
     .file = "bytes"},
    {.title = "freed",
     .width = 7,
     .least_width = 48,
     .meaning = "bytes, in the range",
     .file = "freed_bytes"},
    {.title = "now",
     .width = 7,
     .least_width = 34,
     .meaning = "live at the end of the range",
     .file = "to_bytes"},
};
static const struct table_column user_columns[] = {
    {.title = "function of yours",
     .text = true,
     .keep = true,
     .cut = TABLE_CUT_NAME,
     .file = "user"},
    {.title = "net",
     .width = 8,
     .keep = true,
     .meaning = "allocated less freed, in bytes",
     .file = "net_bytes"},
    {.title = "allocated",
     .width = 9,
     .least_width = 48,
     .meaning = "bytes, in the range",
     .file = "bytes"},
    {.title = "freed",
     .width = 7,
     .least_width = 48,
     .meaning = "bytes, in the range",
     .file = "freed_bytes"},
    {.title = "now",
     .width = 7,
     .least_width = 34,
     .meaning = "live at the end of the range",
     .file = "to_bytes"},
};
static const enum session_growth_by by_of_pane[PANES] = {SESSION_GROWTH_TYPE, SESSION_GROWTH_USER};

/* ---- marking ---------------------------------------------------------------------------- */

static void set_range(struct timeline *timeline, struct exploration *exploration, uint64_t a,
                      uint64_t b)
{
    exploration->marking = false;
    exploration->has_range = a != b;
    exploration->range_from_ns = a < b ? a : b;
    exploration->range_to_ns = a < b ? b : a;
    for (int pane = 0; pane < PANES; pane++)
        timeline->tables[pane] = (struct table){.sort = COLUMN_NET, .descending = true};
    if (!exploration->has_range)
        exploration_say(exploration, "a range needs two moments");
}

static void range_of_text(struct timeline *timeline, struct exploration *exploration,
                          const char *text)
{
    char from[200], to[200];
    uint64_t a, b;
    struct session_error error = {.message = ""};
    if (!split_times(text, from, to, sizeof(from)))
        exploration_complain(exploration, "write two times, such as 2s 5s, or start..peak");
    else if (!session_moment(exploration->session, from, &a, &error) ||
             !session_moment(exploration->session, to, &b, &error))
        exploration_complain(exploration, "%s", error.message);
    else
        set_range(timeline, exploration, a, b);
}

void timeline_range(struct timeline *timeline, struct exploration *exploration, const char *text)
{
    if (text && text[strspn(text, " ")] != 0) {
        range_of_text(timeline, exploration, text);
    } else if (exploration->marking) {
        set_range(timeline, exploration, timeline->range_ns, exploration->moment_ns);
    } else {
        exploration->marking = true;
        timeline->range_ns = exploration->moment_ns;
        exploration_say(exploration, "range begun: move the cursor, then v again");
    }
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The rows of one pane in which something happened, for a table. */
struct rows {
    const struct session *session;
    const struct growth_data *data;
    enum session_growth_by by;
    const uint32_t *order;
    size_t count;
};

static const struct session_growth *row_at(const struct rows *rows, size_t row)
{
    return &rows->data->rows[rows->order[row]];
}

static uint64_t value_of(const struct session_growth *row, size_t column)
{
    switch (column) {
    case COLUMN_ALLOCATED:
        return row->allocated.bytes;
    case COLUMN_FREED:
        return row->freed.bytes;
    default:
        return row->after.bytes;
    }
}

static void cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct rows *rows = context;
    const struct session_growth *grown = row_at(rows, row);
    if (column == COLUMN_NAME) {
        cell->name = growth_name(rows->session, rows->by, grown->id);
        return;
    }
    char text[FORMAT_SIZE];
    if (column == COLUMN_NET) {
        const int64_t net = session_growth_net(grown);
        snprintf(cell->text, sizeof(cell->text), "%s", growth_text(text, net));
        table_cell_signed(cell, net);
        cell->styled = true;
        cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
        return;
    }
    cell->number = value_of(grown, column);
    cell->is_number = true;
    snprintf(cell->text, sizeof(cell->text), "%s", format_size_short(text, cell->number));
}

static uint64_t key(void *context, size_t row)
{
    return row_at(context, row)->id;
}

static struct table_source source_of(const struct timeline *timeline, enum pane pane,
                                     struct rows *rows, const struct exploration *exploration)
{
    rows->session = exploration->session;
    rows->data = timeline->grown[pane];
    rows->by = by_of_pane[pane];
    rows->order = timeline->orders[pane];
    rows->count = timeline->order_counts[pane];
    return (struct table_source){.context = rows,
                                 .columns = pane == BY_TYPE ? type_columns : user_columns,
                                 .column_count = 5,
                                 .rows = rows->count,
                                 .about = *exploration->about ? exploration->about : NULL,
                                 .cell = cell,
                                 .key = key};
}

static struct table_place place_of(enum pane pane, int shown, int width, int height)
{
    if (width < 70) {
        return (struct table_place){0, 1, (int)pane == shown ? width : 0, height - 1};
    }
    const int half = width / 2;
    return (struct table_place){pane == BY_TYPE ? 0 : half, 1,
                                pane == BY_TYPE ? half - 1 : width - half, height - 1};
}

/* ---- order ------------------------------------------------------------------------------ */

struct sorting {
    const struct growth_data *data;
    const struct session *session;
    enum session_growth_by by;
    size_t column;
    bool descending;
};

static int compare(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const struct session_growth *a = &sorting->data->rows[*(const uint32_t *)left];
    const struct session_growth *b = &sorting->data->rows[*(const uint32_t *)right];
    int order;
    if (sorting->column == COLUMN_NAME) {
        order = strcmp(growth_name(sorting->session, sorting->by, a->id),
                       growth_name(sorting->session, sorting->by, b->id));
    } else if (sorting->column == COLUMN_NET) {
        const int64_t x = session_growth_net(a), y = session_growth_net(b);
        order = (x > y) - (x < y);
    } else {
        const uint64_t x = value_of(a, sorting->column), y = value_of(b, sorting->column);
        order = (x > y) - (x < y);
    }
    if (order == 0)
        return (a->id > b->id) - (a->id < b->id);
    return sorting->descending ? -order : order;
}

/* Puts the rows in which something happened in the order of the table. */
static void sort_pane(struct timeline *timeline, const struct exploration *exploration,
                      enum pane pane)
{
    const struct growth_data *data = timeline->grown[pane];
    struct sorting sorting = {data, exploration->session, by_of_pane[pane],
                              timeline->tables[pane].sort, timeline->tables[pane].descending};
    free(timeline->orders[pane]);
    timeline->order_counts[pane] = 0;
    timeline->orders[pane] = data ? malloc((data->count + 1) * sizeof(uint32_t)) : NULL;
    if (!timeline->orders[pane])
        return;
    for (size_t i = 0; i < data->count; i++)
        if (data->rows[i].allocated.count > 0 || data->rows[i].freed.count > 0)
            timeline->orders[pane][timeline->order_counts[pane]++] = (uint32_t)i;
    qsort_r(timeline->orders[pane], timeline->order_counts[pane], sizeof(uint32_t), compare,
            &sorting);
}

void timeline_load_range(struct timeline *timeline, struct exploration *exploration)
{
    struct load *const loads[PANES] = {&timeline->types_load, &timeline->users_load};
    for (int pane = 0; pane < PANES; pane++) {
        const struct growth_data *before = timeline->grown[pane];
        timeline->grown[pane] =
            !exploration->has_range
                ? NULL
                : growth_get(exploration, loads[pane], exploration->range_from_ns,
                             exploration->range_to_ns, by_of_pane[pane]);
        if (timeline->grown[pane] != before)
            sort_pane(timeline, exploration, (enum pane)pane);
    }
}

/* ---- what it counts --------------------------------------------------------------------- */

enum happened { BORN, ALLOCATED, FREED }; /* born: and live at the end of the range */

/* Returns the step that selects what happened in the range, of one type or function if `which` is
 * not NULL: the caller frees it. NULL: memory is exhausted. */
static char *make_step(const struct exploration *exploration, enum happened happened,
                       const char *field, const char *which)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], *step = NULL, *name = NULL;
    format_filter_time(a, exploration->range_from_ns + 1);
    format_filter_time(b, exploration->range_to_ns);
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
static const struct session_growth *selected(const struct timeline *timeline)
{
    const size_t row = timeline->tables[timeline->pane].selected;
    if (!timeline->grown[timeline->pane] || row >= timeline->order_counts[timeline->pane])
        return NULL;
    return &timeline->grown[timeline->pane]->rows[timeline->orders[timeline->pane][row]];
}

static void offer(struct view_offer *offer, const char *label, const char *name)
{
    snprintf(offer->label, sizeof(offer->label), name ? "%s: %.90s" : "%s", label, name);
}

static size_t offer_row(const struct timeline *timeline, const struct exploration *exploration,
                        struct view_offer *out, size_t capacity)
{
    static const char *const labels[] = {"born in the range", "allocated in the range",
                                         "freed in the range"};
    const struct session_growth *row = selected(timeline);
    size_t count = 0;
    const char *name = NULL;
    if (row) {
        name = growth_name(exploration->session, by_of_pane[timeline->pane], row->id);
        for (size_t i = 0; i < 3 && count < capacity; i++) {
            offer(&out[count], labels[i], name);
            out[count].long_step =
                make_step(exploration, (enum happened)i,
                          timeline->pane == BY_TYPE ? "type" : "user", row->id != 0 ? name : NULL);
            count += out[count].long_step != NULL;
        }
    }
    for (size_t i = 0; i < 3 && count < capacity; i++) {
        offer(&out[count], labels[i], row ? "all" : NULL);
        out[count].long_step = make_step(exploration, (enum happened)i, "", NULL);
        count += out[count].long_step != NULL;
    }
    return count;
}

size_t timeline_offers(void *view, struct exploration *exploration, struct view_offer *out,
                       size_t capacity)
{
    const struct timeline *timeline = view;
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    if (exploration->has_range)
        return offer_row(timeline, exploration, out, capacity);
    if (capacity < 3 || timeline->slot_count == 0)
        return 0;
    format_filter_time(a, timeline_edge(timeline, timeline->cursor));
    format_filter_time(b, timeline_edge(timeline, timeline->cursor + 1) - 1);
    offer(&out[0], "allocated in the slot under the cursor", NULL);
    snprintf(out[0].step, sizeof(out[0].step), "where alloc_time in %s .. %s", a, b);
    offer(&out[1], "freed in the slot under the cursor", NULL);
    snprintf(out[1].step, sizeof(out[1].step), "where free_time in %s .. %s", a, b);
    format_filter_time(a, exploration->moment_ns);
    offer(&out[2], "live at the moment of the cursor", NULL);
    snprintf(out[2].step, sizeof(out[2].step),
             "where alloc_time <= %s and (freed == false or free_time > %s)", a, a);
    return 3;
}

bool timeline_copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct timeline *timeline = view;
    struct rows rows;
    const struct session_growth *row = selected(timeline);
    if (exploration->has_range && row) {
        const struct table_source source =
            source_of(timeline, (enum pane)timeline->pane, &rows, exploration);
        table_copy(&source, timeline->tables[timeline->pane].selected, out);
        return true;
    }
    char a[FORMAT_SIZE];
    fprintf(out, "%s\n", format_filter_time(a, exploration->moment_ns));
    return true;
}

bool timeline_table(void *view, struct exploration *exploration, FILE *out,
                    enum table_format format)
{
    const struct timeline *timeline = view;
    struct rows rows;
    if (!exploration->has_range)
        return timeline_write_slots(timeline, exploration->session, out, format);
    if (!timeline->grown[timeline->pane])
        return false;
    const struct table_source source =
        source_of(timeline, (enum pane)timeline->pane, &rows, exploration);
    table_write(&source, out, format);
    return true;
}

/* ---- keys and cells --------------------------------------------------------------------- */

bool timeline_act_on_range(struct timeline *timeline, struct exploration *exploration,
                           const struct view_input *input)
{
    struct rows rows;
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, true);
    const enum pane pane = (enum pane)timeline->pane;
    if (!exploration->has_range || exploration->marking)
        return false;
    if (input->action == ACTION_NEXT_PANE || input->action == ACTION_PREVIOUS_PANE) {
        timeline->pane = !timeline->pane;
        return true;
    }
    if (input->action == ACTION_BACK) {
        exploration->has_range = false;
        return true;
    }
    struct table_place place = place_of(pane, timeline->pane, input->width, layout.range_rows);
    place.y += layout.range_y;
    const struct table_source source = source_of(timeline, pane, &rows, exploration);
    if (input->action == ACTION_FOLLOW) {
        const struct session_growth *row = selected(timeline);
        char *step = !row ? NULL
                          : make_step(exploration, row->born.count > 0 ? BORN : ALLOCATED,
                                      pane == BY_TYPE ? "type" : "user",
                                      row->id != 0 ? growth_name(exploration->session,
                                                                 by_of_pane[pane], row->id)
                                                   : NULL);
        if (step)
            exploration_list(exploration, step);
        free(step);
        return true;
    }
    const enum table_answer answer = table_update(&timeline->tables[pane], &source, input, &place);
    if (answer == TABLE_SORTED) {
        sort_pane(timeline, exploration, pane);
        const struct table_source sorted = source_of(timeline, pane, &rows, exploration);
        table_settle(&timeline->tables[pane], &sorted, &place);
    }
    return answer != TABLE_IGNORED;
}

static void render_heading(const struct timeline *timeline, const struct exploration *exploration,
                           const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    const struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    const uint64_t from = exploration->range_from_ns, to = exploration->range_to_ns;
    const struct growth_data *data = timeline->grown[BY_TYPE];
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_HEADING), "range ");
    x += area_print(area, x, 0, theme_style(THEME_STRONG), "%s – %s",
                    format_moment(a, from, (to - from) / 100 + 1),
                    format_moment(b, to, (to - from) / 100 + 1));
    if (!data) {
        char text[PENDING_SIZE];
        area_print(area, x, 0, faint, "  %s", exploration_pending(text, exploration));
        return;
    }
    x += area_print(area, x, 0, plain, "  net %s%s", exploration->about,
                    growth_text(a, session_growth_net(&data->total)));
    x += area_print(area, x, 0, faint, " = %s allocated − %s freed",
                    format_size_short(a, data->total.allocated.bytes),
                    format_size_short(b, data->total.freed.bytes));
    if (x + 24 < area->width)
        area_print(area, x, 0, faint, " · %s born", format_count(c, data->total.born.count));
}

void timeline_range_render(const struct timeline *timeline, const struct exploration *exploration,
                           const struct area *area)
{
    render_heading(timeline, exploration, area);
    for (int pane = 0; pane < PANES; pane++) {
        struct rows rows;
        const struct table_place place =
            place_of((enum pane)pane, timeline->pane, area->width, area->height);
        if (place.width == 0)
            continue;
        struct area part = area_part(area, place.x, place.y, place.width, place.height);
        if (!timeline->grown[pane]) {
            char text[PENDING_SIZE];
            area_text(&part, 1, 0, theme_style(THEME_FAINT),
                      exploration_pending(text, exploration));
            continue;
        }
        const struct table_source source = source_of(timeline, (enum pane)pane, &rows, exploration);
        struct table table = timeline->tables[pane];
        table.blurred = pane != timeline->pane;
        table_render(&table, &source, &part);
    }
}
