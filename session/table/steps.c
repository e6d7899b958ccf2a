/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps `where`, `color`, `top` and `ungroup` on groups.
 *
 * A test of a key is compiled as for allocations and run on a value of the key's column: all rows
 * of a group give the same answer. Measures are compared directly. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/program.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"

/* Threads may have so much memory of their own together. */
#define CONTEXTS_MOST ((size_t)64 << 20)

/* ---- predicates ---- */

static bool holds_for_number(const struct filter_test *test, bool is_null, uint64_t value)
{
    const uint64_t low = test->low.number;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL)
        return is_null == (test->operator_ == OPERATOR_IS_NULL);
    if (is_null)
        return false;
    switch (test->operator_) {
    case OPERATOR_EQUAL:
        return value == low;
    case OPERATOR_NOT_EQUAL:
        return value != low;
    case OPERATOR_LESS:
        return value < low;
    case OPERATOR_LESS_EQUAL:
        return value <= low;
    case OPERATOR_GREATER:
        return value > low;
    case OPERATOR_GREATER_EQUAL:
        return value >= low;
    case OPERATOR_IN:
        return value >= low && value <= test->high.number;
    default:
        return false;
    }
}

/* Computes the times of a test for the session. A time before the start, which no group has, gives
 * `*constant` 0 or 1: the answer for all groups. */
static bool resolve_times(const struct session_group_set *set, struct filter_test *test,
                          int *constant, struct session_error *error)
{
    const enum filter_type type = filter_fields[test->field].type;
    struct filter_ns low, high = {.ns = 0};
    *constant = -1;
    if ((type != TYPE_MOMENT && type != TYPE_DURATION) || test->operator_ == OPERATOR_IS_NULL ||
        test->operator_ == OPERATOR_IS_NOT_NULL)
        return true;
    if (!filter_moment_ns(set->session, &test->low, &low, error) ||
        (test->operator_ == OPERATOR_IN &&
         !filter_moment_ns(set->session, &test->high, &high, error)))
        return false;
    test->low.number = low.ns;
    test->high.number = high.ns;
    if (high.before)
        *constant = 0;
    else if (low.before && test->operator_ != OPERATOR_IN)
        *constant = test->operator_ == OPERATOR_NOT_EQUAL || test->operator_ == OPERATOR_GREATER ||
                    test->operator_ == OPERATOR_GREATER_EQUAL;
    return true;
}

static bool test_measure(struct session_group_set *set, const struct filter_test *test,
                         uint8_t *truth, struct session_error *error)
{
    const enum session_group_measure measure =
        (enum session_group_measure)(test->field - FIELD_ALLOCATIONS);
    struct filter_test resolved = *test;
    int constant;
    if (!session_groups_prepare(set, 1u << measure, error) ||
        !resolve_times(set, &resolved, &constant, error))
        return false;
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t group = set->order[i];
        truth[group] = constant >= 0
                           ? (uint8_t)constant
                           : holds_for_number(&resolved, false, group_measure(set, group, measure));
    }
    return true;
}

/* Tests the colour of the groups, which the steps on groups gave. */
static void test_color(const struct session_group_set *set, const struct filter_test *test,
                       const struct filter_colors *colors, uint8_t *truth)
{
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t group = set->order[i];
        const uint8_t step = set->color ? set->color[group] : 0;
        truth[group] = holds_for_number(test, step == 0, (uint64_t)colors->step[step].number);
    }
}

static bool test_path(const struct session_group_set *set, const struct filter_test *test,
                      uint8_t *truth, struct session_error *error)
{
    const bool match = test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
    const bool opposite =
        test->operator_ == OPERATOR_NOT_MATCH || test->operator_ == OPERATOR_NOT_EQUAL;
    char *text = NULL;
    size_t size = 0;
    regex_t regex;
    if (match && !filter_regex_compile(&regex, test->low.text, test->low.column, error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < set->count; i++) {
        const uint32_t group = set->order[i];
        const bool null = set->cell_of_group[group] == 0;
        const size_t length = group_path_text(set, group, (char[1]){0}, 1);
        if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
            truth[group] = null == (test->operator_ == OPERATOR_IS_NULL);
            continue;
        }
        if (length >= size) {
            free(text);
            size = length * 2 + 256;
            text = malloc(size);
            good = text || session_fail_memory(error, "the filter");
        }
        if (!good)
            break;
        group_path_text(set, group, text, size);
        const bool equal =
            match ? regexec(&regex, text, 0, NULL, 0) == 0 : strcmp(text, test->low.text) == 0;
        truth[group] = !null && equal != opposite;
    }
    if (match)
        regfree(&regex);
    free(text);
    return good;
}

static const struct group_part *find_part(const struct session_group_set *set,
                                          const struct filter_test *test)
{
    for (size_t i = 0; i < set->keys.part_count; i++)
        if (set->keys.parts[i].field == test->field && set->keys.parts[i].frame == test->frame)
            return &set->keys.parts[i];
    return NULL;
}

/* Runs a compiled test on one value of its column. */
static bool leaf_holds(const struct filter_program *leaf, uint64_t value)
{
    switch (leaf->leaf) {
    case LEAF_CONSTANT:
        return leaf->low != 0;
    case LEAF_RANGE:
        return (value - leaf->low <= leaf->high - leaf->low) != leaf->outside;
    case LEAF_TABLE:
        return leaf->table[value] != 0;
    case LEAF_CANDIDATE: /* blocks have candidates, a group has the word that is its key */
        return (leaf->table[value] != 0) != leaf->outside;
    default:
        return false;
    }
}

static bool test_key(struct session_group_set *set, const struct filter_predicate *predicate,
                     const struct filter_colors *colors, uint8_t *truth,
                     struct session_error *error)
{
    const struct group_part *part = find_part(set, &predicate->test);
    if (!part)
        return session_fail(error, predicate->test.column, "the groups have no key %s",
                            filter_fields[predicate->test.field].name);
    const struct filter_predicate alone = {.kind = PREDICATE_TEST, .test = predicate->test};
    struct filter_program *program = filter_program_new(set->session, &alone, colors, error);
    if (!program)
        return false;
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t group = set->order[i];
        truth[group] = leaf_holds(program, group_value(set, group, part->dimension));
    }
    filter_program_free(program);
    return true;
}

static bool test(struct session_group_set *set, const struct filter_predicate *predicate,
                 const struct filter_colors *colors, uint8_t *truth, struct session_error *error)
{
    const struct filter_test *of = &predicate->test;
    if (filter_field_of_groups(of->field))
        return test_measure(set, of, truth, error);
    if (of->field == FIELD_COLOR) {
        test_color(set, of, colors, truth);
        return true;
    }
    if (of->field == FIELD_PATH)
        return test_path(set, of, truth, error);
    return test_key(set, predicate, colors, truth, error);
}

/* Stores the predicate's truth for each group that is left. The parser limits the depth. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool evaluate(struct session_group_set *set, const struct filter_predicate *predicate,
                     const struct filter_colors *colors, uint8_t *truth,
                     struct session_error *error)
{
    if (predicate->kind == PREDICATE_TEST)
        return test(set, predicate, colors, truth, error);
    if (!evaluate(set, predicate->left, colors, truth, error))
        return false;
    uint8_t *right = NULL;
    if (predicate->kind != PREDICATE_NOT) {
        if (!(right = malloc(set->made + 1)))
            return session_fail_memory(error, "the filter");
        if (!evaluate(set, predicate->right, colors, right, error)) {
            free(right);
            return false;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t group = set->order[i];
        if (predicate->kind == PREDICATE_NOT)
            truth[group] = !truth[group];
        else if (predicate->kind == PREDICATE_AND)
            truth[group] = truth[group] && right[group];
        else
            truth[group] = truth[group] || right[group];
    }
    free(right);
    return true;
}

/* ---- steps ---- */

/* The left side of an `and` comes first: the right one is computed only for the groups that it
 * leaves. The parser limits the depth. */
/* NOLINTNEXTLINE(misc-no-recursion) */
bool group_where(struct session_group_set *set, const struct filter_predicate *predicate,
                 const struct filter_colors *colors, struct session_error *error)
{
    if (predicate->kind == PREDICATE_AND)
        return group_where(set, predicate->left, colors, error) &&
               group_where(set, predicate->right, colors, error);
    uint8_t *truth = malloc(set->made + 1);
    if (!truth)
        return session_fail_memory(error, "the filter");
    bool good = evaluate(set, predicate, colors, truth, error);
    size_t count = 0;
    for (size_t i = 0; good && i < set->count; i++)
        if (truth[set->order[i]])
            set->order[count++] = set->order[i];
    if (good)
        set->count = count;
    free(truth);
    return good;
}

bool group_color(struct session_group_set *set, const struct filter_predicate *predicate,
                 const struct filter_colors *colors, uint8_t step_number,
                 struct session_error *error)
{
    uint8_t *truth = malloc(set->made + 1);
    if (truth && !set->color)
        set->color = calloc(set->made + 1, sizeof(*set->color));
    if (!truth || !set->color) {
        free(truth);
        return session_fail_memory(error, "the colours of groups");
    }
    bool good = !predicate || evaluate(set, predicate, colors, truth, error);
    for (size_t i = 0; good && i < set->count; i++)
        if (!predicate || truth[set->order[i]])
            set->color[set->order[i]] = step_number;
    set->colors = *colors;
    free(truth);
    return good;
}

bool group_paint(struct session_group_set *set, const size_t *rows, size_t count,
                 struct session_error *error)
{
    if (!set->color)
        set->color = calloc(set->made + 1, sizeof(*set->color));
    if (!set->color)
        return session_fail_memory(error, "the colours of groups");
    for (size_t i = 0; i < set->count; i++)
        set->color[set->order[i]] = (uint8_t)(count + 1);
    for (size_t i = 0; i < count; i++)
        set->color[set->order[rows[i]]] = (uint8_t)(i + 1);
    return true;
}

void group_top(struct session_group_set *set, uint64_t limit)
{
    if (limit < set->count)
        set->count = (size_t)limit;
}

/* ---- ungroup ---- */

struct ungrouping {
    const struct session_group_set *set;
    const uint8_t *left; /* by group */
    struct row_set *rows;
    uint32_t groups[COLUMN_CHUNK_ROWS];
};

static bool ungroup_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                          struct session_error *error)
{
    struct ungrouping *ungrouping = context;
    const struct session_group_set *set = ungrouping->set;
    uint64_t *words = row_set_chunk(ungrouping->rows, chunk);
    uint8_t *colors = ungrouping->rows->colors;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!group_of_rows(set, worker, chunk, row_set_chunk(&set->rows, chunk), ungrouping->groups,
                       error))
        return false;
    ROW_SET_EACH(row_set_chunk(&set->rows, chunk), row)
    {
        const uint32_t group = ungrouping->groups[row];
        if (!ungrouping->left[group])
            continue;
        words[row / 64] |= UINT64_C(1) << (row % 64);
        if (colors && set->color && set->color[group] != 0)
            colors[(size_t)chunk * COLUMN_CHUNK_ROWS + row] = set->color[group];
        else if (colors && set->rows.colors)
            colors[(size_t)chunk * COLUMN_CHUNK_ROWS + row] =
                set->rows.colors[(size_t)chunk * COLUMN_CHUNK_ROWS + row];
    }
    return true;
}

static bool rows_of(struct session_group_set *set, const uint8_t *left, struct row_set *rows,
                    struct session_error *error)
{
    struct scan_contexts contexts;
    bool good = row_set_start(rows, set->session->columns, false, error);
    if (good && (set->color || set->rows.colors))
        good = row_set_color(rows, error);
    if (good && !scan_contexts_open(set->session, &contexts, sizeof(struct ungrouping),
                                    CONTEXTS_MOST, error))
        good = false;
    if (!good) {
        row_set_free(rows);
        return false;
    }
    for (size_t i = 0; i < contexts.threads; i++) {
        struct ungrouping *each = contexts.each[i];
        each->set = set;
        each->left = left;
        each->rows = rows;
    }
    good = scan_chunks(set->session, set->rows.chunks, ungroup_chunk, contexts.each,
                       contexts.threads, error);
    scan_contexts_close(&contexts);
    if (!good)
        row_set_free(rows);
    return good;
}

static bool ungroup(struct session_group_set *set, size_t first, size_t count, struct row_set *rows,
                    struct session_error *error)
{
    uint8_t *left = calloc(set->made + 1, sizeof(*left));
    *rows = (struct row_set){.words = NULL};
    if (!left)
        return session_fail_memory(error, "the allocations of groups");
    for (size_t i = first; i < first + count; i++)
        left[set->order[i]] = 1;
    bool good = rows_of(set, left, rows, error);
    free(left);
    return good;
}

bool group_ungroup(struct session_group_set *set, struct row_set *rows, struct session_error *error)
{
    return ungroup(set, 0, set->count, rows, error);
}

bool group_ungroup_one(struct session_group_set *set, size_t row, struct row_set *rows,
                       struct session_error *error)
{
    *rows = (struct row_set){.words = NULL};
    if (row >= set->count)
        return session_fail(error, 0, "there is no group %zu", row);
    return ungroup(set, row, 1, rows, error);
}
