/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the tree, and the questions to the engine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/graphs.h"
#include "session/stacks.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/tree/tree.h"

static bool is_below(const struct tree_view *view, uint32_t node, uint32_t top);

/* ---- trees ------------------------------------------------------------------------------ */

struct tree_data {
    struct tree_request request;
    struct session_tree *tree;
    uint32_t last; /* of the hottest path */
};

static bool run_tree(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct tree_data *tree = data;
    const struct tree_request *request = &tree->request;
    const struct session_tree_options options = {.bottom_up = request->bottom_up,
                                                 .hide_libraries = request->hide,
                                                 .fold = request->fold,
                                                 .growth = request->growth,
                                                 .from_ns = request->from_ns,
                                                 .to_ns = request->to_ns,
                                                 .resident = true,
                                                 .resident_ns = request->moment_ns};
    tree->tree = session_tree_new(session, selection, &options, error);
    return tree->tree &&
           session_tree_expand_hottest(tree->tree, 0, TREE_AT_PEAK, &tree->last, error);
}

static void clear_tree(void *data)
{
    session_tree_free(((struct tree_data *)data)->tree);
}

void tree_drop(struct tree_view *view, struct browse *browse)
{
    LOADS_CLEAR(&browse->loader, &view->task_load, &view->test_load, &view->short_load);
    session_tree_free(view->tree);
    view->tree = NULL;
    view->busy = false;
    view->count = 0;
    view->focus = view->tested = view->testing = 0;
    view->list_soon = false;
    view->boxes.tree = NULL;
    view->table.selected = view->table.first = 0;
    view->table.has_key = false;
    view->short_serial = view->test_serial = 0;
    if (view->open)
        memset(view->open, 0, view->open_size);
}

/* Says that the focus of the tree before is not in this one. */
static void tell_lost_focus(struct tree_view *view, struct browse *browse)
{
    if (view->lost[0])
        browse_say(browse, "everything again: this tree has no %.200s there", view->lost);
    view->lost[0] = 0;
}

/* Shows another tree: its hottest path, and what was selected in the tree before. */
static void take_tree(struct tree_view *view, struct browse *browse, const struct tree_data *data)
{
    view->tree = session_tree_share(data->tree);
    view->request = data->request;
    if ((view->table.sort == TREE_COLUMN_GROWTH && !view->request.growth) ||
        (view->table.sort == TREE_COLUMN_RESIDENT && !session_tree_resident_known(view->tree)))
        view->table.sort = TREE_COLUMN_AT_PEAK;
    tree_rows_make(view);
    tree_set_open(view, data->last, true);
    tree_select(view, data->last);
    /* A tree in another direction has other paths. */
    if (view->was_bottom_up != (view->request.bottom_up != 0))
        view->was_selected.count = view->was_focus.count = 0;
    view->task.selected = view->was_selected;
    view->task.focus = view->was_focus;
    if (view->was_selected.count > 0 || view->was_focus.count > 0)
        tree_begin_task(view, browse, TASK_FOLLOW);
    else
        tell_lost_focus(view, browse);
    view->was_selected.count = view->was_focus.count = 0;
}

/* Returns where a node is; nowhere for the root. */
static struct tree_place place_of(const struct session_tree *tree, uint32_t node)
{
    struct tree_place place = {.stack = session_tree_stack(tree, node)};
    const size_t count = session_tree_path(tree, node, place.path, TREE_PATH_MAX);
    place.count = count < TREE_PATH_MAX ? (uint32_t)count : TREE_PATH_MAX;
    place.function = session_tree_node(tree, node)->function;
    for (; node != 0; node = session_tree_node(tree, node)->parent)
        place.nth += session_tree_node(tree, node)->function == place.function;
    return place;
}

/* Notes what is selected and in focus, to be found again in another tree. */
static void note_places(struct tree_view *view, const struct browse *browse)
{
    if (view->focus != 0)
        tree_label(view, browse->session, view->focus, view->lost, sizeof(view->lost));
    view->was_selected = place_of(view->tree, tree_selected(view));
    view->was_focus = place_of(view->tree, view->focus);
    view->was_bottom_up = view->request.bottom_up;
}

bool tree_load(struct tree_view *view, struct browse *browse)
{
    static const struct load_kind kind = {sizeof(struct tree_request), sizeof(struct tree_data),
                                          run_tree, clear_tree};
    struct tree_request request = {.selections = browse->selections,
                                   .bottom_up = view->bottom_up,
                                   .hide = view->hide,
                                   .fold = view->fold,
                                   .moment_ns = browse->moment_ns,
                                   .growth = browse->has_range};
    if (request.growth) {
        request.from_ns = browse->range_from_ns;
        request.to_ns = browse->range_to_ns;
    }
    const bool same = view->tree && memcmp(&request, &view->request, sizeof(request)) == 0;
    if (view->tree && !same) {
        note_places(view, browse);
        tree_drop(view, browse);
    }
    const struct tree_data *data = browse_get(browse, &view->tree_load, &kind, &request);
    if (!data || !data->tree || same)
        return false;
    take_tree(view, browse, data);
    return true;
}

/* ---- tasks ------------------------------------------------------------------------------ */

struct task_data {
    struct tree_task_request request;
    uint32_t node, focus;
    bool good; /* it was done */
    bool exact;
    char test[TREE_TEST_SIZE];
    char *on_stack; /* see struct tree_view */
    char note[512]; /* of a setting: why it was stored elsewhere */
};

/* Marks the function of a node as a wrapper, in the session or else in the user's folder. */
static bool mark_wrapper(struct session *session, struct task_data *data,
                         struct session_error *error)
{
    struct session_storing storing = {.place = SESSION_PLACE_SESSION};
    if (!session_setting_store(session, SESSION_WRAPPER, data->request.text, &storing, error))
        return false;
    memcpy(data->note, storing.note, sizeof(data->note));
    return session_settings_apply(session, error);
}

/* Finds a place of another tree; 0 if it is not there. */
static bool follow(struct session_tree *tree, const struct tree_place *place, uint32_t *node,
                   struct session_error *error)
{
    *node = 0;
    if (place->count == 0)
        return true;
    if (!session_tree_follow(tree, place->path, place->count, node, error))
        return false;
    if (session_tree_node(tree, *node)->depth == place->count)
        return true;
    return session_tree_follow_stack(tree, place->stack, place->function, place->nth, node, error);
}

static bool do_task(struct session *session, struct task_data *data, struct session_error *error)
{
    const struct tree_task_request *request = &data->request;
    struct session_tree *tree = request->tree;
    const enum session_tree_measure measure = (enum session_tree_measure)request->measure;
    switch ((enum tree_task)request->task) {
    case TASK_EXPAND:
        return session_tree_expand(tree, request->node, error);
    case TASK_HOTTEST:
    case TASK_FOCUS:
        return session_tree_expand_hottest(tree, request->node, measure, &data->node, error);
    case TASK_FOLLOW:
        return follow(tree, &request->selected, &data->node, error) &&
               follow(tree, &request->focus, &data->focus, error);
    case TASK_FLAME:
        return session_tree_expand_larger(tree, request->node, measure, request->least,
                                          request->levels, error);
    case TASK_WRAPPER:
        return mark_wrapper(session, data, error);
    case TASK_FIND:
        break;
    }
    const struct session_tree_search search = {.text = request->text,
                                               .from = request->node,
                                               .within = request->within,
                                               .backward = request->backward,
                                               .order = {measure, request->descending}};
    return session_tree_find(tree, &search, &data->node, error);
}

static bool run_task(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct task_data *data = context;
    data->node = data->request.node;
    data->good = do_task(session, data, error);
    return data->good;
}

static void clear_task(void *data)
{
    struct task_data *task = data;
    free(task->on_stack);
    session_tree_free(task->request.tree);
}

static const struct load_kind task_kind = {sizeof(struct tree_task_request),
                                           sizeof(struct task_data), run_task, clear_task};

void tree_begin_task(struct tree_view *view, struct browse *browse, enum tree_task task)
{
    const struct session_tree_order order = tree_order(view);
    if (!view->tree)
        return;
    /* Loads that can wait make way for it. */
    load_clear(&browse->loader, &view->short_load);
    view->short_serial = 0;
    view->task.serial = ++view->serial;
    view->task.tree = session_tree_share(view->tree);
    view->task.task = task;
    view->task.measure = order.measure;
    view->task.descending = order.descending;
    view->busy = true;
    tree_take_task(view, browse);
}

/* Runs the filter again after a setting has changed what frames are. */
static void run_filter_again(struct browse *browse)
{
    struct session_error error = {.message = ""};
    char *text = strdup(browse->filter);
    if (text && !browse_filter(browse, text, &error))
        browse_complain(browse, "%s", error.message);
    free(text);
}

/* Shows what was selected and in focus in the tree before. If that is not there any more, the
 * hottest path is selected, or everything is shown. */
static void take_places(struct tree_view *view, struct browse *browse, const struct task_data *data)
{
    if (data->focus == 0) {
        tell_lost_focus(view, browse);
    } else {
        view->lost[0] = 0;
        view->focus = data->focus;
        tree_set_open(view, data->focus, true);
        tree_select(view, data->focus);
    }
    if (data->node != 0 && is_below(view, data->node, view->focus))
        tree_select(view, data->node);
}

static void take_answer(struct tree_view *view, struct browse *browse, const struct task_data *data)
{
    char shown[300];
    switch ((enum tree_task)view->task.task) {
    case TASK_EXPAND:
        tree_set_open(view, data->node, true);
        tree_rows_make(view);
        break;
    case TASK_HOTTEST:
        tree_set_open(view, data->node, true);
        tree_select(view, data->node);
        break;
    case TASK_FOCUS:
        tree_set_open(view, data->node, true);
        tree_select(view, data->node);
        tree_select(view, data->request.node);
        break;
    case TASK_FOLLOW:
        take_places(view, browse, data);
        break;
    case TASK_FIND:
        if (data->node == 0)
            browse_complain(browse, "no function%s has \"%.150s\" in its name",
                            view->focus ? " below this one" : "", view->search);
        tree_select(view, data->node);
        break;
    case TASK_WRAPPER:
        session_printable(shown, sizeof(shown), view->task.text);
        browse_say(browse, "a wrapper now (--setting delete undoes it)%s%.120s: %.120s",
                   data->note[0] ? ", " : "", data->note, shown);
        run_filter_again(browse);
        break;
    case TASK_FLAME:
        break;
    }
}

void tree_take_task(struct tree_view *view, struct browse *browse)
{
    if (!view->busy)
        return;
    const struct task_data *data = browse_get(browse, &view->task_load, &task_kind, &view->task);
    if (!data && view->task_load.job)
        return;
    view->busy = false;
    if (data && data->good)
        take_answer(view, browse, data);
}

/* ---- what can wait ---------------------------------------------------------------------- */

static bool run_test(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct task_data *data = context;
    struct session_error none;
    /* Nobody has asked for them yet: a node without its children or a test is not a failure. */
    session_tree_expand(data->request.tree, data->request.node, &none);
    if (!session_tree_test(data->request.tree, data->request.node, data->test, sizeof(data->test),
                           &data->exact, &none))
        data->test[0] = 0;
    const struct session_tree_node *of = session_tree_node(data->request.tree, data->request.node);
    if (of->functions == 1 && !session_function_is_alone(session, of->function))
        session_function_stacks(session, of->function, SESSION_ANYWHERE, &data->on_stack, &none);
    return true;
}

void tree_list(struct tree_view *view, struct browse *browse)
{
    char *step = NULL;
    const uint32_t node = tree_selected(view);
    view->list_soon = node != 0 && node != view->tested;
    if (node == 0 || view->list_soon)
        return;
    if (!view->test || !view->test[0]) {
        browse_complain(browse, "no filter can name these allocations");
        return;
    }
    if (!view->exact)
        browse_say(browse, "these are of other paths, too: no filter tells them apart");
    if (asprintf(&step, "where %s", view->test) >= 0)
        browse_list(browse, step);
    free(step);
}

static bool run_short(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    return session_tree_find_short(((struct task_data *)context)->request.tree, error);
}

/* Makes the request of a question about the present tree. `*serial` is 0 if it was not asked yet.
 */
static struct tree_task_request rest_request(struct tree_view *view, uint64_t *serial,
                                             uint32_t node)
{
    struct tree_task_request request = {.node = node, .tree = view->tree};
    if (*serial == 0) {
        *serial = ++view->serial;
        session_tree_share(view->tree);
    }
    request.serial = *serial;
    return request;
}

void tree_load_rest(struct tree_view *view, struct browse *browse)
{
    static const struct load_kind test_kind = {sizeof(struct tree_task_request),
                                               sizeof(struct task_data), run_test, clear_task};
    static const struct load_kind short_kind = {sizeof(struct tree_task_request),
                                                sizeof(struct task_data), run_short, clear_task};
    const uint32_t node = tree_selected(view);
    if (!view->tree || view->busy)
        return;
    if (node != 0 && node != view->tested) {
        if (view->testing != node)
            view->test_serial = 0;
        view->testing = node;
        const struct tree_task_request request = rest_request(view, &view->test_serial, node);
        const struct task_data *data = browse_get(browse, &view->test_load, &test_kind, &request);
        if (data) {
            view->tested = node;
            view->test_serial = 0;
            view->exact = data->exact;
            free(view->test);
            view->test = strdup(data->test);
            free(view->on_stack);
            view->on_stack = data->on_stack ? strdup(data->on_stack) : NULL;
            if (view->list_soon)
                tree_list(view, browse);
        }
    }
    if (!session_tree_short_known(view->tree) && view->width >= 90) {
        const struct tree_task_request request = rest_request(view, &view->short_serial, 0);
        browse_get(browse, &view->short_load, &short_kind, &request);
    }
    if (session_tree_short_known(view->tree) != view->short_known) {
        view->short_known = !view->short_known;
        tree_rows_make(view);
    }
}

/* ---- open nodes ------------------------------------------------------------------------- */

bool tree_is_open(const struct tree_view *view, uint32_t node)
{
    return node < view->open_size && view->open[node] != 0;
}

void tree_set_open(struct tree_view *view, uint32_t node, bool open)
{
    if (node >= view->open_size) {
        const size_t size = ((size_t)node + 1) * 2;
        uint8_t *longer = realloc(view->open, size);
        if (!longer)
            return;
        memset(longer + view->open_size, 0, size - view->open_size);
        view->open = longer;
        view->open_size = size;
    }
    view->open[node] = open;
}

uint32_t tree_selected(const struct tree_view *view)
{
    return view->table.selected < view->count ? view->rows[view->table.selected] : 0;
}

struct session_tree_order tree_order(const struct tree_view *view)
{
    static const enum session_tree_measure measures[TREE_COLUMNS] = {
        [TREE_COLUMN_AT_PEAK] = TREE_AT_PEAK, [TREE_COLUMN_GROWTH] = TREE_GROWTH,
        [TREE_COLUMN_BYTES] = TREE_BYTES,     [TREE_COLUMN_COUNT] = TREE_COUNT,
        [TREE_COLUMN_LIVE] = TREE_LIVE,       [TREE_COLUMN_RESIDENT] = TREE_RESIDENT,
        [TREE_COLUMN_SHORT] = TREE_SHORT,     [TREE_COLUMN_NAME] = TREE_NAME,
        [TREE_COLUMN_PLACE] = TREE_NAME,
    };
    return (struct session_tree_order){measures[view->table.sort], view->table.descending};
}

static bool room(struct tree_view *view, size_t more)
{
    if (view->count + more <= view->capacity)
        return true;
    const size_t capacity = (view->count + more) * 2;
    uint32_t *rows = realloc(view->rows, capacity * sizeof(*rows));
    if (!rows)
        return false;
    view->rows = rows;
    view->capacity = capacity;
    return true;
}

static void append_children(struct tree_view *view, uint32_t node)
{
    const struct session_tree_order order = tree_order(view);
    uint32_t first, count;
    if (!session_tree_children(view->tree, node, &first, &count) || count == 0 ||
        !room(view, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        view->rows[view->count + i] = first + i;
    session_tree_sort(view->tree, &order, view->rows + view->count, count);
    view->count += count;
}

/* Puts the rows below each other. Children are appended to a list of nodes that wait, from which
 * the last one is taken: a depth-first walk without recursion. */
void tree_rows_make(struct tree_view *view)
{
    const uint32_t selected = tree_selected(view);
    size_t waiting = 0, capacity = 0;
    uint32_t *wait = NULL;
    view->count = 0;
    if (!view->tree)
        return;
    uint32_t node = view->focus;
    if (node != 0 && room(view, 1))
        view->rows[view->count++] = node;
    for (bool more = true; more;) {
        if (node == view->focus || tree_is_open(view, node)) {
            const size_t before = view->count;
            append_children(view, node);
            const size_t children = view->count - before;
            uint32_t *longer = realloc(wait, (waiting + children + 1) * sizeof(*wait));
            if (!longer)
                break;
            wait = longer;
            capacity = waiting + children;
            /* The first child is taken first. */
            for (size_t i = 0; i < children; i++)
                wait[capacity - 1 - i] = view->rows[before + i];
            waiting = capacity;
            view->count = before;
        }
        more = waiting > 0;
        if (more && room(view, 1)) {
            node = wait[--waiting];
            view->rows[view->count++] = node;
        }
    }
    free(wait);
    for (size_t i = 0; i < view->count; i++)
        if (view->rows[i] == selected)
            view->table.selected = i;
}

static bool is_below(const struct tree_view *view, uint32_t node, uint32_t top)
{
    while (node != 0 && node != top)
        node = session_tree_node(view->tree, node)->parent;
    return node == top;
}

void tree_select(struct tree_view *view, uint32_t node)
{
    if (!view->tree || node == 0)
        return;
    if (!is_below(view, node, view->focus))
        view->focus = 0;
    for (uint32_t at = session_tree_node(view->tree, node)->parent; at != 0;
         at = session_tree_node(view->tree, at)->parent)
        tree_set_open(view, at, true);
    tree_rows_make(view);
    for (size_t i = 0; i < view->count; i++) {
        if (view->rows[i] == node) {
            view->table.selected = i;
            view->table.key = node;
            view->table.has_key = true;
        }
    }
}

/* ---- cells ------------------------------------------------------------------------------ */

static const struct table_column columns[TREE_COLUMNS] = {
    [TREE_COLUMN_AT_PEAK] = {"program peak", 12, .keep = true,
                             .meaning = "bytes that were live at the program's peak"},
    [TREE_COLUMN_GROWTH] = {"growth", 7, .keep = true,
                            .meaning = "live at the end of the marked range, less at its start"},
    [TREE_COLUMN_BYTES] = {"allocated", 9, 60, .meaning = "bytes of all allocations"},
    [TREE_COLUMN_COUNT] = {"count", 6, 76, .meaning = "all allocations"},
    [TREE_COLUMN_LIVE] = {"live", 6, 68, .meaning = "bytes that were never freed"},
    [TREE_COLUMN_RESIDENT] = {"resident", 8, 84,
                              .meaning = "bytes in memory of those live at the timeline's cursor"},
    [TREE_COLUMN_SHORT] = {"<1 ms", 5, 90,
                           .meaning = "share of the allocations that lived less than 1 ms"},
    [TREE_COLUMN_NAME] = {"function", .text = true, .keep = true, .cut = TABLE_CUT_BRANCH},
    [TREE_COLUMN_PLACE] = {"where", 24, 110, .text = true, .unsorted = true,
                           .meaning = "the line of the call on the path that holds most; where "
                                      "the function begins if no line calls it"},
};

static void hide(struct table_column *column)
{
    column->keep = false;
    column->unsorted = true;
    column->least_width = 1 << 20;
}

/* The same without the growth, which needs a range, and without what is in memory if that is not
 * known. */
static const struct table_column *columns_of(const struct tree_view *view)
{
    static struct table_column shown[2][2][TREE_COLUMNS];
    const bool growth = view->request.growth != 0;
    const bool resident = view->tree && session_tree_resident_known(view->tree);
    struct table_column *of = shown[growth][resident];
    if (of[0].title)
        return of;
    memcpy(of, columns, sizeof(columns));
    if (!growth)
        hide(&of[TREE_COLUMN_GROWTH]);
    if (!resident)
        hide(&of[TREE_COLUMN_RESIDENT]);
    return of;
}

static void put_name(char *out, size_t size, const struct session *session, uint32_t function)
{
    short_name(out, size, session_function_name(session, function));
}

void tree_label(const struct tree_view *view, const struct session *session, uint32_t node,
                char *out, size_t size)
{
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    char first[SHORT_NAME_SIZE], second[SHORT_NAME_SIZE];
    uint32_t functions[2];
    switch (of->kind) {
    case TREE_ROOT:
        snprintf(out, size, "all");
        return;
    case TREE_NO_OWN_CODE:
        snprintf(out, size, "(no own code)");
        return;
    case TREE_NO_STACK:
        snprintf(out, size, "(no stack)");
        return;
    default:
        break;
    }
    put_name(first, sizeof(first), session, of->function);
    if (of->functions < 2) {
        snprintf(out, size, "%s%s", first, of->recursive ? " \u21ba" : "");
        return;
    }
    session_tree_functions(view->tree, node, functions, 2);
    put_name(second, sizeof(second), session, functions[1]);
    if (of->functions == 2)
        snprintf(out, size, "%s \u21c4 %s", first, second);
    else
        snprintf(out, size, "%s \u21c4 %u more", first, of->functions - 1);
}

/* Writes a row's place in the tree and its name. A deep row begins no further right than a third of
 * the column; the number of its level then says how deep it lies. */
static void put_row(const struct tree_view *view, const struct browse *browse, uint32_t node,
                    struct table_cell *cell)
{
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    const uint32_t top = view->focus == 0 ? 1 : session_tree_node(view->tree, view->focus)->depth;
    const unsigned level = of->depth - top;
    const unsigned most =
        view->width > 200 ? 40 : (unsigned)(view->width > 40 ? view->width : 40) / 5;
    const char *mark = of->leaf                                          ? " "
                       : tree_is_open(view, node) || node == view->focus ? "\u25be"
                                                                         : "\u25b8";
    enum { NAME_MOST = 150 }; /* columns: the text of a cell has room for them */
    char whole[2 * SHORT_NAME_SIZE + 16], label[200], deep[16] = "";
    tree_label(view, browse->session, node, whole, sizeof(whole));
    if (of->functions < 2)
        short_name_fit_again(label, sizeof(label), whole, NAME_MOST);
    else
        snprintf(label, sizeof(label), "%.199s", whole);
    unsigned indent = level * 2;
    if (indent > most) {
        snprintf(deep, sizeof(deep), "%u ", level);
        indent = most - (unsigned)strlen(deep);
    }
    snprintf(cell->text, sizeof(cell->text), "%.9s%*s%s %s%.190s", deep, (int)indent, "", mark,
             of->kind == TREE_LIBRARY ? "\u2192 " : "", label);
    cell->styled = of->kind != TREE_FUNCTION;
    cell->style = theme_style(THEME_FAINT);
    if (of->functions == 1)
        cell->apart = list_function_name(browse->session, of->function);
}

bool tree_call_text(const struct tree_view *view, uint32_t node, char *out, size_t size)
{
    const struct session_tree_line call = session_tree_call(view->tree, node);
    *out = 0;
    if (call.line != 0)
        snprintf(out, size, "%.200s:%" PRIu32, basename(call.file), call.line);
    return call.line != 0;
}

static void put_bytes(struct table_cell *cell, uint64_t bytes)
{
    cell->is_number = true;
    cell->number = bytes;
    if (bytes > 0)
        format_size_short(cell->text, bytes);
    else
        snprintf(cell->text, sizeof(cell->text), "0");
}

static void put_at_peak(const struct tree_view *view, const struct session_tree_sums *sums,
                        struct table_cell *cell)
{
    const uint64_t whole = session_tree_node(view->tree, 0)->sums.at_peak_bytes;
    char bytes[FORMAT_SIZE], percent[FORMAT_SIZE];
    put_bytes(cell, sums->at_peak_bytes);
    if (sums->at_peak_bytes > 0)
        snprintf(cell->text, sizeof(cell->text), "%s %5s",
                 format_size_short(bytes, sums->at_peak_bytes),
                 format_percent(percent, sums->at_peak_bytes, whole));
    else
        snprintf(cell->text, sizeof(cell->text), "0      ");
    cell->part = sums->at_peak_bytes;
    cell->whole = whole;
}

static void put_growth(const struct session_tree_sums *sums, struct table_cell *cell)
{
    const bool less = sums->to_bytes < sums->from_bytes;
    const uint64_t change =
        less ? sums->from_bytes - sums->to_bytes : sums->to_bytes - sums->from_bytes;
    char bytes[FORMAT_SIZE];
    format_size_short(bytes, change);
    snprintf(cell->text, sizeof(cell->text), "%s%s",
             change == 0 ? ""
             : less      ? "\u2212"
                         : "+",
             change == 0 ? "0" : bytes);
}

static void put_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct tree_rows *rows = context;
    const struct tree_view *view = rows->view;
    const uint32_t node = view->rows[row];
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    switch ((enum tree_column)column) {
    case TREE_COLUMN_AT_PEAK:
        put_at_peak(view, &of->sums, cell);
        break;
    case TREE_COLUMN_GROWTH:
        put_growth(&of->sums, cell);
        break;
    case TREE_COLUMN_BYTES:
        put_bytes(cell, of->sums.bytes);
        break;
    case TREE_COLUMN_COUNT:
        cell->is_number = true;
        cell->number = of->sums.allocations;
        format_count_short(cell->text, of->sums.allocations);
        break;
    case TREE_COLUMN_LIVE:
        put_bytes(cell, of->sums.live_bytes);
        break;
    case TREE_COLUMN_RESIDENT:
        put_bytes(cell, of->sums.resident);
        break;
    case TREE_COLUMN_SHORT:
        if (session_tree_short_known(view->tree))
            format_percent(cell->text, of->sums.short_count, of->sums.allocations);
        break;
    case TREE_COLUMN_NAME:
        put_row(view, rows->browse, node, cell);
        break;
    default:
        if (of->functions > 0) {
            if (!tree_call_text(view, node, cell->text, sizeof(cell->text)))
                cell->name = list_function_place(rows->browse->session, of->function);
            cell->styled = true;
            cell->style = theme_style(THEME_FAINT);
        }
    }
}

static uint64_t key_of(void *context, size_t row)
{
    return ((const struct tree_rows *)context)->view->rows[row];
}

struct table_source tree_source(struct tree_rows *rows)
{
    return (struct table_source){.context = rows,
                                 .columns = columns_of(rows->view),
                                 .column_count = TREE_COLUMNS,
                                 .rows = rows->view->count,
                                 .about = rows->browse->about,
                                 .cell = put_cell,
                                 .key = key_of};
}

bool tree_keep_order(void *view, struct table_order *order, bool set)
{
    struct tree_view *state = view;
    return table_order(&state->table, columns, TREE_COLUMNS, order, set);
}
