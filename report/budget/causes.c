/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/same_modules.h"
#include "session/user_code.h"

/* The names of a row belong to its session, or to `named`, until it is copied. */
struct row {
    const char *function, *module, *type, *file;
    uint32_t line;
    bool kept;
    uint64_t now, before, most; /* most: of one stack, which names file and line */
    double variance;
};

struct table {
    struct row *rows;
    size_t count, capacity;
    char **named; /* names of the base as the session has them */
    size_t named_count, named_capacity;
};

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* ---- the blocks that a measure counted -------------------------------------------------- */

/* Returns the steps that leave what the measure counted at its moment: of a peak, those live at it;
 * of a growth, those live at its end. NULL if memory is exhausted. */
static char *moment_steps(const struct session_measure *measure)
{
    char *steps = NULL;
    int length = 0;
    if (begins(measure->name, "growth")) {
        const char *until = strstr(measure->name, "..");
        until = until ? until + 2 : "end";
        length =
            asprintf(&steps, "| where alloc_time <= (%s) and not free_time <= (%s)", until, until);
    } else if (begins(measure->name, "peak") && measure->part_count > 0) {
        const unsigned long long ns = measure->part[0].value;
        length =
            asprintf(&steps, "| where alloc_time <= %lluns and not free_time <= %lluns", ns, ns);
    } else
        steps = strdup("");
    return length < 0 ? NULL : steps;
}

/* Runs the sentence by stack and type. Groups stand for their allocations. NULL if it does not run,
 * as a sentence of several sessions. */
static struct graph_result *by_stack(const struct budget_side *side)
{
    static const char *const forms[] = {"", "| ungroup"};
    struct session_error ignored;
    struct graph_result *result = NULL;
    char *steps = moment_steps(side->measure);
    for (size_t i = 0; steps && !result && i < 2; i++) {
        char *text = NULL;
        if (asprintf(&text, "%s %s %s | join stack, type", side->sentence, forms[i], steps) < 0)
            break;
        result = graph_run(side->session, text, &ignored);
        free(text);
    }
    free(steps);
    return result;
}

/* Stores by stack whether its blocks are kept. */
static bool *kept_stacks(struct session *session, uint32_t largest)
{
    struct session_error ignored;
    bool *kept = calloc((size_t)largest + 1, sizeof(*kept));
    struct graph_result *result =
        kept ? graph_run(session, "live - leaked | join stack", &ignored) : NULL;
    struct session_group_set *set = result ? graph_result_groups(result) : NULL;
    for (size_t i = 0; set && i < session_groups_count(set); i++) {
        const struct session_group_key key = session_group_key(set, i, 0);
        if (!key.is_null && key.id <= largest)
            kept[key.id] = true;
    }
    graph_result_free(result);
    return kept;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Returns a name of the base as the session has it, NULL if memory is exhausted. */
static const char *named(struct table *table, const struct same_modules *same, const char *field,
                         const char *name)
{
    char *copy = same_modules_name(same, field, name);
    if (!copy || !ARRAY_GROW(table->named, table->named_count, table->named_capacity)) {
        free(copy);
        return NULL;
    }
    return table->named[table->named_count++] = copy;
}

/* Names the user's function of a stack, or else its call site. */
static bool name_stack(struct table *table, struct session *session,
                       const struct same_modules *same, uint32_t stack,
                       struct session_frame **frames, size_t *capacity, struct row *row)
{
    const size_t count = session_stack(session, stack, NULL, 0);
    size_t at = session_stack_user(session, stack);
    if (count == 0)
        return true;
    if (!array_grow(frames, capacity, count, sizeof(**frames)))
        return false;
    session_stack(session, stack, *frames, count);
    if (at >= count)
        at = session_stack_call_site(session, stack);
    const struct session_frame *frame = &(*frames)[at < count ? at : 0];
    row->function = session_function_name(session, frame->function);
    row->module = session_function_module(session, frame->function);
    row->file = *frame->file ? frame->file : NULL;
    row->line = frame->line;
    if (!same)
        return true;
    if (strstr(row->function, "+0x"))
        row->function = named(table, same, "function", row->function);
    row->module = row->function ? named(table, same, "module", row->module) : NULL;
    return row->module != NULL;
}

/* Adds a row for each stack and type of a side. `same` NULL: it is the session, not its base. */
static bool add_side(struct table *table, const struct budget_side *side,
                     const struct same_modules *same, bool counts)
{
    const enum session_group_measure measure = counts ? MEASURE_ALLOCATIONS : MEASURE_BYTES;
    struct session_error ignored;
    struct graph_result *result = by_stack(side);
    struct session_group_set *set = result ? graph_result_groups(result) : NULL;
    const uint32_t largest =
        session_load_stacks(side->session, &ignored) ? session_stack_largest(side->session) : 0;
    struct session_frame *frames = NULL;
    size_t capacity = 0;
    bool *kept = set ? kept_stacks(side->session, largest) : NULL;
    bool good = !set || kept;
    for (size_t i = 0; good && set && i < session_groups_count(set); i++) {
        const struct session_group_key stack = session_group_key(set, i, 0),
                                       type = session_group_key(set, i, 1);
        struct row row = {.type = type.is_null ? NULL : type.text};
        uint64_t value;
        double error = 0;
        if (!session_group_value(set, i, measure, &value, &ignored) ||
            !session_group_error(set, i, measure, &error, &ignored))
            continue;
        *(same ? &row.before : &row.now) = value;
        row.most = value;
        row.variance = error * error;
        row.kept = !stack.is_null && stack.id <= largest && kept[stack.id];
        good = (stack.is_null || name_stack(table, side->session, same, (uint32_t)stack.id, &frames,
                                            &capacity, &row)) &&
               ARRAY_GROW(table->rows, table->count, table->capacity);
        if (good)
            table->rows[table->count++] = row;
    }
    FREE_ALL(frames, kept);
    graph_result_free(result);
    return good;
}

static int compare_texts(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) : (left == NULL) - (right == NULL);
}

static int by_key(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = compare_texts(a->function, b->function);
    if (order == 0)
        order = compare_texts(a->type, b->type);
    return order != 0 ? order : (int)a->kept - (int)b->kept;
}

/* Joins the rows of equal keys. The place is that of the stack with most in the session, or in the
 * base if the session has none. */
static void join_rows(struct table *table)
{
    size_t count = 0;
    if (table->count > 0)
        qsort(table->rows, table->count, sizeof(*table->rows), by_key);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        struct row *last = count > 0 ? &table->rows[count - 1] : NULL;
        if (!last || by_key(last, row) != 0) {
            table->rows[count++] = *row;
            continue;
        }
        const bool newer = row->now > 0 && last->now == 0, older = row->now == 0 && last->now > 0;
        if (newer || (!older && row->most > last->most)) {
            last->module = row->module;
            last->file = row->file;
            last->line = row->line;
            last->most = row->most;
        }
        last->now += row->now;
        last->before += row->before;
        last->variance += row->variance;
    }
    table->count = count;
}

/* Rows that are kept come last. Before them comes the largest change, or without a base the most.
 */
static int by_change(const void *left, const void *right, void *falls)
{
    const struct row *a = left, *b = right;
    const __int128 sign = *(const bool *)falls ? -1 : 1;
    const __int128 of_a = sign * ((__int128)a->now - a->before),
                   of_b = sign * ((__int128)b->now - b->before);
    if (a->kept != b->kept)
        return a->kept ? 1 : -1;
    return ORDER(of_b, of_a) ?: by_key(left, right);
}

static bool copy_text(const char *text, char **copy)
{
    *copy = text ? strdup(text) : NULL;
    return !text || *copy;
}

/* Takes the first rows of the program, and of what is kept. Rows that did not change are left out.
 */
static bool take_rows(const struct table *table, struct budget_causes *causes)
{
    size_t own = 0, kept = 0;
    bool good = true;
    causes->rows = calloc(CAUSES_MOST + CAUSES_KEPT_MOST, sizeof(*causes->rows));
    if (!causes->rows)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        size_t *so_far = row->kept ? &kept : &own;
        causes->now += row->now;
        causes->before += row->before;
        if (row->now == row->before)
            continue;
        if ((*so_far)++ >= (row->kept ? CAUSES_KEPT_MOST : CAUSES_MOST))
            continue;
        struct budget_cause *cause = &causes->rows[causes->count++];
        *cause = (struct budget_cause){.line = row->line,
                                       .kept = row->kept,
                                       .now = row->now,
                                       .before = row->before,
                                       .variance = row->variance};
        good &= copy_text(row->function, &cause->function) &&
                copy_text(row->module, &cause->module) && copy_text(row->type, &cause->type) &&
                copy_text(row->file, &cause->file);
    }
    causes->own_all = own;
    return good;
}

bool budget_causes_find(struct budget_causes *causes, const struct budget_side *now,
                        const struct budget_side *base, bool falls)
{
    struct table table = {.count = 0};
    struct session_error ignored;
    *causes = (struct budget_causes){.counts = begins(now->measure->name, "count"),
                                     .compared = base != NULL};
    struct same_modules *same =
        base ? same_modules_find(base->session, now->session, &ignored) : NULL;
    bool good = add_side(&table, now, NULL, causes->counts) &&
                (!same || add_side(&table, base, same, causes->counts));
    if (good && (!base || same)) {
        join_rows(&table);
        if (table.count > 0)
            qsort_r(table.rows, table.count, sizeof(*table.rows), by_change, &falls);
        good = take_rows(&table, causes);
    }
    for (size_t i = 0; i < table.named_count; i++)
        free(table.named[i]);
    FREE_ALL(table.named, table.rows);
    same_modules_free(same);
    return good;
}

void budget_causes_free(struct budget_causes *causes)
{
    for (size_t i = 0; i < causes->count; i++) {
        FREE_ALL(causes->rows[i].function, causes->rows[i].module, causes->rows[i].type,
                 causes->rows[i].file);
    }
    free(causes->rows);
}
