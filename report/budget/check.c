/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

/* ---- who holds most --------------------------------------------------------------------- */

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

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

static char *copy(const struct session_group_key key)
{
    return key.is_null || !key.text ? NULL : strdup(key.text);
}

/* Takes the first rows of a set of groups by function and module. */
static void take_holders(struct budget_result *result, struct session_group_set *set, bool counts)
{
    const enum session_group_measure measure = counts ? MEASURE_ALLOCATIONS : MEASURE_BYTES;
    struct session_error ignored;
    uint64_t whole = 0;
    if (!session_groups_sort(set, measure, true, &ignored) ||
        !session_groups_sum(set, measure, &whole, &ignored))
        return;
    for (size_t row = 0; row < session_groups_count(set) && row < HOLDERS_MOST; row++) {
        struct budget_holder *holder = &result->holders[row];
        if (!session_group_value(set, row, measure, &holder->value, &ignored) ||
            !session_group_error(set, row, measure, &holder->standard_error, &ignored))
            return;
        holder->function = copy(session_group_key(set, row, 0));
        holder->module = copy(session_group_key(set, row, 1));
        holder->whole = whole;
        holder->counts = counts;
        result->holder_count = row + 1;
    }
}

/* Runs the sentence without its measure, with these steps. Returns false if it does not run. */
static bool find_holders_by(struct session *session, const char *sentence, const char *steps,
                            struct budget_result *result)
{
    struct session_error ignored;
    char *text = NULL;
    if (asprintf(&text, "%s %s | join function, module", sentence, steps) < 0)
        return true;
    struct graph_result *groups = graph_run(session, text, &ignored);
    free(text);
    if (!groups)
        return false;
    take_holders(result, graph_result_groups(groups), begins(result->measure.name, "count"));
    graph_result_free(groups);
    return true;
}

/* Finds the functions that hold most. Sentences of several sessions have none. */
static void find_holders(const struct budget_check *check, const struct budget *budget,
                         struct session *session, struct budget_result *result)
{
    char *sentence = budget_sentence(check->file, budget, false);
    char *steps = moment_steps(&result->measure);
    if (sentence && strspn(sentence, " \t\r\n") == strlen(sentence)) {
        free(sentence);
        sentence = strdup("all");
    }
    if (sentence && steps && budget->step == budget->graph) {
        /* The measure is the only step: it measures everything. */
        char *all = NULL;
        if (asprintf(&all, "%s all", check->file->definitions) >= 0) {
            free(sentence);
            sentence = all;
        }
    }
    /* Groups stand for their allocations. */
    if (sentence && steps && !find_holders_by(session, sentence, steps, result))
        find_holders_by(session, sentence, "| ungroup", result);
    free(sentence);
    free(steps);
}

/* ---- one budget ------------------------------------------------------------------------- */

static void say_warnings(const struct budget *budget, const struct graph_result *result)
{
    const struct session_warning *warnings;
    const size_t count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < count; i++)
        say("mprof-report", "%s: %s", budget->name, warnings[i].message);
}

/* Runs the sentence of a budget, and notes if the session cannot tell its value. Returns false with
 * `error` set; its column is 0 if the session is to blame. */
static bool measure(const struct budget_check *check, const struct budget *budget,
                    struct session *session, bool warn, struct session_measure *found, char **name,
                    bool *unknown, struct session_error *error)
{
    char *sentence = budget_sentence(check->file, budget, true);
    struct graph_result *result = sentence ? graph_run(session, sentence, error) : NULL;
    const struct session_measure *measured = result ? graph_result_measure(result) : NULL;
    if (!sentence)
        report_fail_memory(error, "a sentence");
    free(sentence);
    *unknown |= result && graph_result_leaks_unknown(result);
    if (measured) {
        *found = *measured;
        *name = strdup(measured->name);
        found->name = *name ? *name : "";
        if (warn)
            say_warnings(budget, result);
    } else if (result) {
        report_fail(error, "the sentence gives no measure");
        error->column = 1;
    }
    graph_result_free(result);
    if (error->column > 0)
        budget_place_error(check->file, budget, error);
    return measured != NULL;
}

/* Notes a sentence that cannot be checked. Returns false if the session is to blame. */
static bool take_error(struct budget_check *check, struct budget_result *result,
                       const struct session_error *error)
{
    if (error->column == 0)
        return false;
    result->verdict = BUDGET_WRONG;
    snprintf(result->error, sizeof(result->error), "%s", error->message);
    check->wrong++;
    return true;
}

static bool fail_limit(const struct budget_check *check, const struct budget *budget,
                       const char *message, struct session_error *error)
{
    char text[sizeof(error->message)];
    snprintf(text, sizeof(text), "%s", message);
    budget_fail(check->file, budget->limit_at, error, text);
    error->column = 1;
    return false;
}

/* Returns the standard error of a measure, 0 if it is not an estimate, below 0 if it is not
 * known. */
static double error_of(const struct session_measure *measure)
{
    return measure->estimated ? measure->standard_error : 0;
}

/* Says why the verdict is in doubt, if it is: `sampled` tells that the session is a sample, and
 * `change` is the allowed change of the base, of which the error is a part of that of the limit. */
static void say_doubt(const struct budget *budget, const struct budget_result *result, double limit,
                      double change, bool sampled)
{
    const struct session_measure *found = &result->measure, *base = &result->base;
    const double value = (double)found->value * (found->negative ? -1 : 1);
    const double own = error_of(found), other = error_of(base);
    const char *why = NULL;
    if (found->is_null)
        return;
    if (sampled && !found->estimated) {
        if (result->verdict == BUDGET_KEPT)
            why = "the value is that of the recorded blocks, and others can lie beyond the limit";
    } else if (sampled && found->value == 0)
        why = "the value is 0 in the sample, and the program can have blocks that it lacks";
    else if (own < 0 || other < 0)
        why = "an estimate is compared whose error is not known";
    else if ((found->estimated || base->estimated) &&
             fabs(value - limit) <= 2 * hypot(own, other * (1 + change)))
        why = "an estimate and its limit are within two standard errors";
    if (why)
        say("mprof-report", "%s: in doubt: %s; record without --sample to be sure", budget->name,
            why);
}

/* Notes a budget that the session cannot tell. */
static void take_unknown(struct budget_check *check, const struct budget *budget,
                         struct budget_result *result)
{
    result->verdict = BUDGET_UNKNOWN;
    snprintf(result->error, sizeof(result->error),
             "%s: not judged: a recording stopped before the program ended, and what was live then "
             "need not be leaked; limit live, or record to the end",
             budget->name);
    check->unknown++;
}

/* Measures the base and compares. `unknown` tells if the session cannot tell the measure. Returns
 * false with `error` set. */
static bool judge(struct budget_check *check, const struct budget *budget, struct session *session,
                  struct session *base, struct budget_result *result, bool unknown,
                  struct session_error *error)
{
    struct limit limit;
    char *name = NULL;
    __int128 shown = 0;
    if (!limit_parse(budget->limit, session, result->measure.unit, &limit, error))
        return fail_limit(check, budget, error->message, error);
    if (limit.relative && !base)
        return fail_limit(check, budget, "a percentage needs --base SESSION", error);
    if (limit.relative) {
        const bool good =
            measure(check, budget, base, false, &result->base, &name, &unknown, error);
        free(name);
        if (!good)
            return false;
        result->has_base = true;
    }
    if (unknown) {
        take_unknown(check, budget, result);
        return true;
    }
    if (!limit_passes(&limit, budget->relation, &result->measure, &result->base, &shown)) {
        result->verdict = BUDGET_EXCEEDED;
        check->exceeded++;
        find_holders(check, budget, session, result);
    }
    say_doubt(budget, result, (double)shown, (double)limit.change / 1e6, session_sampled(session));
    result->has_limit = true;
    result->limit_negative = shown < 0;
    result->limit = (uint64_t)(shown < 0 ? -shown : shown);
    return true;
}

bool budget_check_run(struct budget_check *check, const struct budget_file *file,
                      struct session *session, struct session *base, struct session_error *error)
{
    *check = (struct budget_check){.file = file,
                                   .results = calloc(file->count + 1, sizeof(*check->results))};
    if (!check->results)
        return report_fail_memory(error, "the budgets");
    for (size_t i = 0; i < file->count; i++) {
        const struct budget *budget = &file->budgets[i];
        struct budget_result *result = &check->results[i];
        struct session_error wrong = {.message = ""};
        bool unknown = false;
        if ((!measure(check, budget, session, true, &result->measure, &result->measure_name,
                      &unknown, &wrong) ||
             !judge(check, budget, session, base, result, unknown, &wrong)) &&
            !take_error(check, result, &wrong)) {
            *error = wrong;
            return false;
        }
    }
    return true;
}

void budget_check_free(struct budget_check *check)
{
    for (size_t i = 0; check->results && i < check->file->count; i++) {
        struct budget_result *result = &check->results[i];
        free(result->measure_name);
        for (size_t j = 0; j < HOLDERS_MOST; j++) {
            free(result->holders[j].function);
            free(result->holders[j].module);
        }
    }
    free(check->results);
}
