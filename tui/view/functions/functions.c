/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions view: functions with their allocations; below, callers and callees of the selected
 * one. */
#include <stdlib.h>
#include <string.h>

#include "session/stacks.h"
#include "tui/keys/keys.h"
#include "tui/view/functions/functions.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct functions *functions = calloc(1, sizeof(*functions));
    if (functions) {
        functions->sort = COLUMN_TOTAL;
        functions->descending = true;
    }
    return functions;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct functions *functions = view;
    load_clear(&exploration->loader, &functions->rows_load);
    load_clear(&exploration->loader, &functions->edges_load);
    load_clear(&exploration->loader, &functions->at_peak_load);
    free(functions);
}

struct functions_layout functions_lay_out(int height)
{
    int edges = height >= 40 ? height / 3 : height >= 15 ? 5 : height >= 10 ? 3 : 0;
    int name = height >= 15;
    struct functions_layout layout = {.list = 1, .edge_rows = edges, .name = -1};
    layout.list_rows = height - 1 - name - (edges > 0 ? edges + 1 : 0);
    layout.edges = layout.list + layout.list_rows + name + 1;
    if (name)
        layout.name = layout.edges - 2;
    if (layout.list_rows < 1)
        layout.list_rows = 1;
    return layout;
}

/* ---- loading ---------------------------------------------------------------------------- */

static int row_of(const struct functions *functions, uint32_t function)
{
    for (size_t i = 0; i < functions->count; i++)
        if (functions->rows[i].function == function)
            return (int)i;
    return -1;
}

static void sort(struct functions *functions, const struct exploration *exploration)
{
    function_rows_sort(exploration->session, functions->rows, functions->count, functions->sort,
                       functions->descending);
    int row = exploration->has_function ? row_of(functions, exploration->function) : -1;
    functions->selected = row < 0 ? 0 : row;
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

/* Returns true if other rows than before are shown. */
static bool load_rows(struct functions *functions, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct rows_data), run_rows,
                                          clear_rows};
    struct rows_data *data =
        exploration_get(exploration, &functions->rows_load, &kind, &exploration->selections);
    const bool other = data && functions->selections != exploration->selections;
    functions->known = data != NULL;
    functions->rows = data ? data->rows : NULL;
    functions->count = data ? data->count : 0;
    functions->total_bytes = data ? data->total_bytes : 0;
    if (other) {
        functions->selections = exploration->selections;
        functions->at_peak = NULL;
        sort(functions, exploration);
    }
    return other;
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
    for (size_t i = 0; data->bytes && i < functions->count; i++)
        if (functions->rows[i].function < data->count)
            functions->rows[i].total_at_peak_bytes = data->bytes[functions->rows[i].function];
    if (functions->sort == COLUMN_TOTAL_PEAK)
        sort(functions, exploration);
}

struct edges_data {
    struct {
        uint64_t selections, function;
    } request;
    struct session_edge *callers, *callees;
    size_t caller_count, callee_count;
};

static bool run_edges(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct edges_data *edges = data;
    (void)session;
    return selection_edges(selection, (uint32_t)edges->request.function, &edges->callers,
                           &edges->caller_count, &edges->callees, &edges->callee_count, error);
}

static void clear_edges(void *data)
{
    struct edges_data *edges = data;
    free(edges->callers);
    free(edges->callees);
}

static void load_edges(struct functions *functions, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct edges_data *)0)->request),
                                          sizeof(struct edges_data), run_edges, clear_edges};
    const struct edges_data *edges = NULL;
    if (functions->count > 0) {
        const struct edges_data wanted = {
            .request = {exploration->selections, functions->rows[functions->selected].function}};
        edges = exploration_get(exploration, &functions->edges_load, &kind, &wanted.request);
    }
    functions->edges_known = edges != NULL;
    functions->callers.edges = edges ? edges->callers : NULL;
    functions->callers.count = edges ? edges->caller_count : 0;
    functions->callees.edges = edges ? edges->callees : NULL;
    functions->callees.count = edges ? edges->callee_count : 0;
    if (edges && (functions->edges_function != edges->request.function ||
                  functions->edges_selections != edges->request.selections)) {
        functions->callers.selected = functions->callers.first = 0;
        functions->callees.selected = functions->callees.first = 0;
        functions->edges_function = (uint32_t)edges->request.function;
        functions->edges_selections = edges->request.selections;
    }
}

/* ---- moving ----------------------------------------------------------------------------- */

static void clamp(int *selected, int *first, int count, int rows)
{
    if (*selected >= count)
        *selected = count - 1;
    if (*selected < 0)
        *selected = 0;
    if (*first > *selected)
        *first = *selected;
    if (*selected >= *first + rows)
        *first = *selected - rows + 1;
    if (*first > count - rows)
        *first = count > rows ? count - rows : 0;
}

static void select_row(struct functions *functions, struct exploration *exploration, int row)
{
    functions->selected = row;
    clamp(&functions->selected, &functions->first, (int)functions->count, 1 << 20);
    if (functions->count > 0) {
        exploration->function = functions->rows[functions->selected].function;
        exploration->has_function = true;
    }
}

static struct edge_list *focused_edges(struct functions *functions)
{
    return functions->focus == FOCUS_CALLERS ? &functions->callers : &functions->callees;
}

/* Moves by `rows` rows in the list that has the focus. */
static void move(struct functions *functions, struct exploration *exploration, int rows)
{
    if (functions->focus == FOCUS_LIST) {
        select_row(functions, exploration, functions->selected + rows);
    } else {
        struct edge_list *list = focused_edges(functions);
        list->selected += rows;
        clamp(&list->selected, &list->first, (int)list->count, 1 << 20);
    }
}

static void go_to_function(struct functions *functions, struct exploration *exploration,
                           uint32_t function)
{
    int row = row_of(functions, function);
    if (row < 0)
        exploration_complain(exploration, "%.200s is not in the list",
                             session_function_name(exploration->session, function));
    else
        select_row(functions, exploration, row);
}

static void follow(struct functions *functions, struct exploration *exploration)
{
    if (functions->focus == FOCUS_LIST) {
        functions->focus = functions->callers.count > 0 ? FOCUS_CALLERS : FOCUS_CALLEES;
        if (focused_edges(functions)->count == 0)
            functions->focus = FOCUS_LIST;
        return;
    }
    const struct edge_list *list = focused_edges(functions);
    if ((size_t)list->selected < list->count)
        go_to_function(functions, exploration, list->edges[list->selected].function);
    functions->focus = FOCUS_LIST;
}

static void focus_side(struct functions *functions, enum functions_focus side)
{
    enum functions_focus before = functions->focus;
    functions->focus = side;
    if (focused_edges(functions)->count == 0)
        functions->focus = before;
}

static void search(struct functions *functions, struct exploration *exploration, int step,
                   bool from_here)
{
    if (!functions->search[0]) {
        exploration_say(exploration, "no search yet; / searches");
        return;
    }
    int count = (int)functions->count;
    for (int i = from_here ? 0 : 1; i <= count; i++) {
        int row = ((functions->selected + i * step) % count + count) % count;
        const char *name =
            session_function_name(exploration->session, functions->rows[row].function);
        if (strcasestr(name, functions->search)) {
            select_row(functions, exploration, row);
            functions->focus = FOCUS_LIST;
            return;
        }
    }
    exploration_complain(exploration, "no function has \"%.150s\" in its name", functions->search);
}

/* Finds the function of the selected row of the list that has the focus. */
static bool selected_function(const struct functions *functions, uint32_t *function)
{
    const struct edge_list *list =
        functions->focus == FOCUS_CALLERS ? &functions->callers : &functions->callees;
    if (functions->focus == FOCUS_LIST && functions->count > 0)
        *function = functions->rows[functions->selected].function;
    else if (functions->focus != FOCUS_LIST && (size_t)list->selected < list->count)
        *function = list->edges[list->selected].function;
    else
        return false;
    return true;
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    char quoted[1100];
    uint32_t function;
    if (capacity < 2 || !selected_function(view, &function))
        return 0;
    const char *name = session_function_name(exploration->session, function);
    if (!*filter_quote(quoted, sizeof(quoted), name))
        return 0;
    snprintf(out[0].label, sizeof(out[0].label), "below %.110s", name);
    snprintf(out[0].step, sizeof(out[0].step), "where stack has %s", quoted);
    snprintf(out[1].label, sizeof(out[1].label), "called in %.110s", name);
    snprintf(out[1].step, sizeof(out[1].step), "where function == %s", quoted);
    return 2;
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

/* ---- sorting ---------------------------------------------------------------------------- */

static void sort_by(struct functions *functions, struct exploration *exploration,
                    enum function_column column)
{
    functions->descending =
        column == functions->sort ? !functions->descending : !function_column(column)->text;
    functions->sort = column;
    sort(functions, exploration);
    exploration_say(exploration, "sorted by %s, %s", function_column(column)->title,
                    function_column(column)->text ? functions->descending ? "Z first" : "A first"
                    : functions->descending       ? "largest first"
                                                  : "smallest first");
}

/* Sorts by the next visible column to the left or right. */
static void sort_beside(struct functions *functions, struct exploration *exploration, int step,
                        int screen_width)
{
    int column = (int)functions->sort, x, width;
    do
        column = (column + step + FUNCTION_COLUMNS) % FUNCTION_COLUMNS;
    while (!function_column_place((enum function_column)column, screen_width, &x, &width));
    sort_by(functions, exploration, (enum function_column)column);
}

/* ---- mouse ------------------------------------------------------------------------------ */

static void click_edges(struct functions *functions, const struct view_input *input, int row)
{
    bool callers = input->x < input->width / 2;
    struct edge_list *list = callers ? &functions->callers : &functions->callees;
    if (list->count == 0)
        return;
    functions->focus = callers ? FOCUS_CALLERS : FOCUS_CALLEES;
    list->selected = list->first + row;
    clamp(&list->selected, &list->first, (int)list->count, 1 << 20);
}

static void click(struct functions *functions, struct exploration *exploration,
                  const struct view_input *input)
{
    struct functions_layout layout = functions_lay_out(input->height);
    if (input->y == 0) {
        for (int i = 0; i < FUNCTION_COLUMNS; i++) {
            int x, width;
            if (function_column_place((enum function_column)i, input->width, &x, &width) &&
                input->x >= x && input->x < x + width)
                sort_by(functions, exploration, (enum function_column)i);
        }
    } else if (input->y < layout.list + layout.list_rows) {
        functions->focus = FOCUS_LIST;
        if (functions->first + input->y - layout.list < (int)functions->count)
            select_row(functions, exploration, functions->first + input->y - layout.list);
    } else if (input->y >= layout.edges) {
        click_edges(functions, input, input->y - layout.edges);
    }
}

/* ---- update ----------------------------------------------------------------------------- */

static bool act(struct functions *functions, struct exploration *exploration,
                const struct view_input *input)
{
    struct functions_layout layout = functions_lay_out(input->height);
    int page = functions->focus == FOCUS_LIST ? layout.list_rows : layout.edge_rows;
    bool wheel_below = input->y >= layout.edges - 1;
    switch (input->action) {
    case ACTION_UP:
        move(functions, exploration, -1);
        break;
    case ACTION_DOWN:
        move(functions, exploration, 1);
        break;
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        if (wheel_below)
            click_edges(functions, input, 0);
        move(functions, exploration, input->action == ACTION_WHEEL_UP ? -3 : 3);
        break;
    case ACTION_PAGE_UP:
        move(functions, exploration, -page);
        break;
    case ACTION_PAGE_DOWN:
        move(functions, exploration, page);
        break;
    case ACTION_HOME:
        move(functions, exploration, -(1 << 28));
        break;
    case ACTION_END:
        move(functions, exploration, 1 << 28);
        break;
    case ACTION_LEFT:
        focus_side(functions, FOCUS_CALLERS);
        break;
    case ACTION_RIGHT:
        focus_side(functions, FOCUS_CALLEES);
        break;
    case ACTION_FOLLOW:
        follow(functions, exploration);
        break;
    case ACTION_SEARCH:
        snprintf(functions->search, sizeof(functions->search), "%s", input->text);
        search(functions, exploration, 1, true);
        break;
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        search(functions, exploration, input->action == ACTION_NEXT ? 1 : -1, false);
        break;
    case ACTION_SORT:
    case ACTION_SORT_RIGHT:
        sort_beside(functions, exploration, 1, input->width);
        break;
    case ACTION_SORT_LEFT:
        sort_beside(functions, exploration, -1, input->width);
        break;
    case ACTION_SORT_REVERSE:
        sort_by(functions, exploration, functions->sort);
        break;
    case ACTION_CLICK:
        click(functions, exploration, input);
        break;
    case ACTION_BACK:
        if (functions->focus == FOCUS_LIST)
            return false;
        functions->focus = FOCUS_LIST;
        break;
    default:
        return false;
    }
    return true;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct functions *functions = view;
    bool other = load_rows(functions, exploration);
    bool used = input->action == ACTION_REFRESH;
    if (other && functions->renewals != exploration->renewals) {
        /* Selects the same function again: its row may differ in the newer state of the session. */
        int row =
            functions->renewals == 0 && !functions->keeps ? -1 : row_of(functions, functions->kept);
        functions->selected = row < 0 ? functions->selected : row;
        functions->renewals = exploration->renewals;
    } else if (used && exploration->has_function) {
        int row = row_of(functions, exploration->function);
        functions->selected = row < 0 ? functions->selected : row;
    }
    bool moves = input->action == ACTION_UP || input->action == ACTION_DOWN ||
                 input->action == ACTION_PAGE_UP || input->action == ACTION_PAGE_DOWN;
    /* All actions except moves in the list may use the edges, which a burst of keys has not loaded
     * yet. */
    if (!used && !(moves && functions->focus == FOCUS_LIST))
        load_edges(functions, exploration);
    if (functions->count == 0) {
        functions->focus = FOCUS_LIST;
        used = used || (input->action != ACTION_BACK);
    } else if (!used) {
        used = act(functions, exploration, input);
    }
    struct functions_layout layout = functions_lay_out(input->height);
    clamp(&functions->selected, &functions->first, (int)functions->count, layout.list_rows);
    if (functions->count > 0)
        functions->kept = functions->rows[functions->selected].function;
    if (!input->more) {
        load_edges(functions, exploration);
        load_at_peak(functions, exploration);
    }
    if (functions->focus != FOCUS_LIST && focused_edges(functions)->count == 0)
        functions->focus = FOCUS_LIST;
    clamp(&functions->callers.selected, &functions->callers.first, (int)functions->callers.count,
          layout.edge_rows > 0 ? layout.edge_rows : 1);
    clamp(&functions->callees.selected, &functions->callees.first, (int)functions->callees.count,
          layout.edge_rows > 0 ? layout.edge_rows : 1);
    return used;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct functions *functions = view;
    if (functions->count == 0)
        return false;
    function_rows_write(exploration->session, functions->rows, functions->count, out, format);
    return true;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct functions *functions = view;
    if (set && order->sort >= FUNCTION_COLUMNS)
        return false;
    if (set) {
        functions->sort = (enum function_column)order->sort;
        functions->descending = order->descending;
        functions->keeps = order->has_key && order->key <= UINT32_MAX;
        functions->kept = (uint32_t)order->key;
    } else {
        *order = (struct table_order){.sort = functions->sort,
                                      .descending = functions->descending,
                                      .has_key = functions->count > 0,
                                      .key = functions->kept};
    }
    return true;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "to the callers"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "to the callees"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "into the callers and callees, then to the selected one"},
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
    .table = write_table,
};
