/* SPDX-License-Identifier: BSD-2-Clause */
/* The difference of two sessions, by names: functions, files, types and threads of two runs have
 * only their names in common. Both sums of a row are of the same sentence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/name_tree.h"
#include "report/tables/group_table.h"
#include "report/tables/reports.h"
#include "schemas/array.h"
#include "session/code_facts.h"

enum { KEYS_MOST = 3, SIDES = 2, SUMS = 3 }; /* sides: base, session */

static const enum session_group_measure measures[SUMS] = {MEASURE_BYTES, MEASURE_ALLOCATIONS,
                                                          MEASURE_LIVE_BYTES};

/* The row has no stack. */
#define NO_STACK UINT32_MAX

struct diff_row {
    char *keys[KEYS_MOST]; /* NULL: not known */
    uint32_t stack;        /* the only key of stacks: a node of `calls` */
    uint64_t sums[SIDES][SUMS];
    double variances[SIDES][SUMS]; /* 0 if the session is not sampled */
};

struct diff {
    struct diff_row *rows;
    size_t count, keys;
    struct text_ids *names;
    struct name_tree *calls;          /* NULL: rows are not stacks */
    struct same_modules *same[SIDES]; /* what the modules of a side are called in the session */
};

static int compare_texts(const char *left, const char *right)
{
    if (!left || !right)
        return (left == NULL) - (right == NULL);
    return strcmp(left, right);
}

static int by_keys(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;
    int order = (a->stack > b->stack) - (a->stack < b->stack);
    for (size_t i = 0; i < KEYS_MOST && order == 0; i++)
        order = compare_texts(a->keys[i], b->keys[i]);
    return order;
}

static uint64_t change(const struct diff_row *row)
{
    const uint64_t before = row->sums[0][0], now = row->sums[1][0];
    return now < before ? before - now : now - before;
}

static int by_change(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;
    return ORDER(change(b), change(a)) ?: ORDER(b->sums[1][0], a->sums[1][0]) ?: by_keys(left, right);
}

static bool copy_key(const struct same_modules *same, const struct session_group_set *set,
                     size_t row, size_t key, char **copy)
{
    char number[32];
    const struct session_group_key found = session_group_key(set, row, key);
    const struct session_key_column *columns;
    session_groups_keys(set, &columns);
    *copy = NULL;
    if (found.is_null)
        return true;
    if (found.text)
        *copy = same_modules_name(same, columns[key].name, found.text);
    else {
        session_group_key_text(set, row, key, number, sizeof(number));
        *copy = strdup(number);
    }
    return *copy != NULL;
}

/* The nodes of the call sites of a session's stacks, and their names. */
struct stacks {
    uint32_t *sites;
    struct name_walk walk;
};

static bool add_row(struct diff *diff, struct session_group_set *set, size_t row, int side,
                    struct stacks *stacks, struct session_error *error)
{
    struct diff_row *added = &diff->rows[diff->count];
    *added = (struct diff_row){.stack = NO_STACK};
    diff->count++;
    const struct session_group_key key = session_group_key(set, row, 0);
    if (diff->calls && !key.is_null &&
        !name_walk_find(&stacks->walk, stacks->sites[key.id], &added->stack, error))
        return false;
    for (size_t i = 0; !diff->calls && i < diff->keys; i++)
        if (!copy_key(diff->same[side], set, row, i, &added->keys[i]))
            return report_fail_memory(error, "the names");
    for (size_t i = 0; i < SUMS; i++) {
        double standard_error = 0;
        if (!session_group_value(set, row, measures[i], &added->sums[side][i], error) ||
            !session_group_error(set, row, measures[i], &standard_error, error))
            return false;
        added->variances[side][i] = standard_error * standard_error;
    }
    return true;
}

static bool add_side(const struct report_request *request, struct session *session, int side,
                     struct diff *diff, struct session_error *error)
{
    diff->same[side] = same_modules_find(session, request->session, error);
    if (!diff->same[side])
        return false;
    struct graph_result *result =
        request_run(request, session, NULL, group_join_step(request->by), error);
    struct session_group_set *set = result ? graph_result_groups(result) : NULL;
    const size_t rows = set ? session_groups_count(set) : 0;
    struct stacks stacks = {.sites = NULL};
    bool good = set && session_groups_prepare(set, 1u << MEASURE_LIVE_BYTES, error);
    good = good && (!diff->calls ||
                    (name_walk_begin(&stacks.walk, diff->calls, session, diff->same[side], error) &&
                     session_stack_sites(session, &stacks.sites, error)));
    struct diff_row *more =
        good ? realloc(diff->rows, (diff->count + rows + 1) * sizeof(*more)) : NULL;
    if (good && !more)
        good = report_fail_memory(error, "the groups");
    if (more)
        diff->rows = more;
    for (size_t row = 0; good && row < rows; row++)
        good = add_row(diff, set, row, side, &stacks, error);
    name_walk_end(&stacks.walk);
    free(stacks.sites);
    graph_result_free(result);
    return good;
}

static void clear_row(struct diff_row *row)
{
    for (size_t i = 0; i < KEYS_MOST; i++)
        free(row->keys[i]);
}

/* Joins the rows of equal keys, and puts the largest changes first. */
static void join_rows(struct diff *diff)
{
    size_t count = 0;
    if (diff->count == 0)
        return;
    qsort(diff->rows, diff->count, sizeof(*diff->rows), by_keys);
    for (size_t i = 0; i < diff->count; i++) {
        struct diff_row *row = &diff->rows[i], *last = count > 0 ? &diff->rows[count - 1] : NULL;
        if (!last || by_keys(last, row) != 0) {
            diff->rows[count++] = *row;
            continue;
        }
        for (size_t j = 0; j < SUMS; j++) {
            last->sums[0][j] += row->sums[0][j];
            last->sums[1][j] += row->sums[1][j];
            last->variances[0][j] += row->variances[0][j];
            last->variances[1][j] += row->variances[1][j];
        }
        clear_row(row);
    }
    diff->count = count;
    qsort(diff->rows, diff->count, sizeof(*diff->rows), by_change);
}

/* Stores the columns of the keys, which are texts here. */
static size_t key_columns(enum report_by by, struct document_column *columns)
{
    if (by == BY_STACK) {
        columns[0] = (struct document_column){"stack", NULL, VALUE_TEXT, NULL};
        return 1;
    }
    const size_t count = group_key_columns(by, columns);
    for (size_t i = 0; i < count; i++)
        columns[i].kind = columns[i].kind == VALUE_NAME ? VALUE_NAME : VALUE_TEXT;
    return count;
}

static void add_facts(const struct diff *diff, struct document *document)
{
    static const char *const names[SIDES][SUMS] = {
        {"base_bytes", "base_allocations", "base_live_bytes"},
        {"bytes", "allocations", "live_bytes"}};
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < SUMS; i++) {
            uint64_t sum = 0;
            double variance = 0;
            for (size_t row = 0; row < diff->count; row++) {
                sum += diff->rows[row].sums[side][i];
                variance += diff->rows[row].variances[side][i];
            }
            document_fact_sum(document, names[side][i], NULL,
                              measures[i] == MEASURE_ALLOCATIONS ? VALUE_NUMBER : VALUE_BYTES, sum,
                              sqrt(variance));
        }
}

/* Names the modules of the base that have another name now, if there are any. */
static void add_modules(const struct diff *diff, struct document *document)
{
    static const struct document_column columns[] = {{"base_module", NULL, VALUE_TEXT, NULL},
                                                     {"module", NULL, VALUE_TEXT, NULL},
                                                     {"same_by", "same by", VALUE_TEXT, NULL}};
    const struct same_module *list;
    const size_t count = same_modules_list(diff->same[0], &list);
    if (count == 0)
        return;
    document_table(document, "modules", "Compared under one name", columns, 3);
    for (size_t i = 0; i < count; i++) {
        document_text(document, list[i].from);
        document_text(document, list[i].to);
        document_text(document, list[i].by_build ? "build-id" : "name without version");
    }
    document_rows(document, count);
}

static bool put_keys(const struct diff *diff, const struct diff_row *row, struct document *document)
{
    if (!diff->calls || row->stack == NO_STACK) {
        for (size_t i = 0; i < diff->keys; i++)
            document_text(document, row->keys[i]);
        return true;
    }
    char *text = name_tree_text(diff->calls, row->stack);
    document_text(document, text);
    free(text);
    return text != NULL;
}

static bool add_rows(const struct report_request *request, const struct diff *diff,
                     struct document *document, struct session_error *error)
{
    struct document_column columns[DOCUMENT_COLUMNS_MOST] = {
        {"change_bytes", NULL, VALUE_BYTES, NULL},
        {"bytes", NULL, VALUE_BYTES, NULL},
        {"base_bytes", NULL, VALUE_BYTES, NULL},
        {"change_allocations", NULL, VALUE_NUMBER, NULL},
        {"allocations", NULL, VALUE_NUMBER, NULL},
        {"base_allocations", NULL, VALUE_NUMBER, NULL},
        {"change_live_bytes", NULL, VALUE_BYTES, NULL},
        {"live_bytes", NULL, VALUE_BYTES, NULL},
        {"base_live_bytes", NULL, VALUE_BYTES, NULL}};
    static const size_t sums = 3 * (size_t)SUMS;
    const size_t keys = key_columns(request->by, columns + sums);
    document_table(document, "groups", "Changes", columns, sums + keys);
    for (size_t i = 0; i < diff->count && (request->top == 0 || i < request->top); i++) {
        const struct diff_row *row = &diff->rows[i];
        for (size_t j = 0; j < SUMS; j++) {
            document_sum_change(document, row->sums[0][j], row->sums[1][j],
                                sqrt(row->variances[0][j] + row->variances[1][j]));
            document_sum(document, row->sums[1][j], sqrt(row->variances[1][j]));
            document_sum(document, row->sums[0][j], sqrt(row->variances[0][j]));
        }
        if (!put_keys(diff, row, document))
            return report_fail_memory(error, "the names");
    }
    document_rows(document, diff->count);
    return true;
}

bool report_diff(const struct report_request *request, struct document *document,
                 struct session_error *error)
{
    struct document_column columns[DOCUMENT_COLUMNS_MOST];
    struct diff diff = {.keys = key_columns(request->by, columns)};
    bool good = request->by != BY_STACK ||
                ((diff.names = text_ids_new()) && (diff.calls = name_tree_new(diff.names)));
    if (!good)
        report_fail_memory(error, "the names");
    good = good && add_side(request, request->base, 0, &diff, error) &&
           add_side(request, request->session, 1, &diff, error);
    if (good) {
        join_rows(&diff);
        add_facts(&diff, document);
        good = add_rows(request, &diff, document, error);
        add_modules(&diff, document);
    }
    for (size_t i = 0; i < diff.count; i++)
        clear_row(&diff.rows[i]);
    free(diff.rows);
    name_tree_free(diff.calls);
    text_ids_free(diff.names);
    for (int side = 0; side < SIDES; side++)
        same_modules_free(diff.same[side]);
    return good;
}
