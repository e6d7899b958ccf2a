/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/table_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/table.h"
#include "tui/screen/theme.h"

static void show_in_pane(struct table_view *view, const struct list_kind *kind)
{
    if (view->side.kind == kind)
        return;
    view->side.table = (struct table){.blurred = !view->in_side};
    list_init(&view->side, kind, view);
}

void *table_view_new(const struct table_view_kind *kind)
{
    struct table_view *view = calloc(1, kind->size);
    if (!view)
        return NULL;
    view->kind = kind;
    list_init(&view->list, kind->list, view);
    if (kind->side)
        show_in_pane(view, kind->side);
    return view;
}

void table_view_destroy(void *state, struct browse *browse)
{
    struct table_view *view = state;
    if (view->kind->close)
        view->kind->close(view, browse);
    list_clear(&view->list, browse);
    list_clear(&view->side, browse);
    free(view);
}

/* ---- places ----------------------------------------------------------------------------- */

enum { BESIDE_WIDTH = 140, BELOW_HEIGHT = 14, TALL = 30, MAIN_LEAST = 5 };

struct places {
    struct table_place main;
    struct table_place pane; /* with a line for its title; height 0: there is no room for it */
    struct table_place side; /* the list in the pane */
    bool beside;
};

static struct places lay_out(const struct table_view *view, int width, int height)
{
    const int lines = view->kind->lines;
    struct places places = {.main = {0, lines, width, height - lines > 2 ? height - lines : 2}};
    if (!view->side.kind) {
        places.main.height -= view->kind->foot_lines;
        return places;
    }
    if (width >= BESIDE_WIDTH && height >= BELOW_HEIGHT) {
        places.beside = true;
        places.pane =
            (struct table_place){width - width * 2 / 5, lines, width * 2 / 5, places.main.height};
        places.main.width = places.pane.x - 2;
    } else if (height >= BELOW_HEIGHT) {
        /* If the list has few rows, the pane below it gets what it does not need. */
        const size_t rows = view->list.count;
        const int needed = rows < MAIN_LEAST ? MAIN_LEAST : rows < 1000 ? (int)rows + 1 : 1000;
        int below = height >= TALL ? height * 2 / 5 : height / 3 + 1;
        if (places.main.height - below > needed)
            below = places.main.height - needed;
        places.main.height -= below;
        places.pane = (struct table_place){0, lines + places.main.height, width, below};
    }
    const int above = 1 + view->kind->side_lines;
    places.side = places.pane;
    places.side.y += above;
    places.side.height = places.pane.height > above ? places.pane.height - above : 0;
    return places;
}

/* ---- update ----------------------------------------------------------------------------- */

static void focus(struct table_view *view, const struct places *places, bool side)
{
    view->in_side = side && view->side.count > 0 && places->side.height > 0;
    view->list.table.blurred = view->in_side;
    view->side.table.blurred = !view->in_side;
}

static void settle(struct list *list, const struct table_place *place)
{
    const struct table_source source = list_source(list);
    table_settle(&list->table, &source, place);
}

static void load_side(struct table_view *view, struct browse *browse, const struct places *places)
{
    struct list *side = &view->side;
    const void *row = list_selected(&view->list);
    if (row && view->kind->choose)
        show_in_pane(view, view->kind->choose(view, row));
    side->count = 0;
    side->data = NULL;
    side->asked = false;
    if (row)
        list_load(side, browse);
    if (side->data && view->begun != side->about) {
        view->begun = side->about;
        side->table.selected = side->table.first = 0;
        side->table.has_key = false;
        if (view->kind->begin)
            view->kind->begin(view);
    }
    settle(side, &places->side);
}

static void load(struct table_view *view, struct browse *browse, const struct view_input *input,
                 bool with_side)
{
    view->session = browse->session;
    view->browse = browse;
    if (view->kind->prepare)
        view->kind->prepare(view, browse);
    list_load(&view->list, browse);
    if (view->kind->loaded)
        view->kind->loaded(view, browse);
    const struct places places = lay_out(view, input->width, input->height);
    settle(&view->list, &places.main);
    if (!with_side)
        return;
    if (view->side.kind)
        load_side(view, browse, &places);
    if (view->kind->side_loaded)
        view->kind->side_loaded(view, browse);
    focus(view, &places, view->in_side);
}

/* Lists the blocks of the selected row of the list that has the keys. */
static void follow(struct table_view *view, struct browse *browse)
{
    const bool side = view->in_side && view->side.kind->step;
    const struct list *list = side ? &view->side : &view->list;
    const void *row = list_selected(list);
    const char *why = SESSION_OUT_OF_MEMORY;
    char *step = row ? list->kind->step(view, row, &why) : NULL;
    if (step)
        browse_list(browse, step);
    else if (row)
        browse_complain(browse, "%s", why);
    free(step);
}

static bool act(struct table_view *view, struct browse *browse, const struct view_input *input)
{
    const struct places places = lay_out(view, input->width, input->height);
    switch (input->action) {
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        focus(view, &places, !view->in_side);
        return view->side.kind != NULL;
    case ACTION_BACK:
        if (!view->in_side)
            return false;
        focus(view, &places, false);
        return true;
    case ACTION_FOLLOW:
        follow(view, browse);
        return true;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        if (places.pane.height > 0)
            focus(view, &places,
                  places.beside ? input->x >= places.pane.x : input->y >= places.pane.y);
        break;
    default:
        break;
    }
    const enum table_answer answer = view->in_side
                                         ? list_update(&view->side, browse, input, &places.side)
                                         : list_update(&view->list, browse, input, &places.main);
    if (answer == TABLE_FOLLOW) {
        struct view_input enter = *input;
        enter.action = ACTION_FOLLOW;
        if (!view->kind->act || !view->kind->act(view, browse, &enter))
            follow(view, browse);
    }
    return answer != TABLE_IGNORED;
}

bool table_view_update(void *state, struct browse *browse, const struct view_input *input)
{
    struct table_view *view = state;
    /* Moves in the list need no pane; other actions may, and a burst of keys has not loaded it. */
    const bool moves =
        !view->in_side && (input->action == ACTION_UP || input->action == ACTION_DOWN ||
                           input->action == ACTION_PAGE_UP || input->action == ACTION_PAGE_DOWN);
    load(view, browse, input, !moves && input->action != ACTION_REFRESH);
    bool used = input->action == ACTION_REFRESH;
    if (view->kind->act && view->kind->act(view, browse, input))
        used = true;
    else if (!used)
        used = act(view, browse, input);
    load(view, browse, input, !input->more);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_list(const struct list *list, const struct area *area,
                        const struct table_place *place)
{
    const struct table_source source = list_source(list);
    const struct area part = table_area(area, place);
    table_render(&list->table, &source, &part);
}

/* Draws the line that parts the pane, and its title. */
static void render_title(const struct table_view *view, const struct places *places,
                         const struct area *area, const char *title)
{
    const struct table_place *pane = &places->pane;
    const struct cell_style faint = theme_style(THEME_FAINT);
    if (places->beside)
        for (int y = 0; y < pane->height; y++)
            area_put(area, pane->x - 1, pane->y + y, 0x2502, faint);
    else
        area_fill(area, pane->x, pane->y, pane->width, 1, 0x2500, faint);
    const int width = text_width(title) < pane->width - 2 ? text_width(title) : pane->width - 2;
    area_field(area, pane->x + 1, pane->y, width,
               theme_style(view->in_side ? THEME_STRONG : THEME_HEADING), title);
}

static void render_pane(const struct table_view *view, const void *row, const struct browse *browse,
                        const struct places *places, const struct area *area)
{
    const struct table_place lines = {places->pane.x, places->pane.y + 1, places->pane.width,
                                      view->kind->side_lines};
    char title[256];
    view->kind->title(view, row, title, sizeof(title));
    render_title(view, places, area, title);
    if (view->kind->side_head) {
        const struct area head = table_area(area, &lines);
        view->kind->side_head(view, row, browse, &head);
    }
    const struct area rest = table_area(area, &places->side);
    if (view->side.count > 0)
        render_list(&view->side, area, &places->side);
    else if (view->side.asked && !view->side.data && !view->side.failed)
        list_render_empty(browse, &rest, 0, false);
    else if (view->side.kind->none && !view->side.failed)
        area_text(&rest, 2, 0, theme_style(THEME_FAINT), view->side.kind->none);
}

void table_view_render(const void *state, const struct browse *browse, const struct area *area)
{
    const struct table_view *view = state;
    const struct places places = lay_out(view, area->width, area->height);
    const void *row = list_selected(&view->list);
    const char *instead = view->kind->instead ? view->kind->instead(view) : NULL;
    if (instead) {
        int y = view->kind->lines;
        for (const char *line = instead; line; line = strchr(line, '\n'), y++) {
            line += *line == '\n';
            char text[256];
            snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
            area_text(area, 2, y, theme_style(THEME_FAINT), text);
        }
        return;
    }
    if (view->kind->head)
        view->kind->head(view, browse, area);
    if (!row) {
        const char *none = view->list.data && view->kind->none ? view->kind->none(view) : NULL;
        if (none)
            area_text(area, 2, view->kind->lines + 1, theme_style(THEME_FAINT), none);
        else if (view->list.asked && !view->list.failed)
            list_render_empty(browse, area, view->kind->lines + 1, view->list.data != NULL);
        return;
    }
    render_list(&view->list, area, &places.main);
    if (places.pane.height > 0)
        render_pane(view, row, browse, &places, area);
    if (view->kind->foot) {
        const int below = view->kind->foot_lines;
        const struct area foot = area_part(area, 0, area->height - below, area->width, below);
        view->kind->foot(view, row, browse, &foot);
    }
}

/* ---- what the selected row is ----------------------------------------------------------- */

static size_t offer_row(const struct table_view *view, const struct list *list,
                        struct view_offer *out, size_t capacity)
{
    const void *row = list_selected(list);
    const char *why;
    if (!row || capacity == 0 || !list->kind->step || !list->kind->label)
        return 0;
    out->step = list->kind->step(view, row, &why);
    list->kind->label(view, row, out->label, sizeof(out->label));
    return out->step != NULL;
}

size_t table_view_offers(void *state, struct browse *browse, struct view_offer *out,
                         size_t capacity)
{
    const struct table_view *view = state;
    if (!list_selected(&view->list))
        return 0;
    size_t count = view->in_side ? offer_row(view, &view->side, out, capacity) : 0;
    count += offer_row(view, &view->list, out + count, capacity - count);
    if (view->kind->offers)
        count += view->kind->offers(state, browse, out + count, capacity - count);
    return count;
}

bool table_view_copy(void *state, struct browse *browse, FILE *out)
{
    const struct table_view *view = state;
    const struct table_source source = list_source(&view->list);
    if (!list_selected(&view->list))
        return false;
    table_copy(&source, view->list.table.selected, out);
    if (view->kind->copy)
        view->kind->copy(view, out);
    return true;
}

bool table_view_write(void *state, struct browse *browse, FILE *out, enum table_format format)
{
    const struct table_view *view = state;
    const struct table_source source = list_source(&view->list);
    if (view->list.data)
        table_write(&source, out, format);
    return view->list.data != NULL;
}

bool table_view_order(void *state, struct table_order *order, bool set)
{
    struct table_view *view = state;
    return table_order(&view->list.table, view->kind->list->columns,
                       view->kind->list->column_count - view->list.without_last, order, set);
}

/* ---- breakdowns ------------------------------------------------------------------------- */

#define AT(member) offsetof(struct breakdown_row, member)
enum { COLUMN_NAME = 4, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    {"bytes", 6, .keep = true, .meaning = "allocated in all", .number = TABLE_BYTES,
     .at = AT(bytes)},
    {"count", 6, 40, .meaning = "allocations", .number = TABLE_COUNT, .at = AT(allocations)},
    {"live", 6, 50, .meaning = "at the end", .number = TABLE_BYTES, .at = AT(live_bytes)},
    {"program peak", 12, 64, .meaning = "live at the program's peak", .number = TABLE_BYTES,
     .at = AT(at_peak_bytes)},
    [COLUMN_NAME] = {"name", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
};

struct breakdown_data {
    struct list_data list;
    size_t made; /* all groups */
};

static const char *field_of(const struct list_kind *kind)
{
    return kind == &breakdown_by_type ? "type" : kind == &breakdown_by_user ? "user" : "owner";
}

/* Returns the name of a row, and words if it has none. */
static const char *name_of(const struct table_view *view, const struct breakdown_row *row)
{
    return row->name                               ? row->name
           : view->side.kind == &breakdown_by_user ? "no own code"
                                                   : SESSION_UNKNOWN_TYPE;
}

static bool ask(const void *state, const struct browse *browse, struct list_request *request)
{
    const struct table_view *view = state;
    const void *row = list_selected(&view->list);
    const struct table_source source = list_source(&view->list);
    const char *why;
    char *step = view->kind->list->step(view, row, &why);
    request->of[1] = source.key(source.context, view->list.table.selected);
    const bool asks = step && snprintf(request->text, LIST_TEXT, "%s", step) < LIST_TEXT;
    free(step);
    return asks;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct breakdown_data *data = context;
    const struct selection_table_query query = {
        .steps = data->list.request.text,
        .keys = field_of(data->list.request.kind),
        .measures = 1u << MEASURE_ALLOCATIONS | 1u << MEASURE_BYTES | 1u << MEASURE_LIVE_BYTES |
                    1u << MEASURE_AT_PEAK_BYTES,
        .order = MEASURE_BYTES,
        .limit = BREAKDOWN_MOST};
    struct selection_table *table = selection_table(selection, &query, error);
    struct breakdown_row *rows = table ? calloc(table->count + 1, sizeof(*rows)) : NULL;
    for (size_t i = 0; rows && i < table->count; i++) {
        const struct session_group_key *key = &table->key[i];
        const uint64_t *values = selection_table_values(table, i);
        rows[i] = (struct breakdown_row){key->is_null ? NULL
                                         : key->text  ? key->text
                                                      : "?",
                                         values[0], values[1], values[2], values[3]};
    }
    data->list.rows = rows;
    data->list.count = rows ? table->count : 0;
    data->made = rows ? table->made : 0;
    selection_table_free(table);
    return rows;
}

static void write_name(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct breakdown_row *shown = row;
    if (column != COLUMN_NAME)
        return;
    cell->name = name_of(view, shown);
    cell->styled = !shown->name;
    cell->style = theme_style(THEME_FAINT);
}

static char *step(const void *state, const void *row, const char **why)
{
    const struct table_view *view = state;
    char *all = NULL;
    char *main = view->kind->list->step(view, list_selected(&view->list), why);
    char *own =
        list_name_step(field_of(view->side.kind), ((const struct breakdown_row *)row)->name);
    if (!main || !own || asprintf(&all, "%s and %s", main, own + strlen("where ")) < 0)
        all = NULL;
    free(main);
    free(own);
    return all;
}

static void label(const void *state, const void *row, char *out, size_t size)
{
    const struct table_view *view = state;
    char main[80];
    view->kind->list->label(view, list_selected(&view->list), main, sizeof(main));
    snprintf(out, size, "%.*s, %s: %.60s", (int)size - 80, main, field_of(view->side.kind),
             name_of(view, row));
}

#define BREAKDOWN                                                                                  \
    {                                                                                              \
        .columns = columns, .column_count = COLUMNS, .row_size = sizeof(struct breakdown_row),     \
        .load = LIST_LOAD(breakdown_data, run, list_free_rows), .ask = ask, .cell = write_name,    \
        .step = step, .label = label                                                               \
    }
const struct list_kind breakdown_by_type = BREAKDOWN, breakdown_by_user = BREAKDOWN,
                       breakdown_by_owner = BREAKDOWN;

size_t breakdown_count(const struct list *list)
{
    const struct breakdown_data *data = list->data;
    return data ? data->made : 0;
}
