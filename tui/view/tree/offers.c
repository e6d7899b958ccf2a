/* SPDX-License-Identifier: BSD-2-Clause */
/* Offers the selected node to filters, the clipboard and files. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/short_name.h"
#include "tui/view/common/list.h"
#include "tui/view/tree/tree.h"

/* Offers a test by name. It takes all functions of that name, and the label says so. */
static size_t offer_name(const struct exploration *exploration, uint32_t function,
                         const char *label, const char *test, struct view_offer *out)
{
    const char *name = session_function_name(exploration->session, function);
    char quoted[1100], shown[80];
    short_name(shown, sizeof(shown), name);
    if (!filter_quote(quoted, sizeof(quoted), name)[0])
        return 0;
    snprintf(out->label, sizeof(out->label), "%s%s: %s", list_named(exploration->session, function),
             label, shown);
    snprintf(out->step, sizeof(out->step), "where %s %s", test, quoted);
    return 1;
}

/* Offers a test of any length. */
static size_t offer_test(const char *label, const char *shown, const char *test,
                         struct view_offer *out)
{
    if (!test || !test[0] || asprintf(&out->long_step, "where %s", test) < 0) {
        out->long_step = NULL;
        return 0;
    }
    snprintf(out->label, sizeof(out->label), "%s: %.80s", label, shown);
    return 1;
}

size_t tree_offers(void *state, struct exploration *exploration, struct view_offer *out,
                   size_t capacity)
{
    struct tree_view *view = state;
    const struct session *session = exploration->session;
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
        const char *place = session_function_place(session, of->function);
        char name[80], shown[120];
        short_name(name, sizeof(name), session_function_name(session, of->function));
        snprintf(shown, sizeof(shown), "%.50s (%.30s)", name,
                 *place ? place : session_function_module(session, of->function));
        count +=
            offer_test("this function, anywhere on the stack", shown, view->on_stack, &out[count]);
    }
    count +=
        offer_name(exploration, of->function, ", anywhere on the stack", "stack has", &out[count]);
    if (of->kind == TREE_FUNCTION)
        count += offer_name(exploration, of->function, ", as the innermost own function",
                            "user ==", &out[count]);
    return count;
}

bool tree_copy(void *state, struct exploration *exploration, FILE *out)
{
    const struct tree_view *view = state;
    uint32_t nodes[TREE_PATH_MAX];
    size_t count = 0;
    if (!view->tree || tree_selected(view) == 0)
        return false;
    for (uint32_t node = tree_selected(view); node != 0 && count < TREE_PATH_MAX;
         node = session_tree_node(view->tree, node)->parent)
        nodes[count++] = node;
    struct tree_rows rows = {view, exploration};
    const struct table_source source = tree_source(&rows);
    table_copy(&source, view->table.selected, out);
    while (count-- > 0) {
        uint32_t functions[16];
        const size_t members = session_tree_functions(view->tree, nodes[count], functions, 16);
        char label[64];
        if (members == 0) {
            tree_label(view, exploration->session, nodes[count], label, sizeof(label));
            fprintf(out, "  %s\n", label);
        }
        for (size_t i = 0; i < members && i < 16; i++) {
            char name[4096];
            session_printable(name, sizeof(name),
                              session_function_name(exploration->session, functions[i]));
            fprintf(out, "  %s%s  %s\n", i > 0 ? "\u21c4 " : "", name,
                    session_function_place(exploration->session, functions[i]));
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
    [FILE_FROM] = {.title = "total_from_bytes"},
    [FILE_TO] = {.title = "total_to_bytes"},
    [FILE_LEVEL] = {.title = "level"},
    [FILE_NAME] = {.title = "function", .text = true},
    [FILE_PLACE] = {.title = "place", .text = true},
};

struct file {
    const struct tree_view *view;
    const struct exploration *exploration;
    char name[16384];
};

static void put_file_name(struct file *file, uint32_t node)
{
    const struct session *session = file->exploration->session;
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
    return column != FILE_SHORT || session_tree_short_known(view->tree);
}

static void put_file_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    struct file *file = context;
    const uint32_t node = file->view->rows[row];
    const struct session_tree_node *of = session_tree_node(file->view->tree, node);
    const struct session_tree_sums *sums = &of->sums;
    const uint64_t numbers[FILE_NAME] = {sums->at_peak_bytes, sums->at_peak_count,
                                         sums->bytes,         sums->allocations,
                                         sums->live_bytes,    sums->live_count,
                                         sums->short_count,   sums->from_bytes,
                                         sums->to_bytes,      of->depth};
    if (column == FILE_NAME) {
        put_file_name(file, node);
        cell->name = file->name;
    } else if (column == FILE_PLACE) {
        cell->name = of->functions > 0
                         ? session_function_place(file->exploration->session, of->function)
                         : "";
    } else if (is_known(file->view, column)) {
        cell->is_number = true;
        cell->number = numbers[column];
    }
}

bool tree_table(void *state, struct exploration *exploration, FILE *out, enum table_format format)
{
    struct tree_view *view = state;
    struct file *file = calloc(1, sizeof(*file));
    if (!file || view->count == 0) {
        free(file);
        return false;
    }
    file->view = view;
    file->exploration = exploration;
    const struct table_source source = {.context = file,
                                        .columns = file_columns,
                                        .column_count = FILE_COLUMNS,
                                        .rows = view->count,
                                        .cell = put_file_cell};
    table_write(&source, out, format);
    free(file);
    return true;
}
