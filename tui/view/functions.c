/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of functions with their allocations; below, callers and callees of the selected one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/code/short_name.h"
#include "session/stacks.h"
#include "session/user_code.h"
#include "tui/screen/format.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/common/offers.h"
#include "tui/view/view.h"

enum pane { PANE_LIST, PANE_CALLERS, PANE_CALLEES, PANES };

struct functions {
    struct list lists[PANES];
    struct load edges_load, at_peak_load;
    const struct edges_data *edges;     /* of the selected function, or NULL */
    const struct at_peak_data *at_peak; /* comes after the rows; NULL: not there yet */
    const struct session *session;
    enum pane pane; /* which of the lists has the keys */
    bool hide;      /* shows only functions of the user's own code, if there are any */
    struct {
        size_t count;
        uint64_t bytes; /* below none of the user's functions */
    } hidden;           /* the other functions */
    bool tells;         /* says how many there are as soon as they are known */
};

/* Self belongs to the call site in `row`, and in `through` to the user's function that called it:
 * so while functions of libraries are left out. */
struct function_row {
    struct session_function_row row, through;
};

struct rows_data {
    struct list_data list;
    uint64_t total_bytes; /* of the selection, for percentages */
    bool *own;            /* by function: the user's own code */
    bool any_own;         /* one of the rows is */
};

struct at_peak_data {
    struct {
        uint64_t selections, moment_ns, through;
    } request;
    uint64_t *bytes;    /* by function */
    uint64_t *resident; /* by function; NULL: not known */
    size_t count;
};

struct edges_data {
    struct {
        uint64_t selections, function, through;
    } request;
    struct session_edge *edges[PANES]; /* of the callers and the callees */
    size_t count[PANES];
    /* Tests of the language for its stacks and for those of self, if its name does not tell them;
     * NULL if it does. */
    char *on_stack, *self;
};

#define AT(member) offsetof(struct function_row, row.member)
enum {
    COLUMN_TOTAL,
    COLUMN_SELF,
    COLUMN_COUNT,
    COLUMN_PEAK,
    COLUMN_TOTAL_PEAK,
    COLUMN_LIVE,
    COLUMN_SHORT,
    COLUMN_LIVE_COUNT = 8,
    COLUMN_NAME,
    COLUMN_PLACE,
    COLUMN_RESIDENT, /* the last one: it is not always there */
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_TOTAL] = {"total", 11, .keep = true, .file = "total_bytes", .number = TABLE_BYTES,
                      .meaning = "with the functions that it calls", .at = AT(total_bytes)},
    [COLUMN_SELF] = {"self", 11, .keep = true, .file = "bytes", .number = TABLE_BYTES,
                     .meaning = "allocated by it, or for it by functions that are hidden",
                     .at = TABLE_ASKED},
    [COLUMN_COUNT] = {"count", 5, 56, .file = "allocations", .meaning = "of self",
                      .number = TABLE_COUNT, .at = TABLE_ASKED},
    [COLUMN_PEAK] = {"program peak", 12, 76, .file = "at_peak_bytes", .number = TABLE_BYTES,
                     .meaning = "of self: live at the program's peak", .at = TABLE_ASKED},
    [COLUMN_TOTAL_PEAK] = {"program peak total", 18, 170, .file = "total_at_peak_bytes",
                           .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_LIVE] = {"live", 5, 64, .file = "live_bytes", .meaning = "of self: at the end",
                     .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_SHORT] = {"<1 ms", 5, 120, .file = "short_count", .number = TABLE_COUNT,
                      .meaning = "of self: lived under 1 ms", .at = TABLE_ASKED},
    {"all count", 9, 150, .file = "total_allocations", .number = TABLE_COUNT,
     .at = AT(total_count)},
    [COLUMN_LIVE_COUNT] = {"live count", 10, 150, .file = "live_count", .number = TABLE_COUNT,
                           .meaning = "of self: at the end", .at = TABLE_ASKED},
    [COLUMN_NAME] = {"function", .text = true, .keep = true, .cut = TABLE_CUT_NAME,
                     .file = "function"},
    [COLUMN_PLACE] = {"where", 24, 130, .text = true, .file = "place"},
    [COLUMN_RESIDENT] = {"resident", 8, 90, .file = "resident",
                         .meaning =
                             "of self: bytes in memory of those live at the timeline's cursor",
                         .number = TABLE_BYTES, .at = TABLE_ASKED},
};

/* ---- rows ------------------------------------------------------------------------------- */

static uint32_t function_of(const void *row)
{
    return ((const struct function_row *)row)->row.function;
}

/* Rows of one number are listed by name. */
static int compare_names(const void *left, const void *right, void *session)
{
    const uint32_t a = function_of(left), b = function_of(right);
    const int order = strcmp(session_function_name(session, a), session_function_name(session, b));
    return order != 0 ? order : a < b ? -1 : a > b;
}

static bool run_rows(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct rows_data *data = context;
    struct session_function_row *found = NULL, *through = NULL;
    size_t functions;
    data->total_bytes = selection_bytes(selection);
    const bool good = selection_functions(selection, &found, &data->list.count, error) &&
                      selection_user_functions(selection, &through, error) &&
                      session_own_functions(session, &data->own, &functions, error);
    struct function_row *rows = good ? calloc(data->list.count + 1, sizeof(*rows)) : NULL;
    if (good && !rows)
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
    for (size_t i = 0; rows && i < data->list.count; i++) {
        rows[i] = (struct function_row){found[i], through[found[i].function]};
        data->any_own |= data->own[found[i].function];
    }
    FREE_ALL(found, through);
    if (rows && data->list.count > 1)
        qsort_r(rows, data->list.count, sizeof(*rows), compare_names, session);
    data->list.rows = rows;
    return rows;
}

static void clear_rows(void *context)
{
    struct rows_data *data = context;
    FREE_ALL(data->own, data->list.rows);
}

static uint64_t key(const void *view, const void *row)
{
    return function_of(row);
}

static bool is_own(const struct functions *functions, uint32_t function)
{
    return ((const struct rows_data *)functions->lists[PANE_LIST].data)->own[function];
}

/* Returns true if the functions of libraries are left out. */
static bool goes_through(const struct functions *functions)
{
    const struct rows_data *data = functions->lists[PANE_LIST].data;
    return functions->hide && data && data->any_own;
}

static bool hides(const void *view, const void *row)
{
    return goes_through(view) && !is_own(view, function_of(row));
}

static const struct session_function_row *self_of(const struct functions *functions,
                                                  const struct function_row *row)
{
    return goes_through(functions) ? &row->through : &row->row;
}

/* Returns a number of self or of a second question; for the order of short lives, their share. */
static uint64_t number(const void *view, const void *row, size_t column)
{
    const struct at_peak_data *at_peak = ((const struct functions *)view)->at_peak;
    const struct session_function_row *self = self_of(view, row);
    const uint32_t function = function_of(row);
    switch (column) {
    case COLUMN_SELF:
        return self->self_bytes;
    case COLUMN_COUNT:
        return self->self_count;
    case COLUMN_PEAK:
        return self->at_peak_bytes;
    case COLUMN_LIVE:
        return self->live_bytes;
    case COLUMN_LIVE_COUNT:
        return self->live_count;
    case COLUMN_RESIDENT:
        return at_peak && at_peak->resident && function < at_peak->count
                   ? at_peak->resident[function]
                   : 0;
    case COLUMN_TOTAL_PEAK:
        return at_peak && at_peak->bytes && function < at_peak->count
                   ? at_peak->bytes[function]
                   : ((const struct function_row *)row)->row.total_at_peak_bytes;
    default:
        return self->self_count
                   ? (uint64_t)((double)self->short_lived / (double)self->self_count * 1e15)
                   : 0;
    }
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct functions *functions = view;
    const struct rows_data *data = functions->lists[PANE_LIST].data;
    const struct session_function_row *self = self_of(functions, row);
    char number[FORMAT_SIZE], percent[FORMAT_SIZE];
    if (column == COLUMN_NAME) {
        list_function_cell(functions->session, function_of(row), cell);
    } else if (column == COLUMN_PLACE) {
        cell->name = list_function_place(functions->session, function_of(row));
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
    } else if (column == COLUMN_SHORT) {
        cell->number = self->short_lived;
        format_percent(cell->text, self->short_lived, self->self_count);
    } else if (column <= COLUMN_SELF) {
        snprintf(cell->text, sizeof(cell->text), "%s%6s", format_size_short(number, cell->number),
                 cell->number ? format_percent(percent, cell->number, data->total_bytes) : "");
    }
}

static const struct list_kind rows_list = {LIST_OF(struct function_row),
                                           .last_optional = true,
                                           .sort = COLUMN_TOTAL,
                                           .load = LIST_LOAD(rows_data, run_rows, clear_rows),
                                           .key = key,
                                           .cell = cell,
                                           .number = number,
                                           .hides = hides};

/* ---- callers and callees ---------------------------------------------------------------- */

enum { EDGE_NAME = 2, EDGE_PLACE, EDGE_COLUMNS };

/* The engine has sorted them by bytes. */
static const struct table_column edge_columns[EDGE_COLUMNS] = {
    {"", 5, .unsorted = true, .keep = true},
    {"", 5, .unsorted = true, .keep = true},
    [EDGE_NAME] = {"", .text = true, .unsorted = true, .keep = true, .cut = TABLE_CUT_NAME},
    [EDGE_PLACE] = {"", 24, 70, .text = true, .unsorted = true},
};

static const struct function_row *selected(const struct functions *functions)
{
    return list_selected(&functions->lists[PANE_LIST]);
}

static void edge_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct functions *functions = view;
    const struct session_edge *edge = row;
    cell->styled = column % 2 == 1;
    cell->style = theme_style(THEME_FAINT);
    if (column == 0)
        format_size_short(cell->text, edge->bytes);
    else if (column == 1)
        format_percent(cell->text, edge->bytes, selected(functions)->row.total_bytes);
    else if (column == EDGE_NAME)
        list_function_cell(functions->session, edge->function, cell);
    else
        cell->name = list_function_place(functions->session, edge->function);
}

static uint64_t edge_key(const void *view, const void *row)
{
    return ((const struct session_edge *)row)->function;
}

static bool ask_edges(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct functions *functions = view;
    request->of[1] = functions->edges ? functions->edges->request.function : 0;
    return functions->edges != NULL;
}

static bool make_edges(const struct functions *functions, struct list_data *data, enum pane pane)
{
    const struct edges_data *edges = functions->edges;
    data->count = edges->count[pane];
    data->rows = calloc(data->count + 1, sizeof(struct session_edge));
    if (data->rows && data->count > 0)
        memcpy(data->rows, edges->edges[pane], data->count * sizeof(struct session_edge));
    return data->rows;
}

static bool make_callers(const void *view, struct list_data *data)
{
    return make_edges(view, data, PANE_CALLERS);
}

static bool make_callees(const void *view, struct list_data *data)
{
    return make_edges(view, data, PANE_CALLEES);
}

#define EDGES(function)                                                                            \
    {                                                                                              \
        .columns = edge_columns, .column_count = EDGE_COLUMNS,                                     \
        .row_size = sizeof(struct session_edge), .ask = ask_edges, .make = (function),             \
        .key = edge_key, .cell = edge_cell                                                         \
    }
static const struct list_kind callers_list = EDGES(make_callers),
                              callees_list = EDGES(make_callees);

static void *create(void)
{
    struct functions *functions = calloc(1, sizeof(*functions));
    if (functions) {
        functions->hide = true;
        list_init(&functions->lists[PANE_LIST], &rows_list, functions);
        list_init(&functions->lists[PANE_CALLERS], &callers_list, functions);
        list_init(&functions->lists[PANE_CALLEES], &callees_list, functions);
    }
    return functions;
}

static void destroy(void *view, struct browse *browse)
{
    struct functions *functions = view;
    for (int pane = 0; pane < PANES; pane++)
        list_clear(&functions->lists[pane], browse);
    LOADS_CLEAR(&browse->loader, &functions->edges_load, &functions->at_peak_load);
    free(functions);
}

/* ---- loading ---------------------------------------------------------------------------- */

/* Says how many functions are shown, after the user has chosen which. */
static void tell_count(struct functions *functions, struct browse *browse)
{
    const struct list *list = &functions->lists[PANE_LIST];
    const struct rows_data *data = list->data;
    functions->tells = false;
    if (!functions->hide || data->any_own) {
        browse_say(browse, "%zu of %zu functions%s", list->count, data->list.count,
                   functions->hide ? ", those of your own code" : "");
        return;
    }
    functions->hide = false;
    browse_complain(browse, "none of these functions is in code of yours");
}

/* Counts the functions of libraries if the list leaves them out. */
static void sum_hidden(struct functions *functions)
{
    const struct list *list = &functions->lists[PANE_LIST];
    const struct rows_data *data = list->data;
    memset(&functions->hidden, 0, sizeof(functions->hidden));
    if (!goes_through(functions))
        return;
    functions->hidden.count = data->list.count - list->count;
    functions->hidden.bytes = data->total_bytes;
    for (size_t i = 0; i < list->count; i++)
        functions->hidden.bytes -=
            ((const struct function_row *)list_row(list, i))->through.self_bytes;
}

static void load_rows(struct functions *functions, struct browse *browse)
{
    functions->session = browse->session;
    list_load(&functions->lists[PANE_LIST], browse);
    sum_hidden(functions);
    if (functions->tells && functions->lists[PANE_LIST].data)
        tell_count(functions, browse);
}

static bool run_at_peak(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    struct at_peak_data *at_peak = data;
    return selection_functions_at_peak(selection, &at_peak->bytes, &at_peak->count, error) &&
           selection_functions_resident(selection, at_peak->request.moment_ns,
                                        at_peak->request.through, &at_peak->resident,
                                        &at_peak->count, error);
}

static void clear_at_peak(void *data)
{
    FREE_ALL(((struct at_peak_data *)data)->bytes, ((struct at_peak_data *)data)->resident);
}

static void load_at_peak(struct functions *functions, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(at_peak_data, run_at_peak, clear_at_peak);
    const struct at_peak_data wanted = {
        .request = {browse->selections, browse->moment_ns, goes_through(functions)}};
    struct list *list = &functions->lists[PANE_LIST];
    const struct at_peak_data *before = functions->at_peak;
    functions->at_peak = browse_get(browse, &functions->at_peak_load, &kind, &wanted.request);
    if (functions->at_peak)
        list_hide_last(list, !functions->at_peak->resident);
    if (functions->at_peak != before &&
        (list->table.sort == COLUMN_TOTAL_PEAK || list->table.sort == COLUMN_RESIDENT))
        list_sort(list);
}

/* Takes the stacks of a function that others have the name of. */
static bool take_stacks(struct session *session, struct edges_data *edges,
                        struct session_error *error)
{
    const uint32_t function = (uint32_t)edges->request.function;
    if (session_function_is_alone(session, function))
        return true;
    return session_function_stacks(session, function, SESSION_ANYWHERE, &edges->on_stack, error) &&
           session_function_stacks(session, function,
                                   edges->request.through ? SESSION_AT_USER : SESSION_AT_CALL_SITE,
                                   &edges->self, error);
}

static bool run_edges(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct edges_data *edges = data;
    return selection_edges(selection, (uint32_t)edges->request.function,
                           &edges->edges[PANE_CALLERS], &edges->count[PANE_CALLERS],
                           &edges->edges[PANE_CALLEES], &edges->count[PANE_CALLEES], error) &&
           take_stacks(session, edges, error);
}

static void clear_edges(void *data)
{
    struct edges_data *edges = data;
    FREE_ALL(edges->edges[PANE_CALLERS], edges->edges[PANE_CALLEES], edges->on_stack, edges->self);
}

static void load_edges(struct functions *functions, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(edges_data, run_edges, clear_edges);
    const struct function_row *row = selected(functions);
    functions->edges = NULL;
    if (row) {
        const struct edges_data wanted = {
            .request = {browse->selections, function_of(row), goes_through(functions)}};
        functions->edges = browse_get(browse, &functions->edges_load, &kind, &wanted.request);
    }
    for (enum pane pane = PANE_CALLERS; pane < PANES; pane++) {
        struct list *list = &functions->lists[pane];
        const uint64_t before = list->ordered;
        list_load(list, browse);
        if (list->ordered != before)
            list->table = (struct table){.selected = 0};
    }
}

/* ---- what is selected ------------------------------------------------------------------- */

/* Finds the function of the selected row of the list that has the keys. */
static bool selected_function(const struct functions *functions, uint32_t *function)
{
    const struct list *list = &functions->lists[functions->pane];
    const void *row = list_selected(list);
    if (row)
        *function = (uint32_t)list->kind->key(functions, row);
    return row != NULL;
}

/* Offers a test that lists stacks, of a function that its name does not tell. */
static size_t offer_stacks(const struct browse *browse, uint32_t function, const char *what,
                           const char *test, struct view_offer *out)
{
    char name[80];
    if (!test)
        return 0;
    snprintf(out->label, sizeof(out->label), "%s %.70s (%.30s)", what,
             short_name_cut(name, sizeof(name), session_function_name(browse->session, function)),
             list_function_place(browse->session, function));
    return offer_step(out, "where %s", test);
}

/* Offers a test by name. It takes all functions of that name. */
static size_t offer_name(const struct browse *browse, uint32_t function, const char *what,
                         const char *test, struct view_offer *out)
{
    const char *name = session_function_name(browse->session, function);
    char *quoted = filter_quoted(name);
    const size_t count = quoted ? offer_step(out, "where %s %s", test, quoted) : 0;
    free(quoted);
    snprintf(out->label, sizeof(out->label), "%s %.110s", what, name);
    return count;
}

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    const struct functions *functions = view;
    const bool listed = functions->pane == PANE_LIST;
    uint32_t function;
    size_t count = 0;
    if (capacity < 4 || !selected_function(functions, &function))
        return 0;
    /* Its name alone would take more than the row counts. */
    if (listed && !functions->edges && !session_function_is_alone(browse->session, function))
        return 0;
    if (listed)
        count += offer_stacks(browse, function, "below",
                              functions->edges ? functions->edges->on_stack : NULL, &out[count]);
    if (listed)
        count += offer_stacks(browse, function, "self of",
                              functions->edges ? functions->edges->self : NULL, &out[count]);
    const bool each = count > 0;
    count += offer_name(browse, function, each ? "below every" : "below", "stack has", &out[count]);
    count += offer_name(browse, function, each ? "self of every" : "self of",
                        listed && goes_through(functions) ? "user ==" : "function ==", &out[count]);
    return count;
}

static bool copy(void *view, struct browse *browse, FILE *out)
{
    uint32_t function;
    if (!selected_function(view, &function))
        return false;
    fprintf(out, "%s  %s\n", session_function_name(browse->session, function),
            session_function_place(browse->session, function));
    return true;
}

static bool write_table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct table_source source = list_source(&((struct functions *)view)->lists[PANE_LIST]);
    if (source.rows > 0)
        table_write(&source, out, format);
    return source.rows > 0;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    return table_order(&((struct functions *)view)->lists[PANE_LIST].table, columns, COLUMNS, order,
                       set);
}

static const char *chosen(const void *view)
{
    return ((const struct functions *)view)->hide ? "" : "all";
}

static void choose(void *view, struct browse *browse, const char *text)
{
    ((struct functions *)view)->hide = strcmp(text, "all") != 0;
}

/* ---- update ----------------------------------------------------------------------------- */

struct layout {
    struct table_place panes[PANES]; /* height 0: there is no room */
    int head;                        /* rows above the list */
    int name; /* the row of the selected function's whole name; -1: no room */
};

static struct layout lay_out(int width, int height)
{
    const int edges = height >= 40 ? height / 3 : height >= 15 ? 5 : height >= 10 ? 3 : 0;
    const int below = edges > 0 ? edges + 1 : 0, name = height >= 15, half = width / 2;
    const int head = height >= 8;
    return (struct layout){.panes = {[PANE_LIST] = {0, head, width, height - head - below - name},
                                     [PANE_CALLERS] = {0, height - below, half, below},
                                     [PANE_CALLEES] = {half, height - below, width - half, below}},
                           .head = head,
                           .name = name ? height - below - 1 : -1};
}

/* A search is for names: not for files. */
static bool has_name(void *context, size_t place, const char *text)
{
    const struct list *list = context;
    const struct functions *functions = list->view;
    return strcasestr(session_function_name(functions->session, function_of(list_row(list, place))),
                      text);
}

static struct table_source source_of(const struct functions *functions, enum pane pane)
{
    struct table_source source = list_source(&functions->lists[pane]);
    if (pane == PANE_LIST)
        source.matches = has_name;
    else
        source.about = NULL;
    return source;
}

static void settle(struct functions *functions, enum pane pane, const struct layout *layout)
{
    const struct table_source source = source_of(functions, pane);
    table_settle(&functions->lists[pane].table, &source, &layout->panes[pane]);
}

/* Gives the keys to a list, unless it has no rows. */
static void focus(struct functions *functions, enum pane pane)
{
    if (pane == PANE_LIST || functions->lists[pane].count > 0)
        functions->pane = pane;
}

/* Shows all functions, or those of the user's own code alone. */
static void hide_libraries(struct functions *functions, struct browse *browse, bool hide)
{
    functions->hide = hide;
    functions->tells = true;
    list_renew(&functions->lists[PANE_LIST]);
    load_rows(functions, browse);
}

/* Goes into the callers or callees, or to the function of the selected one. */
static void follow(struct functions *functions, struct browse *browse)
{
    struct list *list = &functions->lists[PANE_LIST];
    uint32_t function;
    if (functions->pane == PANE_LIST) {
        focus(functions, functions->lists[PANE_CALLERS].count > 0 ? PANE_CALLERS : PANE_CALLEES);
        return;
    }
    if (!selected_function(functions, &function))
        return;
    if (goes_through(functions) && !is_own(functions, function))
        hide_libraries(functions, browse, false);
    const struct table_source source = source_of(functions, PANE_LIST);
    for (size_t row = 0; row < source.rows; row++) {
        if (function_of(list_row(list, row)) != function)
            continue;
        functions->pane = PANE_LIST;
        table_select(&list->table, &source, row);
        return;
    }
    browse_complain(browse, "%.200s is not in the list",
                    session_function_name(browse->session, function));
}

/* Shows the functions of libraries if a search is for one of them alone. */
static void show_sought(struct functions *functions, struct browse *browse, const char *text)
{
    const struct list *list = &functions->lists[PANE_LIST];
    const struct list_data *data = list->data;
    if (!data || functions->hidden.count == 0)
        return;
    for (size_t row = 0; row < list->count; row++)
        if (has_name((void *)list, row, text))
            return;
    const struct function_row *rows = data->rows;
    for (size_t i = 0; i < data->count; i++) {
        if (strcasestr(session_function_name(browse->session, function_of(&rows[i])), text)) {
            hide_libraries(functions, browse, false);
            return;
        }
    }
}

/* Returns the table of an action: under the mouse; searches and orders are for functions. */
static enum pane pane_of(struct functions *functions, const struct view_input *input,
                         const struct layout *layout)
{
    switch (input->action) {
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        focus(functions, input->y < layout->panes[PANE_CALLERS].y   ? PANE_LIST
                         : input->x < layout->panes[PANE_CALLEES].x ? PANE_CALLERS
                                                                    : PANE_CALLEES);
        return functions->pane;
    case ACTION_SEARCH:
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        functions->pane = PANE_LIST;
        return PANE_LIST;
    case ACTION_SORT:
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
    case ACTION_SORT_REVERSE:
        return PANE_LIST;
    default:
        return functions->pane;
    }
}

static bool act(struct functions *functions, struct browse *browse, const struct view_input *input,
                const struct layout *layout)
{
    const enum pane before = functions->pane;
    const bool back = input->action == ACTION_PREVIOUS_PANE;
    uint32_t function;
    switch (input->action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
        focus(functions, input->action == ACTION_LEFT ? PANE_CALLERS : PANE_CALLEES);
        return true;
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        for (unsigned step = 1; step < PANES && functions->pane == before; step++)
            focus(functions, (before + (back ? PANES - step : step)) % PANES);
        return true;
    case ACTION_FOLLOW:
        follow(functions, browse);
        return true;
    case ACTION_OPEN:
        if (selected_function(functions, &function))
            browse_open_function(browse, function);
        return true;
    case ACTION_LIBRARIES:
        functions->pane = PANE_LIST;
        hide_libraries(functions, browse, !functions->hide);
        return true;
    case ACTION_BACK:
        functions->pane = PANE_LIST;
        return before != PANE_LIST;
    default:
        break;
    }
    const enum pane pane = pane_of(functions, input, layout);
    if (input->action == ACTION_SEARCH && input->text)
        show_sought(functions, browse, input->text);
    struct list *list = &functions->lists[pane];
    const struct table_source source = source_of(functions, pane);
    const enum table_answer answer =
        list_update_table(browse, &list->table, &source, input, &layout->panes[pane]);
    if (answer == TABLE_SORTED)
        list_sort(list);
    if (answer == TABLE_FOLLOW)
        follow(functions, browse);
    return answer != TABLE_IGNORED;
}

/* Selects the function that another view has shown, or tells other views which one is selected. */
static void share_function(struct functions *functions, struct browse *browse,
                           const struct view_input *input, uint64_t before)
{
    struct table *list = &functions->lists[PANE_LIST].table;
    if (input->action == ACTION_REFRESH && browse->has_function) {
        list->key = browse->function;
        list->has_key = true;
    } else if (list->has_key && list->key != before) {
        browse->function = (uint32_t)list->key;
        browse->has_function = true;
    }
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct functions *functions = view;
    const struct layout layout = lay_out(input->width, input->height);
    bool used = input->action == ACTION_REFRESH;
    load_rows(functions, browse);
    const struct table *list = &functions->lists[PANE_LIST].table;
    settle(functions, PANE_LIST, &layout);
    const uint64_t before = list->key;
    const bool moves = input->action == ACTION_UP || input->action == ACTION_DOWN ||
                       input->action == ACTION_PAGE_UP || input->action == ACTION_PAGE_DOWN;
    /* All actions but moves in the list may use the edges, not loaded in a burst of keys. */
    if (!used && !(moves && functions->pane == PANE_LIST))
        load_edges(functions, browse);
    if (!used)
        used = act(functions, browse, input, &layout);
    share_function(functions, browse, input, before);
    settle(functions, PANE_LIST, &layout);
    if (!input->more) {
        load_edges(functions, browse);
        load_at_peak(functions, browse);
        settle(functions, PANE_LIST, &layout);
    }
    if (functions->pane != PANE_LIST && functions->lists[functions->pane].count == 0)
        functions->pane = PANE_LIST;
    settle(functions, PANE_CALLERS, &layout);
    settle(functions, PANE_CALLEES, &layout);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

/* Draws the whole name of the selected function, and where it is. */
static void render_name(const struct functions *functions, const struct browse *browse,
                        const struct area *area, int y)
{
    const uint32_t function = function_of(selected(functions));
    const char *name = session_function_name(browse->session, function);
    const char *place = list_function_place(browse->session, function);
    const int room = area->width - 3 - text_width(place);
    const int width = text_width(name) < room ? text_width(name) : room;
    area_field(area, 1, y, width, theme_style(THEME_STRONG), name);
    area_text(area, width + 3, y, theme_style(THEME_FAINT), place);
}

/* Says how many functions there are, and what those that the list leaves out allocate. */
static void render_head(const struct functions *functions, const struct browse *browse,
                        const struct area *area)
{
    const struct list *list = &functions->lists[PANE_LIST];
    const struct rows_data *data = list->data;
    char count[FORMAT_SIZE], bytes[FORMAT_SIZE], percent[FORMAT_SIZE];
    if (!data)
        return;
    int x = 1;
    x += area_print(area, x, 0, theme_style(THEME_STRONG), "%s function%s%s",
                    format_count(count, list->count), format_plural(list->count),
                    functions->hidden.count > 0 ? " of yours" : "");
    if (functions->hidden.count == 0)
        return;
    x += area_print(area, x, 0, theme_style(THEME_FAINT), " \u00b7 %s of libraries hidden",
                    format_count(count, functions->hidden.count));
    if (functions->hidden.bytes > 0)
        x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), ", no own code %s%s (%s)",
                             browse->about, format_size(bytes, functions->hidden.bytes),
                             format_percent(percent, functions->hidden.bytes, data->total_bytes));
    area_whole_text(area, x, 0, theme_style(THEME_FAINT), " \u00b7 S shows them");
}

/* Returns the words in place of the rows of a table that has none. */
static const char *empty(const struct functions *functions, enum pane pane)
{
    if (!functions->edges)
        return pane == PANE_CALLERS ? "counting …" : "";
    if (pane == PANE_CALLERS)
        return "none: stacks begin here";
    return selected(functions)->row.self_count > 0
               ? "none: it allocates by itself"
               : "none: it only hands the call to the allocator";
}

static void render_list(const struct functions *functions, const struct browse *browse,
                        enum pane pane, const struct area *area)
{
    const struct list *list = &functions->lists[pane];
    const struct list_data *data = functions->lists[PANE_LIST].data;
    struct table_column shown[COLUMNS];
    struct table_source source = source_of(functions, pane);
    struct table table = list->table;
    char title[64], number[FORMAT_SIZE];
    memcpy(shown, list->kind->columns, list->kind->column_count * sizeof(*shown));
    source.columns = shown;
    table.blurred = pane != functions->pane;
    if (pane == PANE_LIST && data && list->count < data->count) {
        shown[COLUMN_NAME].title = "function of yours";
    } else if (pane != PANE_LIST) {
        snprintf(title, sizeof(title), source.rows > 0 ? "%s (%s)" : "%s",
                 pane == PANE_CALLERS ? "callers" : "callees", format_count(number, source.rows));
        shown[EDGE_NAME].title = title;
        if (table.blurred) /* they have a cursor only while they have the keys */
            table.selected = source.rows;
    }
    table_render(&table, &source, area);
    if (pane == PANE_LIST && source.rows == 0)
        list_render_empty(browse, area, 2, list->data != NULL);
    else if (source.rows == 0)
        area_text(area, 2, 1, theme_style(THEME_FAINT), empty(functions, pane));
}

static void render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct functions *functions = view;
    const struct layout layout = lay_out(area->width, area->height);
    if (layout.head > 0)
        render_head(functions, browse, area);
    for (enum pane pane = PANE_LIST; pane < PANES; pane++) {
        const struct area part = table_area(area, &layout.panes[pane]);
        if (part.height > 0 && (pane == PANE_LIST || selected(functions)))
            render_list(functions, browse, pane, &part);
    }
    if (layout.name >= 0 && selected(functions))
        render_name(functions, browse, area, layout.name);
}

static const struct key_binding keys[] = {
    {ACTION_LEFT, "to the callers", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "to the callees", .keys = {KEYCODE_RIGHT}},
    {ACTION_FOLLOW, "into the callers and callees, then to the selected one",
     .keys = {KEYCODE_ENTER}, .footer = "follow"},
    {ACTION_LIBRARIES, "show the functions of libraries, or hide them", .keys = {'S'},
     .footer = "libraries"},
    {ACTION_OPEN, "the source of the function", .keys = {'o'}},
};

const struct view_ops functions_view = {
    .name = "functions",
    .title = "Functions",
    .help = "Total counts what a function allocates with those that it calls. While functions of "
            "libraries are hidden, self has what yours allocate through libraries, as in the "
            "overview; S "
            "shows them, and self is what each allocates itself.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .chosen = chosen,
    .choose = choose,
    .table = write_table,
};
