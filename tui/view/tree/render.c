/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the tree: as rows, or as a flame graph. */
#include <string.h>

#include "schemas/code/short_name.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/common/moments.h"
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

void tree_flame_load(struct tree_view *view, struct browse *browse, const struct table_place *place)
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
    tree_begin_task(view, browse, TASK_FLAME);
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
    int deepest; /* level of a box */
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
    for (uint32_t i = 0; i < count && used < CHILDREN_MAX; i++)
        if (value_of(view, first + i) * box->width >= whole)
            children[used++] = first + i;
    session_tree_sort(view->tree, &order, children, used);
    return used;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most as deep as the screen is high */
static void lay_box(struct laying *laying, const struct box *box)
{
    uint32_t children[CHILDREN_MAX];
    if (box->level > laying->deepest)
        laying->deepest = box->level;
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

/* The rows of the levels: together they fill the height. */
struct levels {
    int count, rows;
};

struct drawing {
    const struct tree_view *view;
    const struct browse *browse;
    const struct area *area;
    struct levels levels;
};

static bool look_nowhere(void *context, const struct box *box)
{
    return true;
}

static struct levels levels_of(const struct tree_view *view, int width, int height)
{
    struct laying laying = {view, height, look_nowhere, NULL, false, 0};
    lay_boxes(&laying, width);
    return (struct levels){laying.deepest + 1, height};
}

/* Returns the rows between the root's side and the boxes of a level. */
static int rows_before(const struct levels *levels, int level)
{
    return level * levels->rows / levels->count;
}

/* Returns true if a node is the selected one or above it. */
static bool is_on_path(const struct tree_view *view, uint32_t node)
{
    uint32_t at = tree_selected(view);
    while (at != 0 && at != node)
        at = session_tree_node(view->tree, at)->parent;
    return at == node && node != 0;
}

static bool draw_box(void *context, const struct box *box)
{
    const struct drawing *drawing = context;
    const struct tree_view *view = drawing->view;
    const struct grid *grid = drawing->area->grid;
    const int before = rows_before(&drawing->levels, box->level);
    const int tall = rows_before(&drawing->levels, box->level + 1) - before;
    const int y = view->shape == SHAPE_ICICLE ? before : drawing->area->height - before - tall;
    const int64_t whole = value_of(view, view->focus);
    char label[300], text[400], bytes[FORMAT_SIZE], percent[FORMAT_SIZE];
    tree_label(view, drawing->browse->session, box->node, label, sizeof(label));
    const int64_t value = value_of(view, box->node);
    const bool count = measure_of(view) == TREE_COUNT || measure_of(view) == TREE_SHORT;
    if (count)
        format_count_short(bytes, (uint64_t)value);
    else
        format_size_short(bytes, (uint64_t)value);
    format_percent(percent, (uint64_t)value, (uint64_t)whole);
    const bool chosen = box->node == tree_selected(view);
    struct cell_style style = theme_heat(grid, whole > 0 ? (double)value / (double)whole : 0);
    if (is_on_path(view, box->node))
        style = theme_style(chosen ? THEME_CHOSEN : THEME_PATH);
    /* The first column of a box sets it apart from the one before, a line from the one below. */
    area_fill(drawing->area, box->x, y, box->width, tall, ' ', style);
    const bool apart = box->width > 2;
    for (int row = 0; apart && row < tall; row++)
        area_put(drawing->area, box->x, y + row, chosen ? 0x25b8 : 0x258f, style);
    struct cell_style line = style;
    line.attributes |= CELL_UNDERLINE;
    if (tall > 1)
        area_restyle(drawing->area, box->x, y + tall - 1, box->width, line);
    const int left = box->width - apart;
    snprintf(text, sizeof(text), "%s %s %s", label, bytes, percent);
    if (text_width(text) > left)
        snprintf(text, sizeof(text), "%s %s", label, percent);
    if (text_width(text) > left)
        short_name_fit_again(text, sizeof(text), label, left);
    if (left >= 3)
        area_field(drawing->area, box->x + apart, y, left, style, text);
    return true;
}

static void flame_render(const struct tree_view *view, const struct browse *browse,
                         const struct area *area)
{
    struct drawing drawing = {view, browse, area, levels_of(view, area->width, area->height)};
    struct laying laying = {view, area->height, draw_box, &drawing, false, 0};
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
    const struct levels levels = levels_of(view, place->width, place->height);
    const int row = view->shape == SHAPE_ICICLE ? y - place->y : place->height - 1 - (y - place->y);
    struct looking looking = {.x = x - place->x};
    while (looking.level < levels.count && rows_before(&levels, looking.level + 1) <= row)
        looking.level++;
    struct laying laying = {view, place->height, look_at, &looking, false, 0};
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

enum { HEAD = 1, DETAILS = 4, DETAILS_LEAST = 16 };

struct tree_layout tree_lay_out(int width, int height)
{
    const int details = height >= DETAILS_LEAST ? DETAILS : 0;
    struct tree_layout layout = {.table = {0, HEAD, width, height - HEAD - details}};
    if (layout.table.height < 1)
        layout.table.height = 1;
    layout.details = details > 0 ? height - details : -1;
    return layout;
}

/* Writes the short names from the root, or the focus of before, to a node. */
static void put_path(const struct tree_view *view, const struct session *session, uint32_t node,
                     char *out, size_t size)
{
    uint32_t nodes[TREE_PATH_MAX];
    size_t count = 0, length = 0;
    for (uint32_t at = node; at != 0 && count < TREE_PATH_MAX;
         at = session_tree_node(view->tree, at)->parent)
        nodes[count++] = at;
    out[0] = 0;
    while (count-- > 0 && length + 1 < size) {
        char label[300];
        tree_label(view, session, nodes[count], label, sizeof(label));
        const char *between = count == 0 ? "" : view->bottom_up ? " < " : " > ";
        const int written = snprintf(out + length, size - length, "%s%s", label, between);
        length += written > 0 ? (size_t)written : 0;
    }
}

static void head(const struct tree_view *view, const struct browse *browse, const struct area *area)
{
    const struct cell_style style = theme_style(THEME_FAINT);
    static const char *const shapes[SHAPES] = {"", " \u00b7 flame", " \u00b7 icicle"};
    int x = 1;
    x += area_print(area, x, 0, theme_style(THEME_HEADING), "%s%s",
                    view->bottom_up ? "bottom-up"
                    : view->hide    ? "by user code"
                                    : "top-down",
                    shapes[view->shape]);
    x += area_print(area, x, 0, style, "  %s%s",
                    !view->hide       ? ""
                    : view->bottom_up ? "own code only \u00b7 "
                                      : "libraries hidden \u00b7 ",
                    view->fold ? "cycles folded" : "cycles open");
    if (view->focus == 0 || !view->tree)
        return;
    char path[2000];
    put_path(view, browse->session, view->focus, path, sizeof(path));
    x += area_text(area, x, 0, style, "  below ");
    area_text_end(area, x, 0, area->width - x - 1, theme_style(THEME_STRONG), path);
}

enum { TWO_PLACES_LEAST = 100 };

/* Draws the whole names of the selected node's functions. */
static void render_names(const struct tree_view *view, const struct browse *browse,
                         const struct area *area, int y, uint32_t node)
{
    uint32_t functions[16];
    const size_t count = session_tree_functions(view->tree, node, functions, 16);
    const struct session *session = browse->session;
    int x = 1;
    if (count == 1) {
        const char *declared = session_function_place(session, functions[0]);
        const char *name = session_function_name(session, functions[0]);
        char place[520];
        /* The line of the call comes first, the declaration second. */
        if (!tree_call_text(view, node, place, sizeof(place)))
            snprintf(place, sizeof(place), "%.500s", declared);
        else if (declared[0] && area->width >= TWO_PLACES_LEAST)
            snprintf(place + strlen(place), sizeof(place) - strlen(place),
                     " \u00b7 begins at %.240s", declared);
        const int width = area->width - 2 - (place[0] ? text_width(place) + 2 : 0);
        const int used = text_width(name) < width ? text_width(name) : width;
        area_field(area, x, y, used, theme_style(THEME_STRONG), name);
        if (place[0])
            area_text(area, x + used + 2, y, theme_style(THEME_FAINT), place);
        return;
    }
    if (count == 0) {
        char label[64];
        tree_label(view, session, node, label, sizeof(label));
        area_text(area, x, y, theme_style(THEME_STRONG), label);
        return;
    }
    x += area_print(area, x, y, theme_style(THEME_FAINT), "cycle of %zu: ", count);
    for (size_t i = 0; i < count && i < 16 && x < area->width - 1; i++) {
        char name[SHORT_NAME_SIZE];
        short_name(name, sizeof(name), session_function_name(session, functions[i]));
        const int left = area->width - 1 - x;
        const int width = text_width(name) < left ? text_width(name) : left;
        area_field(area, x, y, width, theme_style(THEME_STRONG), name);
        x += width;
        if (i + 1 < count)
            x += area_text(area, x, y, theme_style(THEME_FAINT), ", ");
    }
}

enum { PART_SIZE = 3 * FORMAT_SIZE, MEASURE_SIZE = 3 * PART_SIZE };

/* Writes bytes of a node, after those of its function itself if these are not NULL, as in "self
 * 1.00 KiB of 3.00 KiB". */
static const char *put_bytes(char *out, const char *about, uint64_t all, const uint64_t *self)
{
    char whole[FORMAT_SIZE], part[FORMAT_SIZE];
    format_size(whole, all);
    if (self && *self == 0)
        snprintf(out, PART_SIZE, "self 0 of %s%s", about, whole);
    else if (self)
        snprintf(out, PART_SIZE, "self %s%s of %s%s", about, format_size(part, *self), about,
                 whole);
    else
        snprintf(out, PART_SIZE, "%s%s", about, whole);
    return out;
}

/* Writes a number of blocks, as "2 of 3", or as "3" if none of them is the function's own. */
static const char *put_count(char *out, uint64_t all, const uint64_t *self)
{
    char whole[FORMAT_SIZE], part[FORMAT_SIZE];
    const bool some = self && *self > 0;
    snprintf(out, PART_SIZE, "%s%s%s", some ? format_count(part, *self) : "", some ? " of " : "",
             format_count(whole, all));
    return out;
}

static void put_growth(char *out, const struct session_tree_sums *all,
                       const struct session_tree_sums *self)
{
    char whole[FORMAT_SIZE], part[FORMAT_SIZE] = "";
    if (self)
        growth_text(part, (int64_t)(self->to_bytes - self->from_bytes));
    growth_text(whole, (int64_t)(all->to_bytes - all->from_bytes));
    snprintf(out, MEASURE_SIZE, "%s%s%s%s growth", self ? "self " : "", part, self ? " of " : "",
             whole);
}

/* Says what a node has of a measure and, unless `self` is NULL, what its function has itself.
 * Writes "" if it has nothing. */
static void put_measure(char *out, const char *about, enum session_tree_measure measure,
                        const struct session_tree_sums *all, const struct session_tree_sums *self)
{
    char bytes[PART_SIZE], count[PART_SIZE];
    out[0] = '\0';
    switch (measure) {
    case TREE_BYTES:
        put_bytes(bytes, about, all->bytes, self ? &self->bytes : NULL);
        put_count(count, all->allocations, self ? &self->allocations : NULL);
        snprintf(out, MEASURE_SIZE, "%s allocated in %s", bytes, count);
        break;
    case TREE_LIVE:
        put_bytes(bytes, about, all->live_bytes, self ? &self->live_bytes : NULL);
        put_count(count, all->live_count, self ? &self->live_count : NULL);
        if (all->live_count > 0)
            snprintf(out, MEASURE_SIZE, "%s in %s never freed", bytes, count);
        break;
    case TREE_SHORT:
        put_count(count, all->short_count, self ? &self->short_count : NULL);
        format_percent(bytes, all->short_count, all->allocations);
        if (all->short_count > 0)
            snprintf(out, MEASURE_SIZE, "%s%s lived under 1 ms",
                     !self               ? ""
                     : self->short_count ? "self "
                                         : "self 0 of ",
                     self ? count : bytes);
        break;
    case TREE_GROWTH:
        put_growth(out, all, self);
        break;
    case TREE_RESIDENT:
        put_bytes(bytes, about, all->resident, self ? &self->resident : NULL);
        snprintf(out, MEASURE_SIZE, "%s in memory at the cursor", bytes);
        break;
    default:
        put_bytes(bytes, about, all->at_peak_bytes, self ? &self->at_peak_bytes : NULL);
        put_count(count, all->at_peak_count, self ? &self->at_peak_count : NULL);
        snprintf(out, MEASURE_SIZE, "%s at the program's peak in %s block%s", bytes, count,
                 format_plural(all->at_peak_count));
    }
}

/* Draws the sums of a node, that of the sorted column first. With it goes what the function of the
 * node allocates itself, unless that is all of it, as it is from the call site outwards. */
static void render_sums(const struct tree_view *view, const struct browse *browse,
                        const struct area *area, int y, uint32_t node)
{
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    enum session_tree_measure order[] = {TREE_NAME, TREE_AT_PEAK, TREE_BYTES, TREE_LIVE,
                                         TREE_SHORT};
    struct session_tree_sums self;
    const bool has_self =
        !view->bottom_up && !of->leaf && session_tree_self(view->tree, node, &self);
    const enum session_tree_measure sorted = tree_order(view).measure;
    order[0] = sorted == TREE_COUNT ? TREE_BYTES : sorted == TREE_NAME ? TREE_AT_PEAK : sorted;
    int x = 1;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        char text[MEASURE_SIZE];
        if ((i > 0 && order[i] == order[0]) ||
            (order[i] == TREE_SHORT && !session_tree_short_known(view->tree)))
            continue;
        put_measure(text, browse->about, order[i], &of->sums, i == 0 && has_self ? &self : NULL);
        if (text[0])
            x += area_whole_text(area, x, y, theme_style(THEME_PLAIN), "%s%s",
                                 x > 1 ? " \u00b7 " : "", text);
    }
}

static void render_details(const struct tree_view *view, const struct browse *browse,
                           const struct area *area, int y)
{
    const uint32_t node = tree_selected(view);
    char path[4000];
    for (int x = 0; x < area->width; x++)
        area_put(area, x, y, 0x2500, theme_style(THEME_FAINT));
    if (node == 0)
        return;
    render_names(view, browse, area, y + 1, node);
    render_sums(view, browse, area, y + 2, node);
    put_path(view, browse->session, node, path, sizeof(path));
    area_text_end(area, 1, y + 3, area->width - 2, theme_style(THEME_FAINT), path);
}

void tree_render(const void *state, const struct browse *browse, const struct area *area)
{
    const struct tree_view *view = state;
    const struct tree_layout layout = tree_lay_out(area->width, area->height);
    const struct area part =
        area_part(area, layout.table.x, layout.table.y, layout.table.width, layout.table.height);
    struct tree_rows rows = {view, browse};
    head(view, browse, area);
    if (view->count == 0) {
        list_render_empty(browse, area, HEAD + 1, view->tree != NULL);
        return;
    }
    if (view->shape == SHAPE_ROWS) {
        const struct table_source source = tree_source(&rows);
        table_render(&view->table, &source, &part);
    } else {
        flame_render(view, browse, &part);
    }
    if (layout.details >= 0)
        render_details(view, browse, area, layout.details);
}
