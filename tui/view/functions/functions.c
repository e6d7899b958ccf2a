/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions view: functions with their allocations; below, callers and callees of the selected
 * one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/stacks.h"
#include "session/user_code.h"
#include "tui/keys/keys.h"
#include "tui/screen/short_name.h"
#include "tui/view/common/list.h"
#include "tui/view/functions/functions.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct functions *functions = calloc(1, sizeof(*functions));
    if (functions) {
        functions->tables[PANE_LIST].sort = COLUMN_TOTAL;
        functions->tables[PANE_LIST].descending = true;
    }
    return functions;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct functions *functions = view;
    load_clear(&exploration->loader, &functions->rows_load);
    load_clear(&exploration->loader, &functions->own_load);
    load_clear(&exploration->loader, &functions->edges_load);
    load_clear(&exploration->loader, &functions->at_peak_load);
    free(functions);
}

struct functions_layout functions_lay_out(int width, int height)
{
    const int edges = height >= 40 ? height / 3 : height >= 15 ? 5 : height >= 10 ? 3 : 0;
    const int below = edges > 0 ? edges + 1 : 0, name = height >= 15, half = width / 2;
    return (struct functions_layout){
        .panes = {[PANE_LIST] = {0, 0, width, height - below - name},
                  [PANE_CALLERS] = {0, height - below, half, below},
                  [PANE_CALLEES] = {half, height - below, width - half, below}},
        .name = name ? height - below - 1 : -1};
}

const struct session_function_row *functions_selected(const struct functions *functions)
{
    const size_t row = functions->tables[PANE_LIST].selected;
    return row < functions->count ? &functions->rows[row] : NULL;
}

/* ---- loading ---------------------------------------------------------------------------- */

static void count_shown(struct functions *functions)
{
    const bool hides = functions->hide && functions->own_count > 0;
    functions->count = hides ? functions->own_count : functions->all;
}

static void sort(struct functions *functions, const struct exploration *exploration)
{
    const struct table *list = &functions->tables[PANE_LIST];
    function_rows_sort(exploration->session, functions->rows, functions->all, functions->own,
                       (enum function_column)list->sort, list->descending);
    functions->own_count = 0;
    for (size_t i = 0; functions->own && i < functions->all; i++)
        functions->own_count += functions->own[functions->rows[i].function];
    count_shown(functions);
}

struct rows_data {
    uint64_t selections; /* the request */
    struct session_function_row *rows;
    size_t count;
    uint64_t total_bytes;
};

static bool run_rows(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct rows_data *rows = data;
    (void)session;
    rows->total_bytes = selection_bytes(selection);
    return selection_functions(selection, &rows->rows, &rows->count, error);
}

static void clear_rows(void *data)
{
    free(((struct rows_data *)data)->rows);
}

struct own_data {
    uint64_t selections; /* the request */
    bool *own;           /* by function */
};

static bool run_own(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    size_t count;
    (void)selection;
    return session_own_functions(session, &((struct own_data *)data)->own, &count, error);
}

static void clear_own(void *data)
{
    free(((struct own_data *)data)->own);
}

/* Loads which functions are the user's own code, if others are hidden. Returns false if that has
 * not come yet. */
static bool load_own(struct functions *functions, struct exploration *exploration, const bool **own)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct own_data), run_own,
                                          clear_own};
    *own = NULL;
    if (!functions->hide)
        return true;
    const struct own_data *data =
        exploration_get(exploration, &functions->own_load, &kind, &exploration->selections);
    *own = data ? data->own : NULL;
    return data != NULL;
}

/* Says how many functions are shown, after the user has chosen which. */
static void tell_count(struct functions *functions, struct exploration *exploration)
{
    functions->tells = false;
    if (!functions->hide || functions->own_count > 0) {
        exploration_say(exploration, "%zu of %zu functions%s", functions->count, functions->all,
                        functions->hide ? ", those of your own code" : "");
        return;
    }
    functions->hide = false;
    if (functions->own) /* otherwise the load has said what failed */
        exploration_complain(exploration, "none of these functions is in code of yours");
}

static void load_rows(struct functions *functions, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct rows_data), run_rows,
                                          clear_rows};
    struct rows_data *data =
        exploration_get(exploration, &functions->rows_load, &kind, &exploration->selections);
    const bool *own;
    functions->known = load_own(functions, exploration, &own) && data;
    functions->rows = data ? data->rows : NULL;
    functions->all = data ? data->count : 0;
    functions->total_bytes = data ? data->total_bytes : 0;
    functions->count = 0;
    if (!functions->known) {
        functions->own = NULL;
        return;
    }
    const bool renewed = functions->selections != exploration->selections;
    if (renewed || functions->own != own) {
        if (renewed)
            functions->at_peak = NULL;
        functions->selections = exploration->selections;
        functions->own = own;
        sort(functions, exploration);
    }
    count_shown(functions);
    if (functions->tells)
        tell_count(functions, exploration);
}

struct at_peak_data {
    uint64_t selections; /* the request */
    uint64_t *bytes;     /* by function */
    size_t count;
};

static bool run_at_peak(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    struct at_peak_data *at_peak = data;
    (void)session;
    return selection_functions_at_peak(selection, &at_peak->bytes, &at_peak->count, error);
}

static void clear_at_peak(void *data)
{
    free(((struct at_peak_data *)data)->bytes);
}

/* Fills in the bytes at the peak, which come after the rows. */
static void load_at_peak(struct functions *functions, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct at_peak_data),
                                          run_at_peak, clear_at_peak};
    const struct at_peak_data *data =
        exploration_get(exploration, &functions->at_peak_load, &kind, &exploration->selections);
    if (!data || data == functions->at_peak || !functions->known)
        return;
    functions->at_peak = data;
    for (size_t i = 0; data->bytes && i < functions->all; i++)
        if (functions->rows[i].function < data->count)
            functions->rows[i].total_at_peak_bytes = data->bytes[functions->rows[i].function];
    if (functions->tables[PANE_LIST].sort == COLUMN_TOTAL_PEAK)
        sort(functions, exploration);
}

struct edges_data {
    struct {
        uint64_t selections, function;
    } request;
    struct session_edge *callers, *callees;
    size_t caller_count, callee_count;
    /* Tests of the language for its stacks and for those that it is the call site of, if its name
     * does not tell them; NULL if it does. */
    char *on_stack, *call_site;
};

/* Takes the stacks of a function that others have the name of. */
static bool take_stacks(struct session *session, struct edges_data *edges,
                        struct session_error *error)
{
    const uint32_t function = (uint32_t)edges->request.function;
    if (session_function_is_alone(session, function))
        return true;
    return session_function_stacks(session, function, SESSION_ANYWHERE, &edges->on_stack, error) &&
           session_function_stacks(session, function, SESSION_AT_CALL_SITE, &edges->call_site,
                                   error);
}

static bool run_edges(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct edges_data *edges = data;
    return selection_edges(selection, (uint32_t)edges->request.function, &edges->callers,
                           &edges->caller_count, &edges->callees, &edges->callee_count, error) &&
           take_stacks(session, edges, error);
}

static void clear_edges(void *data)
{
    struct edges_data *edges = data;
    free(edges->callers);
    free(edges->callees);
    free(edges->on_stack);
    free(edges->call_site);
}

static void load_edges(struct functions *functions, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct edges_data *)0)->request),
                                          sizeof(struct edges_data), run_edges, clear_edges};
    const struct edges_data *edges = NULL;
    const struct session_function_row *row = functions_selected(functions);
    if (row) {
        const struct edges_data wanted = {.request = {exploration->selections, row->function}};
        edges = exploration_get(exploration, &functions->edges_load, &kind, &wanted.request);
    }
    functions->edges_known = edges != NULL;
    functions->on_stack = edges ? edges->on_stack : NULL;
    functions->call_site = edges ? edges->call_site : NULL;
    functions->edges[PANE_CALLERS].edges = edges ? edges->callers : NULL;
    functions->edges[PANE_CALLERS].count = edges ? edges->caller_count : 0;
    functions->edges[PANE_CALLEES].edges = edges ? edges->callees : NULL;
    functions->edges[PANE_CALLEES].count = edges ? edges->callee_count : 0;
    if (edges && (functions->edges_function != edges->request.function ||
                  functions->edges_selections != edges->request.selections)) {
        functions->tables[PANE_CALLERS] = functions->tables[PANE_CALLEES] = (struct table){0};
        functions->edges_function = (uint32_t)edges->request.function;
        functions->edges_selections = edges->request.selections;
    }
}

/* ---- what is selected ------------------------------------------------------------------- */

/* Finds the function of the selected row of the table that has the keys. */
static bool selected_function(const struct functions *functions, uint32_t *function)
{
    const size_t row = functions->tables[functions->pane].selected;
    const struct session_function_row *selected = functions_selected(functions);
    if (functions->pane == PANE_LIST && selected)
        *function = selected->function;
    else if (functions->pane != PANE_LIST && row < functions->edges[functions->pane].count)
        *function = functions->edges[functions->pane].edges[row].function;
    else
        return false;
    return true;
}

/* Offers a test that lists stacks, of a function that its name does not tell. */
static bool offer_stacks(const struct exploration *exploration, uint32_t function, const char *what,
                         const char *test, struct view_offer *out)
{
    char name[80];
    const char *place = session_function_place(exploration->session, function);
    if (!test || asprintf(&out->long_step, "where %s", test) < 0) {
        out->long_step = NULL;
        return false;
    }
    snprintf(
        out->label, sizeof(out->label), "%s %.70s (%.30s)", what,
        short_name_cut(name, sizeof(name), session_function_name(exploration->session, function)),
        *place ? place : session_function_module(exploration->session, function));
    return true;
}

/* Offers a test by name. It takes all functions of that name. */
static bool offer_name(const struct exploration *exploration, uint32_t function, const char *what,
                       const char *test, struct view_offer *out)
{
    const char *name = session_function_name(exploration->session, function);
    char *quoted = filter_quoted(name);
    if (!quoted || asprintf(&out->long_step, "where %s %s", test, quoted) < 0)
        out->long_step = NULL;
    free(quoted);
    snprintf(out->label, sizeof(out->label), "%s %.110s", what, name);
    return out->long_step != NULL;
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct functions *functions = view;
    const bool listed = functions->pane == PANE_LIST;
    uint32_t function;
    size_t count = 0;
    if (capacity < 4 || !selected_function(functions, &function))
        return 0;
    /* Its name alone would take more than the row counts. */
    if (listed && !functions->edges_known &&
        !session_function_is_alone(exploration->session, function))
        return 0;
    if (listed)
        count += offer_stacks(exploration, function, "below", functions->on_stack, &out[count]);
    if (listed)
        count +=
            offer_stacks(exploration, function, "called in", functions->call_site, &out[count]);
    const bool each = count > 0;
    count +=
        offer_name(exploration, function, each ? "below every" : "below", "stack has", &out[count]);
    count += offer_name(exploration, function, each ? "called in every" : "called in",
                        "function ==", &out[count]);
    return count;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    uint32_t function;
    if (!selected_function(view, &function))
        return false;
    fprintf(out, "%s  %s\n", session_function_name(exploration->session, function),
            session_function_place(exploration->session, function));
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    struct functions_table context;
    const struct table_source source = functions_source(view, exploration, PANE_LIST, &context);
    if (source.rows > 0)
        table_write(&source, out, format);
    return source.rows > 0;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct functions *functions = view;
    return table_order(&functions->tables[PANE_LIST], function_columns, FUNCTION_COLUMNS, order,
                       set);
}

static const char *chosen(const void *view)
{
    return ((const struct functions *)view)->hide ? "own" : "";
}

static void choose(void *view, struct exploration *exploration, const char *text)
{
    (void)exploration;
    ((struct functions *)view)->hide = strcmp(text, "own") == 0;
}

/* ---- update ----------------------------------------------------------------------------- */

static void settle(struct functions *functions, const struct exploration *exploration,
                   enum functions_pane pane, const struct functions_layout *layout)
{
    struct functions_table context;
    const struct table_source source = functions_source(functions, exploration, pane, &context);
    table_settle(&functions->tables[pane], &source, &layout->panes[pane]);
}

/* Gives the keys to a table, unless it has no rows. */
static void focus(struct functions *functions, enum functions_pane pane)
{
    if (pane == PANE_LIST || functions->edges[pane].count > 0)
        functions->pane = pane;
}

/* Shows all functions, or those of the user's own code alone. */
static void hide_libraries(struct functions *functions, struct exploration *exploration, bool hide)
{
    functions->hide = hide;
    functions->tells = true;
    load_rows(functions, exploration);
}

/* Goes into the callers or callees, or to the function of the selected one. */
static void follow(struct functions *functions, struct exploration *exploration)
{
    struct table *list = &functions->tables[PANE_LIST];
    struct functions_table context;
    uint32_t function;
    if (functions->pane == PANE_LIST) {
        focus(functions, functions->edges[PANE_CALLERS].count > 0 ? PANE_CALLERS : PANE_CALLEES);
        return;
    }
    if (!selected_function(functions, &function))
        return;
    if (functions->own && !functions->own[function])
        hide_libraries(functions, exploration, false);
    const struct table_source source =
        functions_source(functions, exploration, PANE_LIST, &context);
    for (size_t row = 0; functions->rows && row < source.rows; row++) {
        if (functions->rows[row].function != function)
            continue;
        functions->pane = PANE_LIST;
        table_select(list, &source, row);
        return;
    }
    exploration_complain(exploration, "%.200s is not in the list",
                         session_function_name(exploration->session, function));
}

/* Returns the table that gets an action: the one under the mouse; searches and orders are for the
 * functions. */
static enum functions_pane pane_of(struct functions *functions, const struct view_input *input,
                                   const struct functions_layout *layout)
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

static bool act(struct functions *functions, struct exploration *exploration,
                const struct view_input *input, const struct functions_layout *layout)
{
    const enum functions_pane before = functions->pane;
    const bool back = input->action == ACTION_PREVIOUS_PANE;
    struct functions_table context;
    uint32_t function;
    switch (input->action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
        focus(functions, input->action == ACTION_LEFT ? PANE_CALLERS : PANE_CALLEES);
        return true;
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        for (unsigned step = 1; step < FUNCTION_PANES && functions->pane == before; step++)
            focus(functions, (before + (back ? FUNCTION_PANES - step : step)) % FUNCTION_PANES);
        return true;
    case ACTION_FOLLOW:
        follow(functions, exploration);
        return true;
    case ACTION_OPEN:
        if (selected_function(functions, &function))
            exploration_open_function(exploration, function);
        return true;
    case ACTION_LIBRARIES:
        functions->pane = PANE_LIST;
        hide_libraries(functions, exploration, !functions->hide);
        return true;
    case ACTION_BACK:
        functions->pane = PANE_LIST;
        return before != PANE_LIST;
    default:
        break;
    }
    const enum functions_pane pane = pane_of(functions, input, layout);
    const struct table_source source = functions_source(functions, exploration, pane, &context);
    const enum table_answer answer =
        list_update(exploration, &functions->tables[pane], &source, input, &layout->panes[pane]);
    if (answer == TABLE_SORTED)
        sort(functions, exploration);
    if (answer == TABLE_FOLLOW)
        follow(functions, exploration);
    return answer != TABLE_IGNORED;
}

/* Selects the function that another view has shown, or tells other views which one is selected. */
static void share_function(struct functions *functions, struct exploration *exploration,
                           const struct view_input *input, uint64_t before)
{
    struct table *list = &functions->tables[PANE_LIST];
    if (input->action == ACTION_REFRESH && exploration->has_function) {
        list->key = exploration->function;
        list->has_key = true;
    } else if (list->has_key && list->key != before) {
        exploration->function = (uint32_t)list->key;
        exploration->has_function = true;
    }
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct functions *functions = view;
    const struct functions_layout layout = functions_lay_out(input->width, input->height);
    bool used = input->action == ACTION_REFRESH;
    load_rows(functions, exploration);
    const struct table *list = &functions->tables[PANE_LIST];
    settle(functions, exploration, PANE_LIST, &layout);
    const uint64_t before = list->key;
    const bool moves = input->action == ACTION_UP || input->action == ACTION_DOWN ||
                       input->action == ACTION_PAGE_UP || input->action == ACTION_PAGE_DOWN;
    /* All actions except moves in the list may use the edges, which a burst of keys has not loaded
     * yet. */
    if (!used && !(moves && functions->pane == PANE_LIST))
        load_edges(functions, exploration);
    if (!used)
        used = act(functions, exploration, input, &layout);
    share_function(functions, exploration, input, before);
    settle(functions, exploration, PANE_LIST, &layout);
    if (!input->more) {
        load_edges(functions, exploration);
        load_at_peak(functions, exploration);
        settle(functions, exploration, PANE_LIST, &layout);
    }
    if (functions->pane != PANE_LIST && functions->edges[functions->pane].count == 0)
        functions->pane = PANE_LIST;
    settle(functions, exploration, PANE_CALLERS, &layout);
    settle(functions, exploration, PANE_CALLEES, &layout);
    return used;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "to the callers"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "to the callees"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "into the callers and callees, then to the selected one"},
    {.keys = {'S'},
     .action = ACTION_LIBRARIES,
     .footer = "libraries",
     .description = "hide the functions of libraries, or show them"},
    {.keys = {'o'}, .action = ACTION_OPEN, .description = "the source of the function"},
};

const struct view_ops functions_view = {
    .name = "functions",
    .title = "Functions",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = functions_render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .chosen = chosen,
    .choose = choose,
    .table = write_table,
};
