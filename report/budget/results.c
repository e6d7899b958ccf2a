/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of a check as a document, and as JUnit's XML. */
#include <stdlib.h>
#include <string.h>

#include "report/budget/check.h"
#include "report/document/formats.h"
#include "report/output/names.h"

static const char *const verdicts[] = {[BUDGET_KEPT] = "kept",
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

static const char *unit_name(const struct budget_result *result)
{
    static const char *const names[] = {[UNIT_NUMBER] = "number",
                                        [UNIT_BYTES] = "bytes",
                                        [UNIT_DURATION] = "ns",
                                        [UNIT_MOMENT] = "ns since start"};
    return result->measure_name ? names[result->measure.unit] : NULL;
}

/* Returns a measure as a value. */
static struct document_value measured(const struct session_measure *measure)
{
    return (struct document_value){.kind = unit_kind(measure->unit),
                                   .is_null = measure->is_null,
                                   .negative = measure->negative,
                                   .number = measure->value,
                                   .estimated = measure->estimated,
                                   .standard_error = measure->standard_error};
}

static struct document_value limit_value(const struct budget_result *result)
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
    document_value(document, told && result->measure_name ? measured(&result->measure) : none);
    document_value(document, limit_value(result));
    document_value(document, told && result->has_base ? measured(&result->base) : none);
    document_text(document, unit_name(result));
    document_text(document, verdicts[result->verdict]);
    document_text(document, budget->name);
    document_text(document, condition);
    document_text(document, result->error[0] != '\0' ? result->error : NULL);
}

static void add_holders(const struct budget *budget, const struct budget_result *result,
                        struct document *document)
{
    for (size_t i = 0; i < result->holder_count; i++) {
        const struct budget_holder *holder = &result->holders[i];
        document_value(document,
                       (struct document_value){.kind = holder->counts ? VALUE_NUMBER : VALUE_BYTES,
                                               .number = holder->value,
                                               .estimated = document->estimated,
                                               .standard_error = holder->standard_error});
        document_share(document, holder->value, holder->whole);
        document_text(document, holder->counts ? "allocations" : "bytes");
        document_text(document, budget->name);
        document_text(document, holder->function);
        document_text(document, holder->module);
    }
}

void budget_check_document(const struct budget_check *check, struct document *document)
{
    static const struct document_column results[] = {
        {"value", NULL, VALUE_NUMBER, NULL},   {"limit", NULL, VALUE_NUMBER, NULL},
        {"base", NULL, VALUE_NUMBER, NULL},    {"unit", NULL, VALUE_TEXT, "-"},
        {"verdict", NULL, VALUE_TEXT, NULL},   {"name", "budget", VALUE_TEXT, NULL},
        {"condition", NULL, VALUE_TEXT, NULL}, {"error", "", VALUE_TEXT, ""}};
    static const struct document_column holders[] = {
        {"value", NULL, VALUE_NUMBER, NULL},  {"share", NULL, VALUE_SHARE, NULL},
        {"unit", NULL, VALUE_TEXT, NULL},     {"name", "budget", VALUE_TEXT, NULL},
        {"function", NULL, VALUE_TEXT, NULL}, {"module", NULL, VALUE_TEXT, NULL}};
    document_table(document, "budgets", "Budgets", results, sizeof(results) / sizeof(*results));
    for (size_t i = 0; i < check->file->count; i++)
        add_result(&check->file->budgets[i], &check->results[i], document);
    if (check->exceeded == 0)
        return;
    document_table(document, "holders", "Who holds most of what is exceeded", holders,
                   sizeof(holders) / sizeof(*holders));
    for (size_t i = 0; i < check->file->count; i++)
        add_holders(&check->file->budgets[i], &check->results[i], document);
}

/* ---- JUnit ------------------------------------------------------------------------------ */

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    name_put_xml(out, text);
    fputc('"', out);
}

static void put_counts(const struct budget_check *check, FILE *out)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"0\"",
            check->file->count, check->exceeded, check->wrong + check->unknown);
}

/* Writes "<= 10", or "<= +5%, which is 12: the base has 12" if the text alone does not tell the
 * value. */
static void put_limit(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    char value[64];
    const struct document_value limit = limit_value(result), base = measured(&result->base);
    name_put_xml(out, budget->sign);
    fputc(' ', out);
    name_put_xml(out, budget->limit);
    if (result->has_limit && budget->limit[strspn(budget->limit, "0123456789")] != '\0')
        fprintf(out, ", which is %s", value_format(&limit, value));
    if (result->has_base)
        fprintf(out, ": the base has %s", base.is_null ? "nothing" : value_format(&base, value));
}

/* Writes "sum size is 12, the limit is <= 10", and who holds most. */
static void put_message(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    char value[64];
    const struct document_value found = measured(&result->measure);
    name_put_xml(out, result->measure_name ? result->measure_name : "");
    fprintf(out, " is %s, the limit is ", found.is_null ? "nothing" : value_format(&found, value));
    put_limit(budget, result, out);
    for (size_t i = 0; i < result->holder_count; i++) {
        const struct budget_holder *holder = &result->holders[i];
        const struct document_value held = {
            .kind = VALUE_NUMBER, .number = holder->value, .estimated = result->measure.estimated};
        fprintf(out, "; %s %s in ", value_format(&held, value),
                holder->counts ? "allocations" : "bytes");
        name_put_xml(out, holder->function ? holder->function : "(unknown)");
    }
}

/* Some readers show the attribute, others the text. */
static void put_failure(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    fputs("    <failure type=\"budget\" message=\"", out);
    put_message(budget, result, out);
    fputs("\">", out);
    put_message(budget, result, out);
    fputs("</failure>\n", out);
}

void budget_check_junit(const struct budget_check *check, const char *name, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mprof-report\"", out);
    put_counts(check, out);
    fputs(">\n <testsuite", out);
    put_attribute(out, "name", check->file->path);
    put_counts(check, out);
    fputs(">\n", out);
    for (size_t i = 0; i < check->file->count; i++) {
        const struct budget *budget = &check->file->budgets[i];
        const struct budget_result *result = &check->results[i];
        fputs("  <testcase", out);
        put_attribute(out, "name", budget->name);
        put_attribute(out, "classname", name);
        fputs(" time=\"0\"", out);
        if (result->verdict == BUDGET_KEPT) {
            fputs("/>\n", out);
            continue;
        }
        fputs(">\n", out);
        if (result->verdict == BUDGET_EXCEEDED)
            put_failure(budget, result, out);
        else {
            fprintf(out, "    <error type=\"%s\"",
                    result->verdict == BUDGET_WRONG ? "sentence" : "session");
            put_attribute(out, "message", result->error);
            fputs("/>\n", out);
        }
        fputs("  </testcase>\n", out);
    }
    fputs(" </testsuite>\n</testsuites>\n", out);
}
