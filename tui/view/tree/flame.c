/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree as boxes, as wide as what their nodes hold: a level is a row. In a flame the callers are
 * below, in an icicle above ("The Flame Graph" by B. Gregg, 2016; the order is by size, not by
 * name).
 */
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/tree/tree.h"

enum { LEVELS_MAX = 256 };

/* Boxes show bytes or numbers, never names. */
static enum session_tree_measure measure_of(const struct tree_view *view)
{
    const enum session_tree_measure measure = tree_order(view).measure;
    return measure == TREE_NAME || measure == TREE_GROWTH ? TREE_AT_PEAK : measure;
}

static int64_t value_of(const struct tree_view *view, uint32_t node)
{
    return session_tree_value(session_tree_node(view->tree, node), measure_of(view));
}

void tree_flame_load(struct tree_view *view, struct exploration *exploration,
                     const struct table_place *place)
{
    const struct tree_boxes *had = &view->boxes;
    const struct tree_boxes boxes = {view->tree, view->focus, measure_of(view), place->width,
                                     place->height};
    if (!view->tree || view->busy || place->width < 1 ||
        (boxes.tree == had->tree && boxes.focus == had->focus && boxes.measure == had->measure &&
         boxes.width == had->width && boxes.height == had->height))
        return;
    view->boxes = boxes;
    const int64_t whole = value_of(view, view->focus);
    view->task.node = view->focus;
    view->task.least = whole / place->width > 0 ? whole / place->width : 1;
    view->task.levels = place->height < LEVELS_MAX ? (uint32_t)place->height : LEVELS_MAX;
    tree_begin_task(view, exploration, TASK_FLAME);
}

/* ---- boxes ------------------------------------------------------------------------------ */

struct box {
    uint32_t node;
    int level, x, width;
};

/* Calls `visit` for each box that is at least a column wide; it stops if that returns false. */
struct laying {
    const struct tree_view *view;
    int levels;
    bool (*visit)(void *context, const struct box *box);
    void *context;
    bool stopped;
};

/* Sorted children of wide nodes are few: as many as there are columns. */
enum { CHILDREN_MAX = 1024 };

/* Returns the children that may be a column wide, the largest first. */
static size_t wide_children(const struct tree_view *view, const struct box *box, uint32_t *children)
{
    const struct session_tree_order order = {measure_of(view), true};
    const int64_t whole = value_of(view, box->node);
    uint32_t first, count;
    size_t used = 0;
    if (whole <= 0 || !session_tree_children(view->tree, box->node, &first, &count))
        return 0;
    for (uint32_t i = 0; i < count && used < CHILDREN_MAX; i++) {
        if (value_of(view, first + i) * box->width >= whole)
            children[used++] = first + i;
    }
    session_tree_sort(view->tree, &order, children, used);
    return used;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most as deep as the screen is high */
static void lay_box(struct laying *laying, const struct box *box)
{
    uint32_t children[CHILDREN_MAX];
    if (laying->stopped || !laying->visit(laying->context, box)) {
        laying->stopped = true;
        return;
    }
    if (box->level + 1 >= laying->levels)
        return;
    const int64_t whole = value_of(laying->view, box->node);
    const size_t count = wide_children(laying->view, box, children);
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t value = value_of(laying->view, children[i]);
        const int from = (int)((__int128)before * box->width / whole);
        before += value;
        const int to = (int)((__int128)before * box->width / whole);
        if (to > from)
            lay_box(laying, &(struct box){children[i], box->level + 1, box->x + from, to - from});
    }
}

static void lay_boxes(struct laying *laying, int width)
{
    if (laying->view->tree)
        lay_box(laying, &(struct box){laying->view->focus, 0, 0, width});
}

/* ---- drawing ---------------------------------------------------------------------------- */

struct drawing {
    const struct tree_view *view;
    const struct exploration *exploration;
    const struct area *area;
};

static int row_of(const struct tree_view *view, int height, int level)
{
    return view->shape == SHAPE_ICICLE ? level : height - 1 - level;
}

static bool draw_box(void *context, const struct box *box)
{
    const struct drawing *drawing = context;
    const struct tree_view *view = drawing->view;
    const struct grid *grid = drawing->area->grid;
    const int y = row_of(view, drawing->area->height, box->level);
    char label[300], text[360], bytes[FORMAT_SIZE];
    tree_label(view, drawing->exploration->session, box->node, label, sizeof(label));
    const int64_t value = value_of(view, box->node);
    const bool count = measure_of(view) == TREE_COUNT || measure_of(view) == TREE_SHORT;
    snprintf(text, sizeof(text), "%s %s", label,
             count ? format_count_short(bytes, (uint64_t)value)
                   : format_size_short(bytes, (uint64_t)value));
    /* A function has the colour that it has in the other views. */
    const size_t color = category_colors_slot(&drawing->exploration->colors, SESSION_COLOR_FUNCTION,
                                              label, THEME_CATEGORIES);
    struct cell_style style = theme_category(grid, color, THEME_CATEGORIES, -1);
    style.attributes |= CELL_REVERSE;
    if (grid_colors(grid) == 0 || box->node == view->focus)
        style = theme_style(THEME_HEADING);
    if (box->node == tree_selected(view))
        style = theme_style(THEME_CURSOR);
    /* The first column of a box sets it apart from the one before. */
    area_fill(drawing->area, box->x, y, box->width, 1, ' ', style);
    const bool apart = box->width > 2;
    if (apart)
        area_put(drawing->area, box->x, y, 0x258f, style);
    const int left = box->width - apart;
    if (left >= 3)
        area_field(drawing->area, box->x + apart, y, left, style,
                   text_width(text) <= left ? text : label);
    return true;
}

void tree_flame_render(const struct tree_view *view, const struct exploration *exploration,
                       const struct area *area)
{
    struct drawing drawing = {view, exploration, area};
    struct laying laying = {view, area->height, draw_box, &drawing, false};
    lay_boxes(&laying, area->width);
}

/* ---- the mouse and the arrows ----------------------------------------------------------- */

struct looking {
    int level, x;
    uint32_t node;
};

static bool look_at(void *context, const struct box *box)
{
    struct looking *looking = context;
    if (box->level == looking->level && looking->x >= box->x && looking->x < box->x + box->width)
        looking->node = box->node;
    return true;
}

uint32_t tree_flame_at(const struct tree_view *view, const struct table_place *place, int x, int y)
{
    if (x < place->x || x >= place->x + place->width || y < place->y ||
        y >= place->y + place->height)
        return 0;
    struct looking looking = {.level = row_of(view, place->height, y - place->y),
                              .x = x - place->x};
    struct laying laying = {view, place->height, look_at, &looking, false};
    lay_boxes(&laying, place->width);
    return looking.node;
}

uint32_t tree_flame_beside(const struct tree_view *view, enum action action)
{
    const uint32_t node = tree_selected(view);
    const bool inwards = action == (view->shape == SHAPE_ICICLE ? ACTION_DOWN : ACTION_UP);
    const bool along = action == ACTION_LEFT || action == ACTION_RIGHT;
    struct box all = {.node = node};
    uint32_t children[CHILDREN_MAX];
    if (node == 0 || !view->tree)
        return 0;
    if (!along && !inwards)
        return node == view->focus ? node : session_tree_node(view->tree, node)->parent;
    if (along)
        all.node = session_tree_node(view->tree, node)->parent;
    /* About as wide as it is on the screen. */
    const int64_t whole = value_of(view, view->focus);
    if (whole > 0)
        all.width = (int)((__int128)value_of(view, all.node) * view->width / whole);
    const size_t count = wide_children(view, &all, children);
    if (inwards)
        return count > 0 ? children[0] : node;
    for (size_t i = 0; i < count; i++) {
        if (children[i] != node)
            continue;
        if (action == ACTION_LEFT)
            return i > 0 ? children[i - 1] : node;
        return i + 1 < count ? children[i + 1] : node;
    }
    return node;
}
