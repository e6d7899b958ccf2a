/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree view: which path of calls holds how much, as rows or as boxes. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "tui/view/common/list.h"
#include "tui/view/common/offers.h"
#include "tui/view/tree/tree.h"

/* Offers a test by name. It takes all functions of that name, and the label says so. */
static size_t offer_name(const struct browse *browse, uint32_t function, const char *label,
                         const char *test, struct view_offer *out)
{
    const char *name = session_function_name(browse->session, function);
    char *quoted = filter_quoted(name), shown[80];
    short_name(shown, sizeof(shown), name);
    snprintf(out->label, sizeof(out->label), "%s%s: %s", list_named(browse->session, function),
             label, shown);
    const size_t count = quoted ? offer_step(out, "where %s %s", test, quoted) : 0;
    free(quoted);
    return count;
}

static size_t offer_test(const char *label, const char *shown, const char *test,
                         struct view_offer *out)
{
    snprintf(out->label, sizeof(out->label), "%s: %.80s", label, shown);
    return test && test[0] ? offer_step(out, "where %s", test) : 0;
}

static size_t tree_offers(void *state, struct browse *browse, struct view_offer *out,
                          size_t capacity)
{
    struct tree_view *view = state;
    const struct session *session = browse->session;
    const uint32_t node = tree_selected(view);
    size_t count = 0;
    if (!view->tree || node == 0 || capacity < 4)
        return 0;
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    const bool tested = node == view->tested;
    char label[90];
    tree_label(view, session, node, label, sizeof(label));
    if (tested)
        count += offer_test(view->exact ? "this path" : "this path, and some others", label,
                            view->test, &out[count]);
    if (of->functions != 1)
        return count;
    if (tested && view->on_stack) {
        char name[80], shown[120];
        short_name(name, sizeof(name), session_function_name(session, of->function));
        snprintf(shown, sizeof(shown), "%.50s (%.30s)", name,
                 list_function_place(session, of->function));
        count +=
            offer_test("this function, anywhere on the stack", shown, view->on_stack, &out[count]);
    }
    count += offer_name(browse, of->function, ", anywhere on the stack", "stack has", &out[count]);
    if (of->kind == TREE_FUNCTION)
        count += offer_name(browse, of->function, ", as the innermost own function",
                            "user ==", &out[count]);
    return count;
}

static bool tree_copy(void *state, struct browse *browse, FILE *out)
{
    const struct tree_view *view = state;
    uint32_t nodes[TREE_PATH_MAX];
    size_t count = 0;
    if (!view->tree || tree_selected(view) == 0)
        return false;
    for (uint32_t node = tree_selected(view); node != 0 && count < TREE_PATH_MAX;
         node = session_tree_node(view->tree, node)->parent)
        nodes[count++] = node;
    struct tree_rows rows = {view, browse};
    const struct table_source source = tree_source(&rows);
    table_copy(&source, view->table.selected, out);
    while (count-- > 0) {
        uint32_t functions[16];
        const size_t members = session_tree_functions(view->tree, nodes[count], functions, 16);
        char label[64];
        if (members == 0) {
            tree_label(view, browse->session, nodes[count], label, sizeof(label));
            fprintf(out, "  %s\n", label);
        }
        for (size_t i = 0; i < members && i < 16; i++) {
            char name[4096];
            session_printable(name, sizeof(name),
                              session_function_name(browse->session, functions[i]));
            fprintf(out, "  %s%s  %s\n", i > 0 ? "\u21c4 " : "", name,
                    session_function_place(browse->session, functions[i]));
        }
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------ */

enum {
    FILE_AT_PEAK,
    FILE_AT_PEAK_COUNT,
    FILE_BYTES,
    FILE_COUNT,
    FILE_LIVE,
    FILE_LIVE_COUNT,
    FILE_SHORT,
    FILE_RESIDENT,
    FILE_FROM,
    FILE_TO,
    FILE_LEVEL,
    FILE_NAME,
    FILE_PLACE,
    FILE_COLUMNS
};

/* All sums as they are, and whole names: of a cycle its functions with spaces between them. */
static const struct table_column file_columns[FILE_COLUMNS] = {
    [FILE_AT_PEAK] = {.title = "total_at_peak_bytes"},
    [FILE_AT_PEAK_COUNT] = {.title = "total_at_peak_count"},
    [FILE_BYTES] = {.title = "total_bytes"},
    [FILE_COUNT] = {.title = "total_allocations"},
    [FILE_LIVE] = {.title = "total_live_bytes"},
    [FILE_LIVE_COUNT] = {.title = "total_live_count"},
    [FILE_SHORT] = {.title = "total_short_count"},
    [FILE_RESIDENT] = {.title = "total_resident"},
    [FILE_FROM] = {.title = "total_from_bytes"},
    [FILE_TO] = {.title = "total_to_bytes"},
    [FILE_LEVEL] = {.title = "level"},
    [FILE_NAME] = {"function", .text = true},
    [FILE_PLACE] = {"place", .text = true},
};

struct file {
    const struct tree_view *view;
    const struct browse *browse;
    char name[16384];
};

static void put_file_name(struct file *file, uint32_t node)
{
    const struct session *session = file->browse->session;
    uint32_t functions[256];
    size_t count = session_tree_functions(file->view->tree, node, functions, 256), length = 0;
    if (count == 0)
        tree_label(file->view, session, node, file->name, sizeof(file->name));
    for (size_t i = 0; i < count && i < 256 && length < sizeof(file->name); i++)
        length +=
            (size_t)snprintf(file->name + length, sizeof(file->name) - length, "%s%s",
                             i > 0 ? " \u21c4 " : "", session_function_name(session, functions[i]));
}

/* Returns false for a number that the tree has not found: without a range there are no A and B. */
static bool is_known(const struct tree_view *view, size_t column)
{
    if (column == FILE_FROM || column == FILE_TO)
        return view->request.growth;
    if (column == FILE_RESIDENT)
        return session_tree_resident_known(view->tree);
    return column != FILE_SHORT || session_tree_short_known(view->tree);
}

static void put_file_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    struct file *file = context;
    const uint32_t node = file->view->rows[row];
    const struct session_tree_node *of = session_tree_node(file->view->tree, node);
    const struct session_tree_sums *sums = &of->sums;
    const uint64_t numbers[FILE_NAME] = {
        sums->at_peak_bytes, sums->at_peak_count, sums->bytes,       sums->allocations,
        sums->live_bytes,    sums->live_count,    sums->short_count, sums->resident,
        sums->from_bytes,    sums->to_bytes,      of->depth};
    if (column == FILE_NAME) {
        put_file_name(file, node);
        cell->name = file->name;
    } else if (column == FILE_PLACE) {
        cell->name =
            of->functions > 0 ? session_function_place(file->browse->session, of->function) : "";
    } else if (is_known(file->view, column)) {
        cell->is_number = true;
        cell->number = numbers[column];
    }
}

static bool tree_table(void *state, struct browse *browse, FILE *out, enum table_format format)
{
    struct tree_view *view = state;
    struct file *file = calloc(1, sizeof(*file));
    if (!file || view->count == 0) {
        free(file);
        return false;
    }
    file->view = view;
    file->browse = browse;
    const struct table_source source = {.context = file,
                                        .columns = file_columns,
                                        .column_count = FILE_COLUMNS,
                                        .rows = view->count,
                                        .cell = put_file_cell};
    table_write(&source, out, format);
    free(file);
    return true;
}

static const struct key_binding bindings[] = {
    {ACTION_FOLLOW, "show what the function calls, or hide it; at the end: list the allocations",
     .keys = {KEYCODE_ENTER}, .footer = "open"},
    {ACTION_RIGHT, "open, then inwards", .keys = {KEYCODE_RIGHT}},
    {ACTION_LEFT, "close, then outwards", .keys = {KEYCODE_LEFT}},
    {ACTION_EXPAND_HOTTEST, "open the path that holds most, from here on", .keys = {'e'},
     .footer = "hottest"},
    {ACTION_FOCUS, "show only what lies below this function", .keys = {'.'}, .footer = "focus"},
    {ACTION_DIRECTION, "by user code, top-down, bottom-up", .keys = {'b'}, .footer = "bottom-up"},
    {ACTION_LIBRARIES, "hide the functions of libraries, or show them", .keys = {'S'},
     .footer = "libraries"},
    {ACTION_FLAME, "boxes as wide as what they hold: flame, icicle, rows again", .keys = {'F'},
     .footer = "flame"},
    {ACTION_MODE, "fold functions that call each other into one row, or not", .keys = {'C'}},
    {ACTION_WRAPPER, "mark the function as a wrapper of an allocator: its callers allocate then",
     .keys = {'M'}},
    {ACTION_OPEN, "the innermost line of your own code on the way to this row", .keys = {'o'}},
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

static void destroy(void *state, struct browse *browse)
{
    struct tree_view *view = state;
    tree_drop(view, browse);
    load_clear(&browse->loader, &view->tree_load);
    FREE_ALL(view->open, view->rows, view->test, view->on_stack, view);
}

/* ---- actions ---------------------------------------------------------------------------- */

static void open_node(struct tree_view *view, struct browse *browse, uint32_t node)
{
    uint32_t first, count;
    if (session_tree_children(view->tree, node, &first, &count)) {
        tree_set_open(view, node, true);
        tree_rows_make(view);
        return;
    }
    view->task.node = node;
    tree_begin_task(view, browse, TASK_EXPAND);
}

static void close_node(struct tree_view *view, uint32_t node)
{
    tree_set_open(view, node, false);
    tree_rows_make(view);
}

static void follow(struct tree_view *view, struct browse *browse)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    if (session_tree_node(view->tree, node)->leaf)
        tree_list(view, browse);
    else if (tree_is_open(view, node) && node != view->focus)
        close_node(view, node);
    else
        open_node(view, browse, node);
}

static void set_focus(struct tree_view *view, uint32_t node)
{
    view->focus = node;
    tree_rows_make(view);
}

/* Shows only what lies below the selected node, with the hottest path open, or everything again. */
static void focus_selected(struct tree_view *view, struct browse *browse)
{
    const uint32_t node = tree_selected(view);
    set_focus(view, node == view->focus ? 0 : node);
    if (view->focus == 0 || tree_is_open(view, node))
        return;
    view->task.node = node;
    tree_begin_task(view, browse, TASK_FOCUS);
}

/* Opens the selected node and goes inwards, or closes it and goes outwards. */
static void move_sideways(struct tree_view *view, struct browse *browse, bool inwards)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    const bool open = tree_is_open(view, node);
    if (inwards && !open && !session_tree_node(view->tree, node)->leaf) {
        open_node(view, browse, node);
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

static void search(struct tree_view *view, struct browse *browse, const struct view_input *input)
{
    if (input->action == ACTION_SEARCH)
        snprintf(view->search, sizeof(view->search), "%s", input->text);
    if (!view->search[0]) {
        browse_say(browse, "no search yet; / searches");
        return;
    }
    memset(view->task.text, 0, sizeof(view->task.text));
    memcpy(view->task.text, view->search, strlen(view->search));
    /* A new search begins at the top and looks into closed parts, too. */
    view->task.node = input->action == ACTION_SEARCH ? view->focus : tree_selected(view);
    view->task.within = view->focus;
    view->task.backward = input->action == ACTION_PREVIOUS;
    tree_begin_task(view, browse, TASK_FIND);
}

static void mark_wrapper(struct tree_view *view, struct browse *browse)
{
    const uint32_t node = tree_selected(view);
    const struct session_tree_node *of = node ? session_tree_node(view->tree, node) : NULL;
    if (!of || of->functions != 1 || of->function == 0) {
        browse_complain(browse, "only a single function can be a wrapper");
        return;
    }
    const char *name = session_function_name(browse->session, of->function);
    if (strlen(name) >= sizeof(view->task.text)) {
        browse_complain(browse, "the name is too long for a setting");
        return;
    }
    memset(view->task.text, 0, sizeof(view->task.text));
    memcpy(view->task.text, name, strlen(name));
    view->task.node = node;
    tree_begin_task(view, browse, TASK_WRAPPER);
}

/* by user code, top-down, bottom-up */
static void turn(struct tree_view *view)
{
    const bool by_user = view->hide && !view->bottom_up;
    view->bottom_up = !by_user && !view->bottom_up;
    view->hide = !by_user && !view->bottom_up;
}

static void show_source(const struct tree_view *view, struct browse *browse)
{
    const uint32_t node = tree_selected(view);
    const struct session_tree_node *of = node != 0 ? session_tree_node(view->tree, node) : NULL;
    const struct session_tree_line line =
        node != 0 ? session_tree_own_line(view->tree, node) : (struct session_tree_line){"", 0};
    if (line.line != 0)
        browse_open_source(browse, line.file, line.line);
    else if (of && of->functions > 0)
        browse_open_function(browse, of->function);
    else
        browse_say(browse, "this row is not a function");
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

static void act_on_table(struct tree_view *view, struct browse *browse,
                         const struct view_input *input, const struct table_place *place,
                         bool *used)
{
    struct tree_rows rows = {view, browse};
    struct table_source source = tree_source(&rows);
    const enum table_answer answer = list_update_table(browse, &view->table, &source, input, place);
    if (answer == TABLE_SORTED) {
        tree_rows_make(view);
        source = tree_source(&rows);
        table_settle(&view->table, &source, place);
    } else if (answer == TABLE_FOLLOW) {
        follow(view, browse);
    }
    *used = answer != TABLE_IGNORED;
}

/* Does an action on the nodes. Returns false if it means nothing here. */
static bool act(struct tree_view *view, struct browse *browse, const struct view_input *input)
{
    switch (input->action) {
    case ACTION_FOLLOW:
        follow(view, browse);
        return true;
    case ACTION_RIGHT:
    case ACTION_LEFT:
        move_sideways(view, browse, input->action == ACTION_RIGHT);
        return true;
    case ACTION_EXPAND_HOTTEST:
        view->task.node = tree_selected(view);
        tree_begin_task(view, browse, TASK_HOTTEST);
        return true;
    case ACTION_FOCUS:
        focus_selected(view, browse);
        return true;
    case ACTION_SEARCH:
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        search(view, browse, input);
        return true;
    case ACTION_WRAPPER:
        mark_wrapper(view, browse);
        return true;
    case ACTION_LIST:
        tree_list(view, browse);
        return true;
    case ACTION_OPEN:
        show_source(view, browse);
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
static void share(const struct tree_view *view, struct browse *browse)
{
    const uint32_t node = tree_selected(view);
    if (node == 0)
        return;
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    if (of->functions > 0) {
        browse->function = of->function;
        browse->has_function = true;
    }
}

static bool update(void *state, struct browse *browse, const struct view_input *input)
{
    struct tree_view *view = state;
    const struct tree_layout layout = tree_lay_out(input->width, input->height);
    bool used = true;
    view->width = input->width;
    const bool changed = change(view, input->action, &used);
    tree_load(view, browse);
    tree_take_task(view, browse);
    if (!changed && view->tree) {
        const bool boxes = view->shape != SHAPE_ROWS;
        used = (boxes && act_on_boxes(view, input, &layout.table)) || act(view, browse, input);
        if (!used && !boxes)
            act_on_table(view, browse, input, &layout.table, &used);
    }
    tree_load(view, browse); /* a setting may have changed it */
    struct tree_rows rows = {view, browse};
    const struct table_source source = tree_source(&rows);
    table_settle(&view->table, &source, &layout.table);
    if (view->shape != SHAPE_ROWS)
        tree_flame_load(view, browse, &layout.table);
    if (!input->more)
        tree_load_rest(view, browse);
    share(view, browse);
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
