/* SPDX-License-Identifier: BSD-2-Clause */
/* What the selected node offers to filters, the clipboard and files. */
#include <string.h>

#include "tui/screen/short_name.h"
#include "tui/view/tree/tree.h"

static size_t offer_function(const struct exploration *exploration, uint32_t function,
                             const char *label, const char *test, struct view_offer *out)
{
    const char *name = session_function_name(exploration->session, function);
    char quoted[1100], shown[90];
    short_name(shown, sizeof(shown), name);
    if (!filter_quote(quoted, sizeof(quoted), name)[0])
        return 0;
    snprintf(out->label, sizeof(out->label), "%s: %s", label, shown);
    snprintf(out->step, sizeof(out->step), "where %s %s", test, quoted);
    return 1;
}

size_t tree_offers(void *state, struct exploration *exploration, struct view_offer *out,
                   size_t capacity)
{
    struct tree_view *view = state;
    const uint32_t node = tree_selected(view);
    size_t count = 0;
    if (!view->tree || node == 0 || capacity < 3)
        return 0;
    const struct session_tree_node *of = session_tree_node(view->tree, node);
    char label[90];
    tree_label(view, exploration->session, node, label, sizeof(label));
    if (node == view->tested && view->test && view->test[0] &&
        strlen(view->test) + sizeof("where ") <= sizeof(out[0].step)) {
        snprintf(out[count].label, sizeof(out[count].label), "%s: %s",
                 view->exact ? "this path" : "this path, and some others", label);
        snprintf(out[count++].step, sizeof(out[0].step), "where %s", view->test);
    }
    if (of->functions == 1) {
        count += offer_function(exploration, of->function, "this function, anywhere on the stack",
                                "stack has", &out[count]);
        if (of->kind == TREE_FUNCTION)
            count += offer_function(exploration, of->function, "as the innermost own function",
                                    "user ==", &out[count]);
    }
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

bool tree_table(void *state, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct tree_view *view = state;
    struct tree_rows rows = {view, exploration};
    const struct table_source source = tree_source(&rows);
    if (view->count == 0)
        return false;
    table_write(&source, out, format);
    return true;
}
