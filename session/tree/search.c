/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds nodes by their names, also those that are not made yet. One pass over the paths of all rows
 * stores how deep the innermost node with the text lies. So a subtree is entered only if it has
 * one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/tree/tree_state.h"

struct finding {
    struct session_tree *tree;
    const struct session_tree_search *search;
    struct session_error *error;
    bool failed;
};

static bool has_text(const struct session_tree *tree, uint32_t key, const char *text)
{
    const uint32_t *functions = NULL;
    const size_t count = path_functions(tree, key, &functions);
    for (size_t i = 0; i < count; i++)
        if (strcasestr(session_function_name(tree->session, functions[i]), text))
            return true;
    return false;
}

/* ---- how deep the text lies ---- */

enum { NOT_KNOWN, HAS_TEXT, HAS_NOT };

static bool find_deepest(struct session_tree *tree, const char *text, struct session_error *error)
{
    uint8_t *known = calloc(path_keys(tree), sizeof(*known));
    char *searched = strdup(text);
    if (!tree->deepest)
        tree->deepest = malloc((tree->row_count + 1) * sizeof(*tree->deepest));
    bool good = (known && searched && tree->deepest) || session_fail_memory(error, "the search");
    free(tree->searched);
    tree->searched = NULL;
    for (uint32_t row = 0; good && row < tree->row_count; row++) {
        uint32_t cursor = 0, depth = 0, key;
        tree->deepest[row] = 0;
        while ((key = path_next(tree, row, &cursor)) != PATH_END) {
            depth++;
            if (known[key] == NOT_KNOWN)
                known[key] = has_text(tree, key, text) ? HAS_TEXT : HAS_NOT;
            if (known[key] == HAS_TEXT)
                tree->deepest[row] = depth;
        }
        good = tree_go_on(tree, row, error);
    }
    if (good) {
        tree->searched = searched;
        searched = NULL;
    }
    FREE_ALL(searched, known);
    return good;
}

static bool has_below(const struct session_tree *tree, uint32_t node)
{
    const struct tree_node *of = tree_node(tree, node);
    for (uint32_t i = 0; i < of->row_count; i++)
        if (tree->deepest[tree->order[of->first_row + i]] > of->public.depth)
            return true;
    return false;
}

static bool matches(const struct session_tree *tree, uint32_t node)
{
    return node != 0 && has_text(tree, tree_node(tree, node)->key, tree->searched);
}

/* ---- the way through the tree ---- */

/* Returns the sorted children of a node, which are made if need be; free() them. */
static uint32_t *children_of(struct finding *finding, uint32_t node, uint32_t *count)
{
    struct session_tree *tree = finding->tree;
    uint32_t first = 0, *children = NULL;
    *count = 0;
    if (!finding->failed && session_tree_expand(tree, node, finding->error) &&
        session_tree_children(tree, node, &first, count))
        children = malloc(((size_t)*count + 1) * sizeof(*children));
    if (!children) {
        finding->failed = true;
        *count = 0;
        return NULL;
    }
    for (uint32_t i = 0; i < *count; i++)
        children[i] = first + i;
    session_tree_sort(tree, &finding->search->order, children, *count);
    return children;
}

/* Returns the first match below a node, or the last one; 0: there is none. */
static uint32_t match_below(struct finding *finding, uint32_t node, bool last)
{
    const struct session_tree *tree = finding->tree;
    while (has_below(tree, node)) {
        uint32_t count, next = 0;
        uint32_t *children = children_of(finding, node, &count);
        for (uint32_t i = 0; next == 0 && i < count; i++) {
            const uint32_t child = children[last ? count - 1 - i : i];
            if (matches(tree, child) || has_below(tree, child))
                next = child;
        }
        free(children);
        if (next == 0)
            return 0;
        /* A parent comes before its children. */
        if (matches(tree, next) && (!last || !has_below(tree, next)))
            return next;
        node = next;
    }
    return 0;
}

/* Returns the first match among the siblings after a node and below them, or the last one before.
 */
static uint32_t match_beside(struct finding *finding, uint32_t node, bool backward)
{
    const struct session_tree *tree = finding->tree;
    uint32_t count, found = 0, at = 0;
    uint32_t *children = children_of(finding, session_tree_node(tree, node)->parent, &count);
    while (at < count && children[at] != node)
        at++;
    for (uint32_t i = 1; found == 0 && i <= count; i++) {
        if (backward ? i > at : at + i >= count)
            break;
        const uint32_t child = children[backward ? at - i : at + i];
        if (!backward && matches(tree, child))
            found = child;
        if (found == 0)
            found = match_below(finding, child, backward);
        if (found == 0 && backward && matches(tree, child))
            found = child;
    }
    free(children);
    return found;
}

/* Returns the next match from a node on without starting again; 0: there is none. */
static uint32_t next_match(struct finding *finding)
{
    const struct session_tree *tree = finding->tree;
    const struct session_tree_search *search = finding->search;
    uint32_t node = search->from;
    uint32_t found = search->backward ? 0 : match_below(finding, node, false);
    while (found == 0 && node != search->within && node != 0 && !finding->failed) {
        found = match_beside(finding, node, search->backward);
        node = session_tree_node(tree, node)->parent;
        if (found == 0 && search->backward && node != search->within && matches(tree, node))
            found = node;
    }
    return found;
}

bool session_tree_find(struct session_tree *tree, const struct session_tree_search *search,
                       uint32_t *found, struct session_error *error)
{
    struct finding finding = {.tree = tree, .search = search, .error = error};
    *found = 0;
    if ((!tree->searched || strcmp(tree->searched, search->text) != 0) &&
        !find_deepest(tree, search->text, error))
        return false;
    *found = next_match(&finding);
    if (*found == 0 && !finding.failed)
        *found = match_below(&finding, search->within, search->backward);
    return !finding.failed;
}

/* ---- test ---- */

/* Says in the filter language which allocations a node has. Most paths are told apart by the names
 * of their functions. If not, the stacks are listed. */

/* A test has at most so many names: the language nests chains no deeper than 100. */
enum { TERMS_MAX = 60 };

struct words {
    char *out;
    size_t size, length;
    bool full;
};

static void put(struct words *words, const char *text)
{
    const size_t length = strlen(text);
    if (words->length + length >= words->size) {
        words->full = true;
        return;
    }
    memcpy(words->out + words->length, text, length + 1);
    words->length += length;
}

/* Puts a name as a string of the language, which has escapes for two characters. */
static void put_name(struct words *words, const char *name)
{
    put(words, "\"");
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            put(words, "\\");
        put(words, (char[]){*at, '\0'});
    }
    put(words, "\"");
}

/* ---- names ---- */

/* The functions on the way to a node, each in a bit of a number. */
struct terms {
    uint32_t function[TERMS_MAX];
    size_t count;
    uint64_t *of_row; /* bits of the names that the stack has, in the order of `order` */
};

static void take_terms(const struct session_tree *tree, uint32_t node, struct terms *terms)
{
    for (; node != 0 && terms->count < TERMS_MAX; node = session_tree_node(tree, node)->parent) {
        const struct session_tree_node *of = session_tree_node(tree, node);
        if ((of->kind == TREE_FUNCTION || of->kind == TREE_LIBRARY) && of->functions == 1 &&
            of->function != 0)
            terms->function[terms->count++] = of->function;
    }
}

/* Stores the bits of each function by id: functions of one name have the same. */
static uint64_t *bits_of_functions(const struct session_tree *tree, const struct terms *terms)
{
    const uint32_t functions = tree->session->names.function_count;
    uint64_t *bits = calloc(functions, sizeof(*bits));
    for (uint32_t function = 0; bits && function < functions; function++) {
        const char *name = session_function_name(tree->session, function);
        for (size_t i = 0; i < terms->count; i++) {
            const char *of = session_function_name(tree->session, terms->function[i]);
            if (name == of || strcmp(name, of) == 0)
                bits[function] |= UINT64_C(1) << i;
        }
    }
    return bits;
}

static bool take_bits(const struct session_tree *tree, struct terms *terms,
                      struct session_error *error)
{
    const struct stacks *stacks = &tree->session->stacks;
    uint64_t *bits = bits_of_functions(tree, terms);
    uint64_t *of_node = calloc(stacks->all.count, sizeof(*of_node));
    terms->of_row = calloc(tree->row_count + 1, sizeof(*terms->of_row));
    bool good = (bits && of_node && terms->of_row) || session_fail_memory(error, "the test");
    for (uint32_t node = stacks->all.count; good && node-- > 1;) {
        of_node[node] = of_node[stacks_caller(stacks, node)] | bits[stacks_function(stacks, node)];
        good = tree_go_on(tree, node, error);
    }
    for (uint32_t i = 0; good && i < tree->row_count; i++)
        terms->of_row[i] = of_node[stacks_node(stacks, tree->rows[tree->order[i]].stack)];
    FREE_ALL(of_node, bits);
    return good;
}

/* Returns true if a stack that is not of the node has all names of `wanted`. */
static bool is_shared(const struct session_tree *tree, const struct tree_node *node,
                      const struct terms *terms, uint64_t wanted)
{
    for (uint32_t i = 0; i < tree->row_count; i++) {
        const bool inside = i >= node->first_row && i < node->first_row + node->row_count;
        if (!inside && (terms->of_row[i] & wanted) == wanted)
            return true;
    }
    return false;
}

/* Drops each name without which the others still tell the node's stacks apart. */
static void drop_names(const struct session_tree *tree, const struct tree_node *node,
                       struct terms *terms)
{
    uint64_t keep = (UINT64_C(1) << terms->count) - 1;
    size_t count = 0;
    /* The outermost names are the last ones and tell least. */
    for (size_t i = terms->count; i-- > 0 && (keep & (keep - 1)) != 0;)
        if (!is_shared(tree, node, terms, keep & ~(UINT64_C(1) << i)))
            keep &= ~(UINT64_C(1) << i);
    for (size_t i = 0; i < terms->count; i++)
        if ((keep >> i & 1) != 0)
            terms->function[count++] = terms->function[i];
    terms->count = count;
}

static void put_names(const struct session_tree *tree, const struct terms *terms,
                      struct words *words)
{
    for (size_t i = terms->count; i-- > 0;) {
        put(words, "stack has ");
        put_name(words, session_function_name(tree->session, terms->function[i]));
        put(words, i > 0 ? " and " : "");
    }
}

/* ---- stacks ---- */

/* Puts the stacks from one row to another one: no other stack of the tree has a number between. */
static void put_run(const struct session_tree *tree, uint32_t first, uint32_t last, bool begins,
                    struct words *words)
{
    char text[48];
    const uint32_t from = tree->rows[first].stack, to = tree->rows[last].stack;
    if (from == to)
        snprintf(text, sizeof(text), "%s%" PRIu32, begins ? "" : ", ", from);
    else
        snprintf(text, sizeof(text), "%s%" PRIu32 "..%" PRIu32, begins ? "" : ", ", from, to);
    put(words, text);
}

/* Puts the stacks of a node. Rows are sorted by stack. */
static bool put_stacks(const struct session_tree *tree, const struct tree_node *node,
                       struct words *words, struct session_error *error)
{
    const uint32_t count = node->row_count;
    uint32_t *rows = malloc((count + 1) * sizeof(*rows));
    if (!rows)
        return session_fail_memory(error, "the test");
    memcpy(rows, &tree->order[node->first_row], count * sizeof(*rows));
    qsort(rows, count, sizeof(*rows), array_order32);
    /* Stack 0 is not a stack. */
    const uint32_t begin = count > 0 && tree->rows[rows[0]].stack == 0;
    put(words, begin == 0 ? "" : count > 1 ? "stack is null or " : "stack is null");
    if (begin < count)
        put(words, "stack in (");
    for (uint32_t i = begin, first = begin; i < count && !words->full; i++) {
        if (i + 1 < count && rows[i + 1] == rows[i] + 1)
            continue;
        put_run(tree, rows[first], rows[i], first == begin, words);
        first = i + 1;
    }
    if (begin < count)
        put(words, ")");
    free(rows);
    return true;
}

bool session_tree_test(struct session_tree *tree, uint32_t number, char *out, size_t size,
                       bool *exact, struct session_error *error)
{
    const struct tree_node *node = tree_node(tree, number);
    struct terms terms = {.count = 0};
    struct words words = {out, size, 0, false};
    out[0] = '\0';
    take_terms(tree, number, &terms);
    bool good = take_bits(tree, &terms, error);
    *exact =
        good && terms.count > 0 && !is_shared(tree, node, &terms, (UINT64_C(1) << terms.count) - 1);
    if (good && *exact) {
        drop_names(tree, node, &terms);
        put_names(tree, &terms, &words);
    }
    if (good && (!*exact || words.full)) {
        words = (struct words){out, size, 0, false};
        good = put_stacks(tree, node, &words, error);
        *exact = !words.full;
    }
    if (good && (words.length == 0 || words.full)) {
        words = (struct words){out, size, 0, false};
        put_names(tree, &terms, &words);
        *exact = false;
    }
    if (good && (words.length == 0 || words.full))
        good = session_fail(error, 0, "the filter language has no test for these allocations");
    free(terms.of_row);
    return good;
}
