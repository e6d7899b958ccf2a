/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes trees, and what another thread may read of them. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/scan.h"
#include "session/tree/tree_state.h"
#include "session/user/user.h"

bool tree_go_on(const struct session_tree *tree, size_t i, struct session_error *error)
{
    return i % 1024 != 0 || scan_go_on(tree->session, error);
}

struct tree_node *tree_node(const struct session_tree *tree, uint32_t node)
{
    const uint32_t from_first = node + (1u << ARRAY_BITS);
    const unsigned array = 31 - (unsigned)__builtin_clz(from_first) - ARRAY_BITS;
    return &tree->arrays[array][from_first - (1u << (ARRAY_BITS + array))];
}

/* ---- sums ------------------------------------------------------------------------------- */

/* Returns true if a row holds more at the peak than another one, or else in all. */
static bool is_heavier(const struct session_stack_sums *row, const struct session_stack_sums *other)
{
    return row->at_peak_bytes != other->at_peak_bytes ? row->at_peak_bytes > other->at_peak_bytes
                                                      : row->bytes > other->bytes;
}

void tree_add_row(const struct session_tree *tree, uint32_t row, struct tree_node *node)
{
    const struct session_stack_sums *of = &tree->rows[row];
    struct session_tree_sums *sums = &node->public.sums;
    if (node->heaviest == 0 || is_heavier(of, &tree->rows[node->heaviest - 1]))
        node->heaviest = row + 1;
    sums->at_peak_bytes += of->at_peak_bytes;
    sums->at_peak_count += of->at_peak_count;
    sums->bytes += of->bytes;
    sums->allocations += of->allocations;
    sums->live_bytes += of->live_bytes;
    sums->live_count += of->live_count;
    sums->short_count += of->short_count;
    if (tree->from_bytes) {
        sums->from_bytes += tree->from_bytes[row];
        sums->to_bytes += tree->to_bytes[row];
    }
}

/* Stores the bytes of each row that were live at a moment. */
static uint64_t *bytes_at(struct session_tree *tree, uint64_t ns, struct session_error *error)
{
    const struct session_stacks_options options = {.at = true, .at_ns = ns};
    struct session_stack_sums *rows;
    size_t count;
    if (!selection_stacks(tree->selection, &options, &rows, &count, error))
        return NULL;
    uint64_t *bytes = malloc((tree->row_count + 1) * sizeof(*bytes));
    /* The same stacks in the same order. */
    for (size_t i = 0; bytes && i < tree->row_count && i < count; i++)
        bytes[i] = rows[i].at_bytes;
    free(rows);
    if (!bytes)
        session_fail_memory(error, "the call tree");
    return bytes;
}

static bool read_rows(struct session_tree *tree, struct session_error *error)
{
    const struct session_stacks_options options = {.at_peak = true, .without_short = true};
    if (!selection_stacks(tree->selection, &options, &tree->rows, &tree->row_count, error))
        return false;
    bool known = false;
    for (size_t i = 0; i < tree->row_count; i++)
        known = known || tree->rows[i].short_count > 0;
    atomic_store(&tree->short_known, known || tree->row_count == 0);
    if (!tree->options.growth)
        return true;
    tree->from_bytes = bytes_at(tree, tree->options.from_ns, error);
    tree->to_bytes = tree->from_bytes ? bytes_at(tree, tree->options.to_ns, error) : NULL;
    return tree->to_bytes != NULL;
}

/* Sets the short-lived blocks of all rows, then of all nodes: those of a node are neighbours. */
static bool set_short(struct session_tree *tree, const uint64_t *by_stack,
                      struct session_error *error)
{
    uint64_t *before = malloc((tree->row_count + 1) * sizeof(*before));
    if (!before)
        return session_fail_memory(error, "the call tree");
    before[0] = 0;
    for (size_t i = 0; i < tree->row_count; i++) {
        struct session_stack_sums *row = &tree->rows[tree->order[i]];
        row->short_count = by_stack[row->stack];
        before[i + 1] = before[i] + row->short_count;
    }
    for (uint32_t i = 0; i < tree->node_count; i++) {
        struct tree_node *node = tree_node(tree, i);
        node->public.sums.short_count =
            before[node->first_row + node->row_count] - before[node->first_row];
    }
    free(before);
    return true;
}

bool session_tree_find_short(struct session_tree *tree, struct session_error *error)
{
    uint64_t *by_stack;
    if (atomic_load(&tree->short_known))
        return true;
    if (!selection_short_lived(tree->selection, &by_stack, error))
        return false;
    const bool good = set_short(tree, by_stack, error);
    free(by_stack);
    if (good)
        atomic_store(&tree->short_known, true);
    return good;
}

bool session_tree_short_known(const struct session_tree *tree)
{
    return atomic_load(&tree->short_known);
}

/* ---- trees ------------------------------------------------------------------------------ */

static bool make_root(struct session_tree *tree, struct session_error *error)
{
    tree->arrays[0] = calloc(1u << ARRAY_BITS, sizeof(*tree->arrays[0]));
    if (!tree->arrays[0])
        return session_fail_memory(error, "the call tree");
    struct tree_node *root = tree_node(tree, 0);
    tree->node_count = 1;
    root->row_count = (uint32_t)tree->row_count;
    for (uint32_t row = 0; row < tree->row_count; row++) {
        tree->order[row] = row;
        tree_add_row(tree, row, root);
    }
    return session_tree_expand(tree, 0, error);
}

static bool make_arrays(struct session_tree *tree, struct session_error *error)
{
    tree->rules = calloc(tree->row_count + 1, sizeof(*tree->rules));
    tree->sites = calloc(tree->row_count + 1, sizeof(*tree->sites));
    tree->cursor = calloc(tree->row_count + 1, sizeof(*tree->cursor));
    tree->order = calloc(tree->row_count + 1, sizeof(*tree->order));
    return (tree->rules && tree->sites && tree->cursor && tree->order) ||
           session_fail_memory(error, "the call tree");
}

static bool make(struct session_tree *tree, struct session_error *error)
{
    if (!read_rows(tree, error) || !make_arrays(tree, error) ||
        !stacks_frames(&tree->session->stacks, error) ||
        (tree->options.hide_libraries && !user_classes(tree->session, &tree->classes, error)))
        return false;
    if (!path_find_rules(tree, error) || !components_find(tree, error))
        return false;
    tree->slots = calloc(path_keys(tree), sizeof(*tree->slots));
    if (!tree->slots)
        return session_fail_memory(error, "the call tree");
    return make_root(tree, error);
}

struct session_tree *session_tree_new(struct session *session, struct selection *selection,
                                      const struct session_tree_options *options,
                                      struct session_error *error)
{
    struct session_tree *tree = calloc(1, sizeof(*tree));
    if (!tree) {
        session_fail_memory(error, "the call tree");
        return NULL;
    }
    atomic_init(&tree->owners, 1);
    tree->session = session;
    tree->selection = selection_share(selection);
    tree->options = *options;
    if (make(tree, error))
        return tree;
    session_tree_free(tree);
    return NULL;
}

struct session_tree *session_tree_share(struct session_tree *tree)
{
    atomic_fetch_add(&tree->owners, 1);
    return tree;
}

void session_tree_free(struct session_tree *tree)
{
    if (!tree || atomic_fetch_sub(&tree->owners, 1) > 1)
        return;
    for (int i = 0; i < ARRAYS; i++)
        free(tree->arrays[i]);
    components_free(&tree->components);
    selection_free(tree->selection);
    free(tree->rows);
    free(tree->from_bytes);
    free(tree->to_bytes);
    free(tree->rules);
    free(tree->sites);
    free(tree->cursor);
    free(tree->order);
    free(tree->slots);
    free(tree->searched);
    free(tree->deepest);
    free(tree);
}

/* ---- reading ---------------------------------------------------------------------------- */

const struct session_tree_node *session_tree_node(const struct session_tree *tree, uint32_t node)
{
    return &tree_node(tree, node)->public;
}

bool session_tree_children(const struct session_tree *tree, uint32_t node, uint32_t *first,
                           uint32_t *count)
{
    const struct tree_node *of = tree_node(tree, node);
    if (!atomic_load(&of->expanded))
        return false;
    *first = of->first_child;
    *count = of->child_count;
    return true;
}

bool session_tree_self(const struct session_tree *tree, uint32_t node,
                       struct session_tree_sums *self)
{
    const struct session_tree_node *of = session_tree_node(tree, node);
    const bool short_known = session_tree_short_known(tree);
    uint32_t first, count;
    if (!session_tree_children(tree, node, &first, &count)) {
        if (!of->leaf)
            return false;
        count = first = 0;
    }
    *self = of->sums;
    if (!short_known)
        self->short_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct session_tree_sums *child = &session_tree_node(tree, first + i)->sums;
        self->at_peak_bytes -= child->at_peak_bytes;
        self->at_peak_count -= child->at_peak_count;
        self->bytes -= child->bytes;
        self->allocations -= child->allocations;
        self->live_bytes -= child->live_bytes;
        self->live_count -= child->live_count;
        self->short_count -= short_known ? child->short_count : 0;
        self->from_bytes -= child->from_bytes;
        self->to_bytes -= child->to_bytes;
    }
    return true;
}

int64_t session_tree_value(const struct session_tree_node *node, enum session_tree_measure measure)
{
    const struct session_tree_sums *sums = &node->sums;
    switch (measure) {
    case TREE_AT_PEAK:
        return (int64_t)sums->at_peak_bytes;
    case TREE_BYTES:
        return (int64_t)sums->bytes;
    case TREE_COUNT:
        return (int64_t)sums->allocations;
    case TREE_LIVE:
        return (int64_t)sums->live_bytes;
    case TREE_SHORT:
        return (int64_t)sums->short_count;
    case TREE_GROWTH:
        return (int64_t)(sums->to_bytes - sums->from_bytes);
    case TREE_NAME:
        break;
    }
    return 0;
}

struct sorting {
    const struct session_tree *tree;
    const struct session_tree_order *order;
};

static int compare_shares(const struct session_tree_sums *a, const struct session_tree_sums *b)
{
    const unsigned __int128 left = (unsigned __int128)a->short_count * b->allocations;
    const unsigned __int128 right = (unsigned __int128)b->short_count * a->allocations;
    return left < right ? -1 : left > right;
}

static int compare_nodes(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const struct session_tree_node *a = session_tree_node(sorting->tree, *(const uint32_t *)left);
    const struct session_tree_node *b = session_tree_node(sorting->tree, *(const uint32_t *)right);
    const enum session_tree_measure measure = sorting->order->measure;
    const struct session *session = sorting->tree->session;
    const int names = strcmp(session_function_name(session, a->function),
                             session_function_name(session, b->function));
    int result = 0;
    if (measure == TREE_NAME) {
        result = names;
    } else if (measure == TREE_SHORT && !session_tree_short_known(sorting->tree)) {
        result = 0; /* the sums may be written now */
    } else if (measure == TREE_SHORT) {
        result = compare_shares(&a->sums, &b->sums);
    } else {
        const int64_t x = session_tree_value(a, measure), y = session_tree_value(b, measure);
        result = x < y ? -1 : x > y;
    }
    if (sorting->order->descending)
        result = -result;
    if (result == 0 && measure != TREE_BYTES && a->sums.bytes != b->sums.bytes)
        result = a->sums.bytes < b->sums.bytes ? 1 : -1;
    if (result == 0)
        result = names;
    return result != 0 ? result : *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

void session_tree_sort(const struct session_tree *tree, const struct session_tree_order *order,
                       uint32_t *nodes, size_t count)
{
    struct sorting sorting = {tree, order};
    if (count > 1)
        qsort_r(nodes, count, sizeof(*nodes), compare_nodes, &sorting);
}

size_t session_tree_functions(const struct session_tree *tree, uint32_t node, uint32_t *functions,
                              size_t capacity)
{
    const uint32_t *members = NULL;
    const size_t count = node == 0 ? 0 : path_functions(tree, tree_node(tree, node)->key, &members);
    for (size_t i = 0; i < count && i < capacity; i++)
        functions[i] = members[i];
    return count;
}

size_t session_tree_path(const struct session_tree *tree, uint32_t node, uint32_t *functions,
                         size_t capacity)
{
    const size_t depth = session_tree_node(tree, node)->depth;
    for (; node != 0; node = session_tree_node(tree, node)->parent) {
        const struct session_tree_node *of = session_tree_node(tree, node);
        if (of->depth - 1 < capacity)
            functions[of->depth - 1] = of->function;
    }
    return depth;
}

uint32_t session_tree_stack(const struct session_tree *tree, uint32_t node)
{
    const struct tree_node *of = tree_node(tree, node);
    return of->heaviest > 0 ? tree->rows[of->heaviest - 1].stack : 0;
}
