/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree view: which path of calls holds how much, as rows or as boxes. */
#include "tui/view/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "tui/view/common/list.h"

static const struct key_binding bindings[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "open",
     .description = "show what the function calls, or hide it; at the end: list the allocations"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "open, then inwards"},
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "close, then outwards"},
    {.keys = {'e'},
     .action = ACTION_EXPAND_HOTTEST,
     .footer = "hottest",
     .description = "open the path that holds most, from here on"},
    {.keys = {'.'},
     .action = ACTION_FOCUS,
     .footer = "focus",
     .description = "show only what lies below this function"},
    {.keys = {'b'},
     .action = ACTION_DIRECTION,
     .footer = "bottom-up",
     .description = "by user code, top-down, bottom-up"},
    {.keys = {'S'},
     .action = ACTION_LIBRARIES,
     .footer = "libraries",
     .description = "hide the functions of libraries, or show them"},
    {.keys = {'F'},
     .action = ACTION_FLAME,
     .footer = "flame",
     .description = "boxes as wide as what they hold: flame, icicle, rows again"},
    {.keys = {'C'},
     .action = ACTION_MODE,
     .description = "fold functions that call each other into one row, or not"},
    {.keys = {'M'},
     .action = ACTION_WRAPPER,
     .description = "mark the function as a wrapper of an allocator: its callers allocate then"},
    {.keys = {'o'}, .action = ACTION_OPEN, .description = "the source of the function"},
};

static void *create(void)
{
    struct tree_view *view = calloc(1, sizeof(*view));
    if (view) {
        view->hide = view->fold = true;
        view->table.sort = TREE_COLUMN_AT_PEAK;
        view->table.descending = true;
    }
    return view;
}

static void destroy(void *state, struct exploration *exploration)
{
    struct tree_view *view = state;
    tree_drop(view, exploration);
    load_clear(&exploration->loader, &view->tree_load);
    free(view->open);
    free(view->rows);
    free(view->test);
    free(view->on_stack);
    free(view);
}

/* ---- actions ---------------------------------------------------------------------------- */

static void open_node(struct tree_view *view, struct exploration *exploration, uint32_t node)
{
    uint32_t first, count;
    if (session_tree_children(view->tree, node, &first, &count)) {
        tree_set_open(view, node, true);
        tree_rows_make(view);
        return;
    }
    view->task.node = node;
    tree_begin_task(view, exploration, TASK_EXPAND);
}

static void close_node(struct tree_view *view, uint32_t node)
{
    tree_set_open(view, node, false);
    tree_rows_make(view);
}

static void follow(struct tree_view *view, struct exploration *exploration)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    if (session_tree_node(view->tree, node)->leaf)
        tree_list(view, exploration);
    else if (tree_is_open(view, node) && node != view->focus)
        close_node(view, node);
    else
        open_node(view, exploration, node);
}

static void set_focus(struct tree_view *view, uint32_t node)
{
    view->focus = node;
    tree_rows_make(view);
}

/* Shows only what lies below the selected node, with the hottest path open, or everything again. */
static void focus_selected(struct tree_view *view, struct exploration *exploration)
{
    const uint32_t node = tree_selected(view);
    set_focus(view, node == view->focus ? 0 : node);
    if (view->focus == 0 || tree_is_open(view, node))
        return;
    view->task.node = node;
    tree_begin_task(view, exploration, TASK_FOCUS);
}

/* Opens the selected node and goes inwards, or closes it and goes outwards. */
static void move_sideways(struct tree_view *view, struct exploration *exploration, bool inwards)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    const bool open = tree_is_open(view, node);
    if (inwards && !open && !session_tree_node(view->tree, node)->leaf) {
        open_node(view, exploration, node);
    } else if (inwards) {
        if (view->table.selected + 1 < view->count &&
            session_tree_node(view->tree, view->rows[view->table.selected + 1])->parent == node)
            tree_select(view, view->rows[view->table.selected + 1]);
    } else if (open && node != view->focus) {
        close_node(view, node);
    } else if (node != view->focus) {
        tree_select(view, session_tree_node(view->tree, node)->parent);
    }
}

static void search(struct tree_view *view, struct exploration *exploration,
                   const struct view_input *input)
{
    if (input->action == ACTION_SEARCH)
        snprintf(view->search, sizeof(view->search), "%s", input->text);
    if (!view->search[0]) {
        exploration_say(exploration, "no search yet; / searches");
        return;
    }
    memset(view->task.text, 0, sizeof(view->task.text));
    memcpy(view->task.text, view->search, strlen(view->search));
    /* A new search begins at the top and looks into closed parts, too. */
    view->task.node = input->action == ACTION_SEARCH ? view->focus : tree_selected(view);
    view->task.within = view->focus;
    view->task.backward = input->action == ACTION_PREVIOUS;
    tree_begin_task(view, exploration, TASK_FIND);
}

static void mark_wrapper(struct tree_view *view, struct exploration *exploration)
{
    const uint32_t node = tree_selected(view);
    const struct session_tree_node *of = node ? session_tree_node(view->tree, node) : NULL;
    if (!of || of->functions != 1 || of->function == 0) {
        exploration_complain(exploration, "only a single function can be a wrapper");
        return;
    }
    const char *name = session_function_name(exploration->session, of->function);
    if (strlen(name) >= sizeof(view->task.text)) {
        exploration_complain(exploration, "the name is too long for a setting");
        return;
    }
    memset(view->task.text, 0, sizeof(view->task.text));
    memcpy(view->task.text, name, strlen(name));
    view->task.node = node;
    tree_begin_task(view, exploration, TASK_WRAPPER);
}

/* by user code, top-down, bottom-up */
static void turn(struct tree_view *view)
{
    const bool by_user = view->hide && !view->bottom_up;
    view->bottom_up = !by_user && !view->bottom_up;
    view->hide = !by_user && !view->bottom_up;
}

static void show_source(const struct tree_view *view, struct exploration *exploration)
{
    const uint32_t node = tree_selected(view);
    const struct session_tree_node *of = node != 0 ? session_tree_node(view->tree, node) : NULL;
    if (of && of->functions > 0)
        exploration_open_function(exploration, of->function);
    else
        exploration_say(exploration, "this row is not a function");
}

static bool back(struct tree_view *view)
{
    if (view->shape != SHAPE_ROWS)
        view->shape = SHAPE_ROWS;
    else if (view->focus != 0)
        set_focus(view, 0);
    else
        return false;
    return true;
}

/* ---- boxes ------------------------------------------------------------------------------ */

/* Returns false if the action means nothing to boxes. */
static bool act_on_boxes(struct tree_view *view, const struct view_input *input,
                         const struct table_place *place)
{
    uint32_t node;
    switch (input->action) {
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_LEFT:
    case ACTION_RIGHT:
        tree_select(view, tree_flame_beside(view, input->action));
        return true;
    case ACTION_CLICK:
        node = tree_flame_at(view, place, input->x, input->y);
        tree_select(view, node);
        if (node != 0 && input->twice)
            set_focus(view, node);
        return true;
    case ACTION_FOLLOW:
    case ACTION_ZOOM_IN:
        set_focus(view, tree_selected(view));
        return true;
    case ACTION_ZOOM_OUT:
        if (view->focus != 0)
            set_focus(view, session_tree_node(view->tree, view->focus)->parent);
        return true;
    case ACTION_ZOOM_ALL:
        set_focus(view, 0);
        return true;
    default:
        return false;
    }
}

/* ---- update ----------------------------------------------------------------------------- */

static void act_on_table(struct tree_view *view, struct exploration *exploration,
                         const struct view_input *input, const struct table_place *place,
                         bool *used)
{
    struct tree_rows rows = {view, exploration};
    struct table_source source = tree_source(&rows);
    const enum table_answer answer = list_update(exploration, &view->table, &source, input, place);
    if (answer == TABLE_SORTED) {
        tree_rows_make(view);
        source = tree_source(&rows);
        table_settle(&view->table, &source, place);
    } else if (answer == TABLE_FOLLOW) {
        follow(view, exploration);
    }
    *used = answer != TABLE_IGNORED;
}

/* Does an action on the nodes. Returns false if it means nothing here. */
static bool act(struct tree_view *view, struct exploration *exploration,
                const struct view_input *input)
{
    switch (input->action) {
    case ACTION_FOLLOW:
        follow(view, exploration);
        return true;
    case ACTION_RIGHT:
    case ACTION_LEFT:
        move_sideways(view, exploration, input->action == ACTION_RIGHT);
        return true;
    case ACTION_EXPAND_HOTTEST:
        view->task.node = tree_selected(view);
        tree_begin_task(view, exploration, TASK_HOTTEST);
        return true;
    case ACTION_FOCUS:
        focus_selected(view, exploration);
        return true;
    case ACTION_SEARCH:
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        search(view, exploration, input);
        return true;
    case ACTION_WRAPPER:
        mark_wrapper(view, exploration);
        return true;
    case ACTION_LIST:
        tree_list(view, exploration);
        return true;
    case ACTION_OPEN:
        show_source(view, exploration);
        return true;
    default:
        return false;
    }
}

/* Changes which tree is shown, and how. Returns false for other actions. */
static bool change(struct tree_view *view, enum action action, bool *used)
{
    switch (action) {
    case ACTION_DIRECTION:
        turn(view);
        return true;
    case ACTION_LIBRARIES:
        view->hide = !view->hide;
        return true;
    case ACTION_MODE:
        view->fold = !view->fold;
        return true;
    case ACTION_FLAME:
        view->shape = (view->shape + 1) % SHAPES;
        return true;
    case ACTION_BACK:
        *used = back(view);
        return true;
    default:
        return false;
    }
}

/* Tells the other views what is selected here. */
static void share(const struct tree_view *view, struct exploration *exploration)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    exploration->stack = session_tree_stack(view->tree, node);
    exploration->has_stack = true;
    if (of->functions > 0) {
        exploration->function = of->function;
        exploration->has_function = true;
    }
}

static bool update(void *state, struct exploration *exploration, const struct view_input *input)
{
    struct tree_view *view = state;
    const struct tree_layout layout = tree_lay_out(input->width, input->height);
    bool used = true;
    view->width = input->width;
    const bool changed = change(view, input->action, &used);
    tree_load(view, exploration);
    tree_take_task(view, exploration);
    if (!changed && view->tree) {
        const bool boxes = view->shape != SHAPE_ROWS;
        used = (boxes && act_on_boxes(view, input, &layout.table)) || act(view, exploration, input);
        if (!used && !boxes)
            act_on_table(view, exploration, input, &layout.table, &used);
    }
    tree_load(view, exploration); /* a setting may have changed it */
    struct tree_rows rows = {view, exploration};
    const struct table_source source = tree_source(&rows);
    table_settle(&view->table, &source, &layout.table);
    if (view->shape != SHAPE_ROWS)
        tree_flame_load(view, exploration, &layout.table);
    if (!input->more)
        tree_load_rest(view, exploration);
    share(view, exploration);
    return used || input->action == ACTION_REFRESH;
}

const struct view_ops tree_view = {
    .name = "tree",
    .title = "Tree",
    .help = "Paths of calls and what they hold. It opens by user code: without the functions of "
            "libraries, with those that call each other in a circle as one row (\u21c4). Below the "
            "rows, self is what the selected function allocates itself and not by those that it "
            "calls; bottom-up the first rows count just that.",
    .keys = KEY_TABLE(bindings),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = tree_render,
    .offers = tree_offers,
    .copy = tree_copy,
    .order = tree_keep_order,
    .table = tree_table,
};
