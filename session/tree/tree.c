/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes trees, and what another thread may read of them. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "session/tree/tree_state.h"

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

static void tree_add_row(const struct session_tree *tree, uint32_t row, struct tree_node *node)
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
    if (tree->resident)
        sums->resident += tree->resident[of->stack];
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
    if (tree->options.resident &&
        !selection_stacks_resident(tree->selection, tree->options.resident_ns, &tree->resident,
                                   error))
        return false;
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

bool session_tree_resident_known(const struct session_tree *tree)
{
    return tree->resident != NULL;
}

bool session_tree_short_known(const struct session_tree *tree)
{
    return atomic_load(&tree->short_known);
}

/* ---- trees ------------------------------------------------------------------------------ */

static bool make_root(struct session_tree *tree, struct session_error *error)
{
    if (!(tree->arrays[0] = calloc(1u << ARRAY_BITS, sizeof(*tree->arrays[0]))))
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
        !user_classes(tree->session, &tree->classes, error))
        return false;
    if (!path_find_rules(tree, error) || !components_find(tree, error))
        return false;
    if (!(tree->slots = calloc(path_keys(tree), sizeof(*tree->slots))))
        return session_fail_memory(error, "the call tree");
    return make_root(tree, error);
}

struct session_tree *session_tree_new(struct session *session, struct selection *selection,
                                      const struct session_tree_options *options,
                                      struct session_error *error)
{
    struct session_tree *tree = calloc(1, sizeof(*tree));
    if (!tree)
        return session_fail_memory_null(error, "the call tree");
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
    FREE_ALL(tree->rows, tree->from_bytes, tree->to_bytes, tree->resident, tree->rules, tree->sites,
             tree->cursor, tree->order, tree->slots, tree->searched, tree->deepest, tree);
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
        self->resident -= child->resident;
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
    case TREE_RESIDENT:
        return (int64_t)sums->resident;
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
    return ORDER(left, right);
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
    return result ?: ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
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

static struct session_tree_line line_of(const struct session_tree *tree, uint32_t frame)
{
    const struct stack_frame *of = &tree->session->stacks.frame_table[frame];
    if (frame == 0 || of->line == 0 || of->file == 0)
        return (struct session_tree_line){"", 0};
    return (struct session_tree_line){tree->session->names.file.name[of->file], of->line};
}

struct session_tree_line session_tree_call(const struct session_tree *tree, uint32_t node)
{
    return line_of(tree, tree_node(tree, node)->call);
}

struct session_tree_line session_tree_own_line(const struct session_tree *tree, uint32_t node)
{
    return line_of(tree, tree_node(tree, node)->own);
}

/* ---- expand ---- */

/* Makes the children of nodes: the next node of the path of each row parts the rows of a node. */

struct expanding {
    struct session_tree *tree;
    struct tree_node *node;
    uint32_t *rows;    /* those of the node, in their order of before */
    uint32_t *cursors; /* after the child, for each of `rows` */
    uint32_t *keys;    /* of the child, for each of `rows` */
    uint32_t *found;   /* keys by child */
    uint32_t *sizes;   /* rows by child */
    uint32_t count;    /* children */
};

static bool open(struct expanding *expanding, struct session_error *error)
{
    const size_t rows = expanding->node->row_count;
    expanding->rows = malloc((rows + 1) * sizeof(uint32_t));
    expanding->cursors = malloc((rows + 1) * sizeof(uint32_t));
    expanding->keys = malloc((rows + 1) * sizeof(uint32_t));
    expanding->found = malloc((rows + 1) * sizeof(uint32_t));
    expanding->sizes = calloc(rows + 2, sizeof(uint32_t));
    return (expanding->rows && expanding->cursors && expanding->keys && expanding->found &&
            expanding->sizes) ||
           session_fail_memory(error, "the call tree");
}

static void close(struct expanding *expanding)
{
    for (uint32_t i = 0; expanding->found && i < expanding->count; i++)
        expanding->tree->slots[expanding->found[i]] = 0;
    FREE_ALL(expanding->rows, expanding->cursors, expanding->keys, expanding->found,
             expanding->sizes);
}

static void follow_paths(void *context, size_t thread, uint32_t first, uint32_t end)
{
    struct expanding *expanding = context;
    const struct session_tree *tree = expanding->tree;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t row = tree->order[expanding->node->first_row + i];
        expanding->rows[i] = row;
        expanding->cursors[i] = tree->cursor[row];
        expanding->keys[i] = path_next(tree, row, &expanding->cursors[i]);
    }
}

static bool find_children(struct expanding *expanding, struct session_error *error)
{
    struct session_tree *tree = expanding->tree;
    const uint32_t rows = expanding->node->row_count;
    tree->rows_followed += rows;
    if (!tree_each_part(tree, rows, follow_paths, expanding, error))
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t key = expanding->keys[i];
        if (!tree_go_on(tree, i, error))
            return false;
        if (key == PATH_END)
            continue;
        if (tree->slots[key] == 0) {
            expanding->found[expanding->count] = key;
            tree->slots[key] = ++expanding->count;
        }
        expanding->sizes[tree->slots[key] - 1]++;
    }
    return true;
}

/* Makes room for the children. Nodes that are there never move. */
static bool room_for_children(struct session_tree *tree, uint32_t count,
                              struct session_error *error)
{
    uint64_t room = 0;
    for (unsigned array = 0; array < ARRAYS; array++) {
        if (!tree->arrays[array] && room < (uint64_t)tree->node_count + count) {
            tree->arrays[array] =
                calloc((size_t)1 << (ARRAY_BITS + array), sizeof(*tree->arrays[array]));
            if (!tree->arrays[array])
                return session_fail_memory(error, "the call tree");
        }
        room += tree->arrays[array] ? UINT64_C(1) << (ARRAY_BITS + array) : 0;
    }
    return room >= (uint64_t)tree->node_count + count ||
           session_fail(error, 0, "the call tree has too many nodes: filter first");
}

static void make_child(struct expanding *expanding, uint32_t parent, uint32_t child,
                       uint32_t first_row)
{
    struct session_tree *tree = expanding->tree;
    struct tree_node *node = tree_node(tree, expanding->node->first_child + child);
    node->key = expanding->found[child];
    node->first_row = first_row;
    node->public.parent = parent;
    node->public.depth = expanding->node->public.depth + 1;
    path_describe(tree, node->key, &node->public);
}

/* Puts the rows of each child beside each other; those that end here come last. */
static void part_rows(struct expanding *expanding)
{
    struct session_tree *tree = expanding->tree;
    const struct tree_node *node = expanding->node;
    uint32_t ended = node->first_row + node->row_count;
    for (uint32_t i = 0; i < node->row_count; i++) {
        const uint32_t row = expanding->rows[i], key = expanding->keys[i], from = tree->cursor[row];
        tree->cursor[row] = expanding->cursors[i];
        if (key == PATH_END) {
            tree->order[--ended] = row;
            continue;
        }
        struct tree_node *child = tree_node(tree, node->first_child + tree->slots[key] - 1);
        tree->order[child->first_row + child->row_count++] = row;
        tree_add_row(tree, row, child);
        if (child->heaviest == row + 1)
            path_lines(tree, row, from, expanding->cursors[i], child);
    }
}

/* Returns true if no path goes on behind a node whose children are not there yet. */
static bool is_leaf(const struct session_tree *tree, const struct tree_node *node)
{
    for (uint32_t i = 0; i < node->row_count; i++) {
        const uint32_t row = tree->order[node->first_row + i];
        uint32_t cursor = tree->cursor[row];
        if (path_next(tree, row, &cursor) != PATH_END)
            return false;
    }
    return true;
}

bool session_tree_expand(struct session_tree *tree, uint32_t number, struct session_error *error)
{
    struct expanding expanding = {.tree = tree, .node = tree_node(tree, number)};
    struct tree_node *node = expanding.node;
    if (atomic_load(&node->expanded))
        return true;
    bool good = open(&expanding, error) && find_children(&expanding, error) &&
                room_for_children(tree, expanding.count, error);
    if (good) {
        uint32_t first_row = node->first_row;
        node->first_child = tree->node_count;
        node->child_count = expanding.count;
        for (uint32_t i = 0; i < expanding.count; i++) {
            make_child(&expanding, number, i, first_row);
            first_row += expanding.sizes[i];
        }
        part_rows(&expanding);
        for (uint32_t i = 0; i < expanding.count; i++) {
            struct tree_node *child = tree_node(tree, node->first_child + i);
            child->public.leaf = is_leaf(tree, child);
        }
        tree->node_count += expanding.count;
        atomic_store(&node->expanded, true);
    }
    close(&expanding);
    return good;
}

/* Rows that may be followed through several nodes for one question. A path of many frames, which
 * many rows have, is made up to here; the next question goes on. */
#define ROWS_FOLLOWED_MAX (UINT64_C(1) << 26)

/* Returns the child with the largest value, the node itself if there is none. The one without own
 * code counts only if it is the only one: its value is stored, 0 if it counts or is not there. */
static uint32_t largest_child(const struct session_tree *tree, uint32_t node,
                              enum session_tree_measure measure, int64_t *without_own_code)
{
    const struct tree_node *of = tree_node(tree, node);
    uint32_t best = node;
    *without_own_code = 0;
    for (uint32_t i = 0; i < of->child_count; i++) {
        const uint32_t child = of->first_child + i;
        const struct session_tree_node *shown = session_tree_node(tree, child);
        if (shown->kind == TREE_NO_OWN_CODE && of->child_count > 1)
            *without_own_code = session_tree_value(shown, measure);
        else if (best == node || session_tree_value(session_tree_node(tree, child), measure) >
                                     session_tree_value(session_tree_node(tree, best), measure))
            best = child;
    }
    return best;
}

bool session_tree_expand_hottest(struct session_tree *tree, uint32_t node,
                                 enum session_tree_measure measure, uint32_t *last,
                                 struct session_error *error)
{
    const uint64_t followed = tree->rows_followed;
    *last = node;
    for (;;) {
        if (!session_tree_expand(tree, *last, error))
            return false;
        int64_t without_own_code;
        const uint32_t child = largest_child(tree, *last, measure, &without_own_code);
        const int64_t whole =
            session_tree_value(session_tree_node(tree, *last), measure) - without_own_code;
        const int64_t part = session_tree_value(session_tree_node(tree, child), measure);
        if (child == *last || part <= 0 || part < whole - part ||
            tree->rows_followed - followed > ROWS_FOLLOWED_MAX)
            return true;
        *last = child;
    }
}

bool session_tree_expand_larger(struct session_tree *tree, uint32_t node,
                                enum session_tree_measure measure, int64_t least, unsigned levels,
                                struct session_error *error)
{
    const uint32_t start = session_tree_node(tree, node)->depth;
    /* The nodes that are left to look at: those of a level, then those of the next one. */
    uint32_t *level = malloc(sizeof(*level)), *next = NULL;
    size_t count = 1, next_count = 0;
    bool good = level || session_fail_memory(error, "the call tree");
    if (good)
        level[0] = node;
    const uint64_t followed = tree->rows_followed;
    for (uint32_t depth = start; good && count > 0 && depth < start + levels &&
                                 tree->rows_followed - followed <= ROWS_FOLLOWED_MAX;
         depth++) {
        next_count = 0;
        for (size_t i = 0; good && i < count; i++) {
            const struct tree_node *of = tree_node(tree, level[i]);
            good = session_tree_expand(tree, level[i], error);
            uint32_t *longer = realloc(next, (next_count + of->child_count + 1) * sizeof(*next));
            next = longer ? longer : next;
            good = good && (longer || session_fail_memory(error, "the call tree"));
            for (uint32_t child = 0; good && child < of->child_count; child++) {
                const uint32_t number = of->first_child + child;
                if (session_tree_value(session_tree_node(tree, number), measure) >= least)
                    next[next_count++] = number;
            }
        }
        uint32_t *swap = level;
        level = next;
        next = swap;
        count = next_count;
    }
    FREE_ALL(level, next);
    return good;
}

bool session_tree_follow(struct session_tree *tree, const uint32_t *path, size_t count,
                         uint32_t *node, struct session_error *error)
{
    *node = 0;
    for (size_t i = 0; i < count; i++) {
        if (!session_tree_expand(tree, *node, error))
            return false;
        const struct tree_node *of = tree_node(tree, *node);
        uint32_t next = 0;
        for (uint32_t child = 0; next == 0 && child < of->child_count; child++)
            if (session_tree_node(tree, of->first_child + child)->function == path[i])
                next = of->first_child + child;
        if (next == 0)
            break;
        *node = next;
    }
    return true;
}

/* Returns the child of a node whose rows have this one, 0 if there is none. */
static uint32_t child_with_row(const struct session_tree *tree, uint32_t node, uint32_t row)
{
    const struct tree_node *of = tree_node(tree, node);
    for (uint32_t i = 0; i < of->child_count; i++) {
        const struct tree_node *child = tree_node(tree, of->first_child + i);
        for (uint32_t at = 0; at < child->row_count; at++)
            if (tree->order[child->first_row + at] == row)
                return of->first_child + i;
    }
    return 0;
}

bool session_tree_follow_stack(struct session_tree *tree, uint32_t stack, uint32_t function,
                               uint32_t nth, uint32_t *node, struct session_error *error)
{
    uint32_t row = 0, at = 0, met = 0;
    *node = 0;
    while (row < tree->row_count && tree->rows[row].stack != stack)
        row++;
    if (row == tree->row_count)
        return true;
    const uint64_t followed = tree->rows_followed;
    while (met < nth && tree->rows_followed - followed <= ROWS_FOLLOWED_MAX) {
        const uint32_t *members = NULL;
        if (!session_tree_expand(tree, at, error))
            return false;
        at = child_with_row(tree, at, row);
        if (at == 0)
            break;
        const size_t count = path_functions(tree, tree_node(tree, at)->key, &members);
        for (size_t i = 0; i < count; i++) {
            if (members[i] == function) {
                *node = at;
                met++;
            }
        }
    }
    return true;
}

bool tree_go_on(const struct session_tree *tree, size_t i, struct session_error *error)
{
    return i % 1024 != 0 || scan_go_on(tree->session, error);
}
