/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Says in the filter language which allocations a node has. Most paths are told apart by the names
 * of their functions. If not, the stacks are listed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/tree/tree_state.h"

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
    free(of_node);
    free(bits);
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
    for (size_t i = terms->count; i-- > 0 && (keep & (keep - 1)) != 0;) {
        if (!is_shared(tree, node, terms, keep & ~(UINT64_C(1) << i)))
            keep &= ~(UINT64_C(1) << i);
    }
    for (size_t i = 0; i < terms->count; i++) {
        if ((keep >> i & 1) != 0)
            terms->function[count++] = terms->function[i];
    }
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

static int compare_rows(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

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
    qsort(rows, count, sizeof(*rows), compare_rows);
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
