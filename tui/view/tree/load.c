/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees and tasks on them, on the engine's thread. */
#include <stdlib.h>
#include <string.h>

#include "session/graphs.h"
#include "session/stacks.h"
#include "tui/view/tree/tree.h"

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
                                                 .to_ns = request->to_ns};
    tree->tree = session_tree_new(session, selection, &options, error);
    return tree->tree &&
           session_tree_expand_hottest(tree->tree, 0, TREE_AT_PEAK, &tree->last, error);
}

static void clear_tree(void *data)
{
    session_tree_free(((struct tree_data *)data)->tree);
}

void tree_drop(struct tree_view *view, struct exploration *exploration)
{
    load_clear(&exploration->loader, &view->task_load);
    load_clear(&exploration->loader, &view->test_load);
    load_clear(&exploration->loader, &view->short_load);
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
static void tell_lost_focus(struct tree_view *view, struct exploration *exploration)
{
    if (view->lost[0])
        exploration_say(exploration, "everything again: this tree has no %.200s there", view->lost);
    view->lost[0] = 0;
}

/* Shows another tree: its hottest path, and what was selected in the tree before. */
static void take_tree(struct tree_view *view, struct exploration *exploration,
                      const struct tree_data *data)
{
    view->tree = session_tree_share(data->tree);
    view->request = data->request;
    if (view->table.sort == TREE_COLUMN_GROWTH && !view->request.growth)
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
        tree_begin_task(view, exploration, TASK_FOLLOW);
    else
        tell_lost_focus(view, exploration);
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
static void note_places(struct tree_view *view, const struct exploration *exploration)
{
    if (view->focus != 0)
        tree_label(view, exploration->session, view->focus, view->lost, sizeof(view->lost));
    view->was_selected = place_of(view->tree, tree_selected(view));
    view->was_focus = place_of(view->tree, view->focus);
    view->was_bottom_up = view->request.bottom_up;
}

bool tree_load(struct tree_view *view, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(struct tree_request), sizeof(struct tree_data),
                                          run_tree, clear_tree};
    struct tree_request request = {.selections = exploration->selections,
                                   .bottom_up = view->bottom_up,
                                   .hide = view->hide,
                                   .fold = view->fold,
                                   .growth = exploration->has_range};
    if (request.growth) {
        request.from_ns = exploration->range_from_ns;
        request.to_ns = exploration->range_to_ns;
    }
    const bool same = view->tree && memcmp(&request, &view->request, sizeof(request)) == 0;
    if (view->tree && !same) {
        note_places(view, exploration);
        tree_drop(view, exploration);
    }
    const struct tree_data *data = exploration_get(exploration, &view->tree_load, &kind, &request);
    if (!data || !data->tree || same)
        return false;
    take_tree(view, exploration, data);
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
    (void)selection;
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

void tree_begin_task(struct tree_view *view, struct exploration *exploration, enum tree_task task)
{
    const struct session_tree_order order = tree_order(view);
    if (!view->tree)
        return;
    /* Loads that can wait make way for it. */
    load_clear(&exploration->loader, &view->short_load);
    view->short_serial = 0;
    view->task.serial = ++view->serial;
    view->task.tree = session_tree_share(view->tree);
    view->task.task = task;
    view->task.measure = order.measure;
    view->task.descending = order.descending;
    view->busy = true;
    tree_take_task(view, exploration);
}

/* Runs the filter again after a setting has changed what frames are. */
static void run_filter_again(struct exploration *exploration)
{
    struct session_error error = {.message = ""};
    char *text = strdup(exploration->filter);
    if (text && !exploration_filter(exploration, text, &error))
        exploration_complain(exploration, "%s", error.message);
    free(text);
}

/* Shows what was selected and in focus in the tree before. If that is not there any more, the
 * hottest path is selected, or everything is shown. */
static void take_places(struct tree_view *view, struct exploration *exploration,
                        const struct task_data *data)
{
    if (data->focus == 0) {
        tell_lost_focus(view, exploration);
    } else {
        view->lost[0] = 0;
        view->focus = data->focus;
        tree_set_open(view, data->focus, true);
        tree_select(view, data->focus);
    }
    if (data->node != 0 && tree_is_below(view, data->node, view->focus))
        tree_select(view, data->node);
}

static void take_answer(struct tree_view *view, struct exploration *exploration,
                        const struct task_data *data)
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
        take_places(view, exploration, data);
        break;
    case TASK_FIND:
        if (data->node == 0)
            exploration_complain(exploration, "no function%s has \"%.150s\" in its name",
                                 view->focus ? " below this one" : "", view->search);
        tree_select(view, data->node);
        break;
    case TASK_WRAPPER:
        session_printable(shown, sizeof(shown), view->task.text);
        exploration_say(exploration, "a wrapper now (--delete-setting undoes it)%s%.120s: %.120s",
                        data->note[0] ? ", " : "", data->note, shown);
        run_filter_again(exploration);
        break;
    case TASK_FLAME:
        break;
    }
}

void tree_take_task(struct tree_view *view, struct exploration *exploration)
{
    if (!view->busy)
        return;
    const struct task_data *data =
        exploration_get(exploration, &view->task_load, &task_kind, &view->task);
    if (!data && view->task_load.job)
        return;
    view->busy = false;
    if (data && data->good)
        take_answer(view, exploration, data);
}

/* ---- what can wait ---------------------------------------------------------------------- */

static bool run_test(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct task_data *data = context;
    struct session_error none;
    (void)selection;
    (void)error;
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

void tree_list(struct tree_view *view, struct exploration *exploration)
{
    char *step = NULL;
    const uint32_t node = tree_selected(view);
    view->list_soon = node != 0 && node != view->tested;
    if (node == 0 || view->list_soon)
        return;
    if (!view->test || !view->test[0]) {
        exploration_complain(exploration, "no filter can name these allocations");
        return;
    }
    if (!view->exact)
        exploration_say(exploration, "these are of other paths, too: no filter tells them apart");
    if (asprintf(&step, "where %s", view->test) >= 0)
        exploration_list(exploration, step);
    free(step);
}

static bool run_short(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    (void)session;
    (void)selection;
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

void tree_load_rest(struct tree_view *view, struct exploration *exploration)
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
        const struct task_data *data =
            exploration_get(exploration, &view->test_load, &test_kind, &request);
        if (data) {
            view->tested = node;
            view->test_serial = 0;
            view->exact = data->exact;
            free(view->test);
            view->test = strdup(data->test);
            free(view->on_stack);
            view->on_stack = data->on_stack ? strdup(data->on_stack) : NULL;
            if (view->list_soon)
                tree_list(view, exploration);
        }
    }
    if (!session_tree_short_known(view->tree) && view->width >= 90) {
        const struct tree_task_request request = rest_request(view, &view->short_serial, 0);
        exploration_get(exploration, &view->short_load, &short_kind, &request);
    }
    if (session_tree_short_known(view->tree) != view->short_known) {
        view->short_known = !view->short_known;
        tree_rows_make(view);
    }
}
