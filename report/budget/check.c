/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "session/time.h"

/* ---- who holds most, or what changed ---------------------------------------------------- */

/* Returns the sentence of a budget without its measure, NULL if memory is exhausted. */
static char *counted_sentence(const struct budget_check *check, const struct budget *budget)
{
    char *sentence = budget_sentence(check->file, budget, false), *all = NULL;
    const bool blank = sentence && strspn(sentence, " \t\r\n") == strlen(sentence);
    /* The measure is the only step: it measures everything. */
    if (!blank && budget->step != budget->graph)
        return sentence;
    free(sentence);
    return asprintf(&all, "%s all", blank ? "" : check->file->definitions) < 0 ? NULL : all;
}

/* Finds what explains an exceeded budget: without `base` who holds most, otherwise what changed
 * since then, where it measured `before`. Sentences of several sessions have nothing to tell. */
static void find_causes(const struct budget_check *check, const struct budget *budget,
                        struct session *session, struct session *base,
                        const struct session_measure *before, bool falls,
                        struct budget_result *result)
{
    char *sentence = counted_sentence(check, budget);
    const struct budget_side now = {session, sentence, &result->measure},
                             then = {base, sentence, before};
    if (sentence && !budget_causes_find(&result->causes, &now, base ? &then : NULL, falls))
        say("mprof-report", "%s: what explains it is not told: there is no memory", budget->name);
    free(sentence);
}

/* ---- parts of the resident set ----------------------------------------------------------- */

/* Finds the reading that a budget is about. NULL: the session has none. */
static bool find_moment(const struct budget *budget, struct session *session,
                        const struct session_residency **moment, struct session_error *error)
{
    const struct session_residency *moments;
    size_t count;
    uint64_t ns = 0;
    if (!session_residencies(session, &moments, &count, error) ||
        (budget->at && !session_moment(session, budget->at, &ns, error)))
        return false;
    if (count > 0)
        *moment = &moments[budget->at ? session_residency_nearest(moments, count, ns)
                                      : session_residency_largest(moments, count)];
    return true;
}

/* Returns what a group has of a part, 0 if nobody has it. */
static uint64_t part_of(const struct session_residency_group *group,
                        enum session_residency_class part)
{
    return part == RESIDENCY_LIVE_RESIDENT    ? group->resident
           : part == RESIDENCY_HEADERS        ? group->headers
           : part == RESIDENCY_HOLES          ? group->pinned
           : part == RESIDENCY_LIVE_UNTOUCHED ? group->untouched
           : part == RESIDENCY_LIVE_SWAPPED   ? group->swapped
                                              : 0;
}

/* Finds the functions of the user's own code whose blocks make most of a part. */
static void find_rss_causes(const struct budget *budget, struct session *session,
                            struct budget_causes *causes)
{
    struct session_error ignored = {.message = ""};
    const struct session_residency *moment = NULL;
    struct session_residency_group *rows = NULL, total;
    size_t count = 0;
    if (!find_moment(budget, session, &moment, &ignored) || !moment ||
        !session_residency_groups(session, moment, SESSION_RESIDENCY_USER, &rows, &count, &total,
                                  &ignored))
        return;
    causes->rows = calloc(CAUSES_MOST + CAUSES_KEPT_MOST, sizeof(*causes->rows));
    causes->now = part_of(&total, budget->part);
    for (size_t i = 0; i < count; i++)
        causes->own_all += part_of(&rows[i], budget->part) > 0;
    while (causes->rows && causes->count < CAUSES_MOST && causes->count < causes->own_all) {
        size_t most = 0;
        for (size_t i = 1; i < count; i++)
            if (part_of(&rows[i], budget->part) > part_of(&rows[most], budget->part))
                most = i;
        const uint32_t function = rows[most].id;
        causes->rows[causes->count++] = (struct budget_cause){
            .function = function ? strdup(session_function_name(session, function)) : NULL,
            .module = function ? strdup(session_function_module(session, function)) : NULL,
            .now = part_of(&rows[most], budget->part)};
        rows[most] = (struct session_residency_group){.id = 0};
    }
    free(rows);
}

/* ---- one budget ------------------------------------------------------------------------- */

static void say_warnings(const struct budget *budget, const struct graph_result *result)
{
    const struct session_warning *warnings;
    const size_t count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < count; i++)
        say("mprof-report", "%s: %s", budget->name, warnings[i].message);
}

/* Measures a part of the resident set, and notes if the session does not know it. Returns false
 * with `error` set, its column above 0 if the time is to blame. */
static bool measure_rss(const struct budget *budget, struct session *session,
                        struct session_measure *found, char **name, bool *unknown,
                        struct session_error *error)
{
    const struct session_residency *moment = NULL;
    if (!find_moment(budget, session, &moment, error))
        return false;
    if (asprintf(name, "%s of rss",
                 budget->part == RESIDENCY_CLASSES
                     ? "all"
                     : session_residency_class_name(budget->part)) < 0)
        *name = NULL;
    *found = (struct session_measure){.name = *name ? *name : "", .unit = UNIT_BYTES};
    *unknown |= !moment;
    if (moment)
        found->value =
            budget->part == RESIDENCY_CLASSES ? moment->present : moment->bytes[budget->part];
    return true;
}

/* Runs the sentence of a budget, and notes if the session cannot tell its value. Returns false with
 * `error` set; its column is 0 if the session is to blame. */
static bool measure(const struct budget_check *check, const struct budget *budget,
                    struct session *session, bool warn, struct session_measure *found, char **name,
                    bool *unknown, struct session_error *error)
{
    if (budget->of_rss) {
        const bool good = measure_rss(budget, session, found, name, unknown, error);
        if (!good && error->column > 0) {
            budget_fail(check->file, budget->graph, error, error->message);
            error->column = 1;
        }
        return good;
    }
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

/* Returns a measure's standard error, 0 if not an estimate, below 0 if unknown. */
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
                         struct session *session, struct budget_result *result)
{
    result->verdict = BUDGET_UNKNOWN;
    snprintf(result->error, sizeof(result->error), "%s: not judged: %s", budget->name,
             budget->of_rss ? session_residency_why(session)
                            : "a recording stopped before the program ended, and what was live "
                              "then need not be leaked; limit live, or record to the end");
    check->unknown++;
}

/* Takes the median of the runs before as what is compared with. Returns false if there is none. */
static bool take_median(const struct budget *budget, const struct history *history, size_t last,
                        struct budget_result *result)
{
    int64_t median = 0;
    result->median_runs =
        history_median(history, budget->name, budget_unit_name(result), last, &median);
    result->base =
        (struct session_measure){.name = result->measure.name,
                                 .unit = result->measure.unit,
                                 .negative = median < 0,
                                 .value = median < 0 ? 0 - (uint64_t)median : (uint64_t)median};
    result->has_base = result->median_runs > 0;
    if (result->median_runs == 0)
        say("mprof-report", "%s: not limited yet: the history has no run that measured it",
            budget->name);
    return result->median_runs > 0;
}

/* Measures the base and compares. `unknown` tells if the session cannot tell the measure. Returns
 * false with `error` set. */
static bool judge(struct budget_check *check, const struct budget *budget, struct session *session,
                  struct session *base, const struct history *history, struct budget_result *result,
                  bool unknown, struct session_error *error)
{
    struct limit limit;
    struct session_measure before = {.name = NULL};
    char *name = NULL;
    __int128 shown = 0;
    if (!limit_parse(budget->limit, session, result->measure.unit, &limit, error))
        return fail_limit(check, budget, error->message, error);
    if (limit.last > 0 && !history)
        return fail_limit(check, budget, "a median needs --history FILE", error);
    if (limit.relative && limit.last == 0 && !base)
        return fail_limit(check, budget, "a percentage needs --base SESSION", error);
    if (limit.relative && base) {
        const bool good = measure(check, budget, base, false, &before, &name, &unknown, error);
        free(name);
        if (!good)
            return false;
        before.name = result->measure.name;
    }
    if (limit.relative && limit.last == 0) {
        result->base = before;
        result->has_base = true;
    }
    if (unknown) {
        take_unknown(check, budget, session, result);
        return true;
    }
    if (limit.last > 0 && !take_median(budget, history, limit.last, result))
        return true;
    if (!limit_passes(&limit, budget->relation, &result->measure, &result->base, &shown)) {
        result->verdict = BUDGET_EXCEEDED;
        check->exceeded++;
        if (budget->of_rss)
            find_rss_causes(budget, session, &result->causes);
        else
            find_causes(check, budget, session, limit.relative ? base : NULL, &before,
                        (__int128)result->measure.value * (result->measure.negative ? -1 : 1) <
                            shown,
                        result);
    }
    say_doubt(budget, result, (double)shown, (double)limit.change / 1e6, session_sampled(session));
    result->has_limit = true;
    result->limit_negative = shown < 0;
    result->limit = (uint64_t)(shown < 0 ? -shown : shown);
    return true;
}

bool budget_check_run(struct budget_check *check, const struct budget_file *file,
                      struct session *session, struct session *base, const struct history *history,
                      struct session_error *error)
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
             !judge(check, budget, session, base, history, result, unknown, &wrong)) &&
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
        free(check->results[i].measure_name);
        budget_causes_free(&check->results[i].causes);
    }
    free(check->results);
}

/* ---- results ---------------------------------------------------------------------------- */

const char *const budget_verdict_names[] = {[BUDGET_KEPT] = "kept",
                                            [BUDGET_EXCEEDED] = "exceeded",
                                            [BUDGET_WRONG] = "error",
                                            [BUDGET_UNKNOWN] = "not judged"};

static enum value_kind unit_kind(enum session_unit unit)
{
    return unit == UNIT_BYTES      ? VALUE_BYTES
           : unit == UNIT_DURATION ? VALUE_DURATION
           : unit == UNIT_MOMENT   ? VALUE_MOMENT
                                   : VALUE_NUMBER;
}

const char *budget_unit_name(const struct budget_result *result)
{
    static const char *const names[] = {[UNIT_NUMBER] = "number",
                                        [UNIT_BYTES] = "bytes",
                                        [UNIT_DURATION] = "ns",
                                        [UNIT_MOMENT] = "ns since start"};
    return result->measure_name ? names[result->measure.unit] : NULL;
}

struct document_value budget_measured(const struct session_measure *measure)
{
    return (struct document_value){.kind = unit_kind(measure->unit),
                                   .is_null = measure->is_null,
                                   .negative = measure->negative,
                                   .number = measure->value,
                                   .estimated = measure->estimated,
                                   .standard_error = measure->standard_error};
}

struct document_value budget_limit_value(const struct budget_result *result)
{
    return (struct document_value){.kind = unit_kind(result->measure.unit),
                                   .is_null = !result->has_limit,
                                   .negative = result->limit_negative,
                                   .number = result->limit};
}

static void add_result(const struct budget *budget, const struct budget_result *result,
                       struct document *document)
{
    static const struct document_value none = {.kind = VALUE_NUMBER, .is_null = true};
    char condition[128];
    snprintf(condition, sizeof(condition), "%s %.100s", budget->sign, budget->limit);
    const bool told = result->verdict != BUDGET_UNKNOWN;
    document_value(document,
                   told && result->measure_name ? budget_measured(&result->measure) : none);
    document_value(document, budget_limit_value(result));
    document_value(document, told && result->has_base ? budget_measured(&result->base) : none);
    document_text(document, budget_unit_name(result));
    document_text(document, budget_verdict_names[result->verdict]);
    document_text(document, budget->name);
    document_text(document, condition);
    document_text(document, result->error[0] != '\0' ? result->error : NULL);
}

/* Adds the sum of a row: an estimate if the session is a sample. */
static void add_sum(struct document *document, enum value_kind kind, uint64_t number,
                    double variance)
{
    document_value(document, (struct document_value){.kind = kind,
                                                     .number = number,
                                                     .estimated = document->estimated,
                                                     .standard_error = sqrt(variance)});
}

static void add_causes(const struct budget *budget, const struct budget_causes *causes,
                       struct document *document)
{
    const enum value_kind kind = causes->counts ? VALUE_NUMBER : VALUE_BYTES;
    for (size_t i = 0; i < causes->count; i++) {
        const struct budget_cause *cause = &causes->rows[i];
        const bool less = cause->now < cause->before;
        if (causes->compared) {
            document_value(document,
                           (struct document_value){.kind = kind,
                                                   .number = less ? cause->before - cause->now
                                                                  : cause->now - cause->before,
                                                   .negative = less,
                                                   .estimated = document->estimated,
                                                   .standard_error = sqrt(cause->variance)});
            add_sum(document, kind, cause->now, -1);
            add_sum(document, kind, cause->before, -1);
        } else {
            add_sum(document, kind, cause->now, cause->variance);
            document_share(document, cause->now, causes->now);
        }
        document_text(document, causes->counts ? "allocations" : "bytes");
        document_text(document, budget->name);
        document_truth(document, cause->kept);
        document_text(document, cause->function);
        document_text(document, cause->module);
        document_text(document, cause->type);
        document_text(document, cause->file);
        if (cause->line > 0)
            document_number(document, cause->line);
        else
            document_null(document);
    }
}

/* The columns that name a row of either table. */
#define CAUSE_COLUMNS                                                                              \
    {"unit", NULL, VALUE_TEXT, NULL}, {"name", "budget", VALUE_TEXT, NULL},                        \
        {"kept", NULL, VALUE_TRUTH, NULL}, {"function", NULL, VALUE_NAME, NULL},                   \
        {"module", NULL, VALUE_TEXT, NULL}, {"type", NULL, VALUE_NAME, NULL},                      \
        {"file", NULL, VALUE_TEXT, ""},                                                            \
    {                                                                                              \
        "line", NULL, VALUE_LINE, NULL                                                             \
    }

/* Adds the table of those budgets whose causes are compared with a base, or are not. */
static void add_causes_of(const struct budget_check *check, bool compared,
                          struct document *document)
{
    static const struct document_column holders[] = {{"value", NULL, VALUE_NUMBER, NULL},
                                                     {"share", NULL, VALUE_SHARE, NULL},
                                                     CAUSE_COLUMNS},
                                        changes[] = {{"change", NULL, VALUE_NUMBER, NULL},
                                                     {"value", NULL, VALUE_NUMBER, NULL},
                                                     {"base", NULL, VALUE_NUMBER, NULL},
                                                     CAUSE_COLUMNS};
    size_t with = 0;
    for (size_t i = 0; i < check->file->count; i++)
        with += check->results[i].verdict == BUDGET_EXCEEDED &&
                check->results[i].causes.compared == compared;
    if (with == 0)
        return;
    if (compared)
        document_table(document, "changes", "What changed since the base", changes,
                       sizeof(changes) / sizeof(*changes));
    else
        document_table(document, "holders", "Who holds most of what is exceeded", holders,
                       sizeof(holders) / sizeof(*holders));
    for (size_t i = 0; i < check->file->count; i++)
        if (check->results[i].causes.compared == compared)
            add_causes(&check->file->budgets[i], &check->results[i].causes, document);
}

void budget_check_document(const struct budget_check *check, struct document *document)
{
    static const struct document_column results[] = {
        {"value", NULL, VALUE_NUMBER, NULL},   {"limit", NULL, VALUE_NUMBER, NULL},
        {"base", NULL, VALUE_NUMBER, NULL},    {"unit", NULL, VALUE_TEXT, "-"},
        {"verdict", NULL, VALUE_TEXT, NULL},   {"name", "budget", VALUE_TEXT, NULL},
        {"condition", NULL, VALUE_TEXT, NULL}, {"error", "", VALUE_TEXT, ""}};
    document_table(document, "budgets", "Budgets", results, sizeof(results) / sizeof(*results));
    for (size_t i = 0; i < check->file->count; i++)
        add_result(&check->file->budgets[i], &check->results[i], document);
    add_causes_of(check, false, document);
    add_causes_of(check, true, document);
}
