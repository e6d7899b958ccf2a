/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree as rows: the open nodes, their children, and what a row shows. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/short_name.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/tree/tree.h"

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
        [TREE_COLUMN_LIVE] = TREE_LIVE,       [TREE_COLUMN_SHORT] = TREE_SHORT,
        [TREE_COLUMN_NAME] = TREE_NAME,       [TREE_COLUMN_PLACE] = TREE_NAME,
    };
    return (struct session_tree_order){measures[view->table.sort], view->table.descending};
}

/* Makes room for more rows. */
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

/* Appends the children of a node in their order. */
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

/*
 * Puts the rows below each other. Children are appended to a list of nodes that wait, from which
 * the last one is taken: a depth-first walk without recursion.
 */
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

bool tree_is_below(const struct tree_view *view, uint32_t node, uint32_t top)
{
    while (node != 0 && node != top)
        node = session_tree_node(view->tree, node)->parent;
    return node == top;
}

void tree_select(struct tree_view *view, uint32_t node)
{
    if (!view->tree || node == 0)
        return;
    if (!tree_is_below(view, node, view->focus))
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
    [TREE_COLUMN_AT_PEAK] = {.title = "program peak",
                             .width = 12,
                             .keep = true,
                             .meaning = "bytes that were live at the program's peak"},
    [TREE_COLUMN_GROWTH] = {.title = "growth",
                            .width = 7,
                            .keep = true,
                            .meaning = "live at the end of the marked range, less at its start"},
    [TREE_COLUMN_BYTES] = {.title = "allocated",
                           .width = 9,
                           .least_width = 60,
                           .meaning = "bytes of all allocations"},
    [TREE_COLUMN_COUNT] = {.title = "count",
                           .width = 6,
                           .least_width = 76,
                           .meaning = "all allocations"},
    [TREE_COLUMN_LIVE] = {.title = "live",
                          .width = 6,
                          .least_width = 68,
                          .meaning = "bytes that were never freed"},
    [TREE_COLUMN_SHORT] = {.title = "short",
                           .width = 5,
                           .least_width = 90,
                           .meaning = "share of the allocations that lived less than 1 ms"},
    [TREE_COLUMN_NAME] = {.title = "function", .text = true, .keep = true, .cut = TABLE_CUT_BRANCH},
    [TREE_COLUMN_PLACE] =
        {.title = "where", .width = 24, .text = true, .unsorted = true, .least_width = 110},
};

/* The same without the growth, which needs a range. */
static const struct table_column *columns_of(const struct tree_view *view)
{
    static struct table_column plain[TREE_COLUMNS];
    if (view->request.growth)
        return columns;
    if (!plain[0].title) {
        memcpy(plain, columns, sizeof(plain));
        plain[TREE_COLUMN_GROWTH].keep = false;
        plain[TREE_COLUMN_GROWTH].unsorted = true;
        plain[TREE_COLUMN_GROWTH].least_width = 1 << 20;
    }
    return plain;
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
static void put_row(const struct tree_view *view, const struct exploration *exploration,
                    uint32_t node, struct table_cell *cell)
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
    tree_label(view, exploration->session, node, whole, sizeof(whole));
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
        cell->apart = list_function_name(exploration->session, of->function);
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
    case TREE_COLUMN_SHORT:
        if (session_tree_short_known(view->tree))
            format_percent(cell->text, of->sums.short_count, of->sums.allocations);
        break;
    case TREE_COLUMN_NAME:
        put_row(view, rows->exploration, node, cell);
        break;
    default:
        if (of->functions > 0) {
            cell->name = session_function_place(rows->exploration->session, of->function);
            if (!cell->name[0])
                cell->name = session_function_module(rows->exploration->session, of->function);
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
                                 .about = rows->exploration->about,
                                 .cell = put_cell,
                                 .key = key_of};
}

bool tree_keep_order(void *view, struct table_order *order, bool set)
{
    struct tree_view *state = view;
    return table_order(&state->table, columns, TREE_COLUMNS, order, set);
}
