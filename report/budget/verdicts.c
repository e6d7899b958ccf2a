/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the verdicts on budgets as the servers that build and review code read them. */
#include "report/budget/check.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/output/json.h"
#include "report/output/names.h"
#include "schemas/array.h"
#include "schemas/code/short_name.h"

/* ---- the words that all formats share --------------------------------------------------- */

/* Texts of a verdict have names from outside in them: the format escapes the whole. */

/* Writes "1.2 MiB", or "1,234,567 bytes" if `other` would look the same and is not. */
static const char *amount(const struct document_value *value, const struct document_value *other,
                          char room[64])
{
    char exact[64], theirs[64];
    value_human(value, room);
    if (!other || other->is_null || value->is_null || value->kind != VALUE_BYTES ||
        strcmp(value_human(other, theirs), room) != 0 || other->number == value->number)
        return room;
    snprintf(room, 64, "%.50s bytes", value_format(value, exact));
    return room;
}

/* Writes "<= 10", or "<= +5%, which is 12: the base has 12" if the text lacks the value. */
static void put_limit(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    char value[64];
    const struct document_value found = budget_measured(&result->measure),
                                limit = budget_limit_value(result),
                                base = budget_measured(&result->base);
    fprintf(out, "%s %s", budget->sign, budget->limit);
    if (result->has_limit && budget->limit[strspn(budget->limit, "0123456789")] != '\0')
        fprintf(out, ", which is %s", amount(&limit, &found, value));
    if (result->median_runs > 0)
        fprintf(out, ": the median of %zu run%s is %s", result->median_runs,
                result->median_runs == 1 ? "" : "s", amount(&base, &limit, value));
    else if (result->has_base)
        fprintf(out, ": the base has %s", base.is_null ? "nothing" : amount(&base, &limit, value));
}

/* Writes "sum size is 12, the limit is <= 10", or why a budget has no verdict. */
static void put_summary(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    char value[64];
    const struct document_value found = budget_measured(&result->measure),
                                limit = budget_limit_value(result);
    if (result->verdict == BUDGET_WRONG || result->verdict == BUDGET_UNKNOWN) {
        fputs(result->error, out);
        return;
    }
    fprintf(out, "%s is %s, the limit is ", result->measure_name ? result->measure_name : "",
            found.is_null ? "nothing" : amount(&found, &limit, value));
    put_limit(budget, result, out);
}

/* Takes "FOLDER/../" out of a path. */
static void make_straight(char *path)
{
    for (char *up; (up = strstr(path, "/../")) != NULL && up > path;) {
        char *folder = up - 1;
        while (folder > path && *folder != '/')
            folder--;
        if (*folder != '/')
            return;
        memmove(folder, up + strlen("/.."), strlen(up + strlen("/..")) + 1);
    }
}

/* Returns the path as it is from the folder of the sources, where the checkout of a CI server or
 * the command is, if it is inside. It is valid until the next call. */
static const char *from_here(const char *path)
{
    static char here[PATH_MAX], straight[PATH_MAX];
    const char *workspace = getenv("GITHUB_WORKSPACE");
    if (!workspace || !*workspace)
        workspace = getcwd(here, sizeof(here));
    if (strlen(path) >= sizeof(straight))
        return path;
    memcpy(straight, path, strlen(path) + 1);
    make_straight(straight);
    const size_t length = workspace ? strlen(workspace) : 0;
    if (length > 1 && strncmp(straight, workspace, length) == 0 && straight[length] == '/')
        return straight + length + 1;
    return straight;
}

static struct document_value cause_value(const struct budget_causes *causes, uint64_t now,
                                         uint64_t before, bool estimated)
{
    return (struct document_value){.kind = causes->counts ? VALUE_NUMBER : VALUE_BYTES,
                                   .estimated = estimated,
                                   .negative = now < before,
                                   .number = now < before ? before - now : now - before};
}

/* Writes "+1 MiB, 3 MiB instead of 2 MiB: parse, type Node, parser.c:12", or "+3 MiB, new: …". */
static void put_cause(const struct budget_result *result, const struct budget_cause *cause,
                      FILE *out)
{
    char value[64], name[SHORT_NAME_SIZE];
    const struct budget_causes *causes = &result->causes;
    const bool estimated = result->measure.estimated;
    const struct document_value change = cause_value(causes, cause->now, cause->before, estimated),
                                now = cause_value(causes, cause->now, 0, estimated),
                                before = cause_value(causes, cause->before, 0, estimated);
    const char *unit = causes->counts ? " allocations" : "";
    if (causes->compared) {
        fprintf(out, "%s%s%s, ", change.negative ? "" : "+", value_human(&change, value), unit);
        if (cause->now > 0 && cause->before > 0) {
            fprintf(out, "%s instead of ", value_human(&now, value));
            fprintf(out, "%s: ", value_human(&before, value));
        } else
            fputs(cause->before > 0 ? "all of it: " : "new: ", out);
    } else
        fprintf(out, "%s%s: ", value_human(&now, value), unit);
    fputs(cause->function ? short_name(name, sizeof(name), cause->function) : "(unknown)", out);
    if (cause->type)
        fprintf(out, ", type %s", short_name(name, sizeof(name), cause->type));
    if (cause->file && cause->line > 0)
        fprintf(out, ", %s:%u", from_here(cause->file), (unsigned)cause->line);
    else if (cause->file)
        fprintf(out, ", %s", from_here(cause->file));
    if (cause->kept)
        fputs(", kept by the runtime or suppressed", out);
}

/* Writes what explains an exceeded budget, a line each, with this before each. */
static void put_causes(const struct budget_result *result, const char *before, FILE *out)
{
    const struct budget_causes *causes = &result->causes;
    size_t own = 0;
    for (size_t i = 0; i < causes->count; i++) {
        fputs(before, out);
        put_cause(result, &causes->rows[i], out);
        own += !causes->rows[i].kept;
    }
    if (causes->own_all > own)
        fprintf(out, "%sand %zu other%s", before, causes->own_all - own,
                causes->own_all - own == 1 ? "" : "s");
}

/* Returns the place of what explains a result best, or that of the budget in its file. */
static const char *place_of(const struct budget_check *check, const struct budget *budget,
                            const struct budget_result *result, uint32_t *line)
{
    for (size_t i = 0; i < result->causes.count; i++) {
        const struct budget_cause *cause = &result->causes.rows[i];
        if (cause->file && cause->line > 0 && !cause->kept) {
            *line = cause->line;
            return from_here(cause->file);
        }
    }
    *line = (uint32_t)budget_line(check->file, budget);
    return from_here(check->file->path);
}

/* Returns what a function writes as new memory, NULL if there is none. */
static char *text_of(const struct budget *budget, const struct budget_result *result, bool causes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_summary(budget, result, out);
    if (causes)
        put_causes(result, "\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- JUnit ------------------------------------------------------------------------------ */

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    name_put_xml(out, text ? text : "");
    fputc('"', out);
}

static void put_counts(const struct budget_check *check, FILE *out)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"0\"",
            check->file->count, check->exceeded, check->wrong + check->unknown);
}

/* The attribute has the verdict, and the text what explains it. */
static void put_failure(const struct budget *budget, const struct budget_result *result, FILE *out)
{
    char *summary = text_of(budget, result, false), *whole = text_of(budget, result, true);
    fputs("    <failure type=\"budget\"", out);
    put_attribute(out, "message", summary);
    fputc('>', out);
    if (summary && whole && result->causes.count > 0)
        name_put_xml(out, whole + strlen(summary) + 1);
    fputs("</failure>\n", out);
    FREE_ALL(summary, whole);
}

void verdicts_junit(const struct budget_check *check, const char *name, FILE *out)
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

/* ---- GitHub ----------------------------------------------------------------------------- */

/* Writes the value of a property or the message: one line, without what ends either. */
static void put_command_text(FILE *out, const char *text, bool property)
{
    char *printable = NULL;
    size_t size = 0;
    for (const char *line = text; *line; line += *line == '\n') {
        char *one = strndup(line, strcspn(line, "\n"));
        FILE *to = one ? open_memstream(&printable, &size) : NULL;
        if (to) {
            name_put_text(to, one);
            if (fclose(to) != 0)
                size = 0;
        }
        for (size_t i = 0; to && i < size; i++)
            name_put_percent(out, printable[i], !strchr(property ? "%:," : "%", printable[i]));
        if (to)
            free(printable);
        free(one);
        line += strcspn(line, "\n");
        fputs(*line ? "%0A" : "", out);
    }
}

void verdicts_github(const struct budget_check *check, FILE *out)
{
    for (size_t i = 0; i < check->file->count; i++) {
        const struct budget *budget = &check->file->budgets[i];
        const struct budget_result *result = &check->results[i];
        uint32_t line;
        if (result->verdict == BUDGET_KEPT)
            continue;
        char *text = text_of(budget, result, true);
        const char *place = place_of(check, budget, result, &line);
        fprintf(out, "::%s file=", result->verdict == BUDGET_UNKNOWN ? "warning" : "error");
        put_command_text(out, place, true);
        fprintf(out, ",line=%u,title=", (unsigned)line);
        put_command_text(out, "mprof: budget ", true);
        put_command_text(out, budget->name, true);
        fprintf(out, " %s::", budget_verdict_names[result->verdict]);
        put_command_text(out, text ? text : "", false);
        fputc('\n', out);
        free(text);
    }
}

/* ---- SARIF ------------------------------------------------------------------------------ */

/* Writes a member with the URI of a file: relative to the sources, or absolute. */
static void put_uri(struct json *json, const char *path)
{
    char *uri = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&uri, &size);
    if (!out)
        return;
    fputs(*path == '/' ? "file://" : "", out);
    for (; *path; path++)
        name_put_percent(out, *path, isalnum((unsigned char)*path) || strchr("-._~/", *path));
    if (fclose(out) == 0)
        json_put(json, "uri: %s", uri);
    free(uri);
}

static void put_location(struct json *json, const char *file, uint32_t line)
{
    json_put(json, "physicalLocation: {artifactLocation: {");
    put_uri(json, file);
    if (*file != '/')
        json_put(json, "uriBaseId: %s", "%SRCROOT%");
    json_put(json, "}, region: {startLine: %u}}", line > 0 ? line : 1);
}

static void put_text_member(struct json *json, const char *name, const char *text)
{
    json_put(json, "%s: {text: %s}", name, text ? text : "");
}

/* The places of what explains a result, in its order. */
static void put_related(struct json *json, const struct budget_result *result)
{
    unsigned id = 0;
    json_put(json, "relatedLocations: [");
    for (size_t i = 0; i < result->causes.count; i++) {
        const struct budget_cause *cause = &result->causes.rows[i];
        char *text = NULL;
        size_t size = 0;
        FILE *out = cause->file && cause->line > 0 ? open_memstream(&text, &size) : NULL;
        if (!out)
            continue;
        put_cause(result, cause, out);
        json_put(json, "{id: %u", id++);
        put_location(json, from_here(cause->file), cause->line);
        put_text_member(json, "message", fclose(out) == 0 ? text : NULL);
        json_put(json, "}");
        free(text);
    }
    json_put(json, "]");
}

static void put_result(struct json *json, const struct budget_check *check, size_t at)
{
    const struct budget *budget = &check->file->budgets[at];
    const struct budget_result *result = &check->results[at];
    uint32_t line;
    const char *place = place_of(check, budget, result, &line);
    char *text = text_of(budget, result, true);
    json_put(json, "{ruleId: %s, ruleIndex: %lu, level: %s", budget->name, at,
             result->verdict == BUDGET_UNKNOWN ? "warning" : "error");
    put_text_member(json, "message", text);
    json_put(json, "locations: [{");
    put_location(json, place, line);
    json_put(json, "}]");
    put_related(json, result);
    json_put(json, "}");
    free(text);
}

/* The budgets are the rules of a run. */
static void put_rules(struct json *json, const struct budget_check *check)
{
    char condition[160];
    json_put(json, "rules: [");
    for (size_t i = 0; i < check->file->count; i++) {
        const struct budget *budget = &check->file->budgets[i];
        const struct budget_result *result = &check->results[i];
        snprintf(condition, sizeof(condition), "%.40s %s %.100s",
                 result->measure_name ? result->measure_name : "measure", budget->sign,
                 budget->limit);
        json_put(json, "{id: %s", budget->name);
        put_text_member(json, "shortDescription", condition);
        json_put(json, "}");
    }
    json_put(json, "]");
}

bool verdicts_sarif(const struct budget_check *check, FILE *out)
{
    struct json *json = json_begin(out, true);
    if (!json)
        return false;
    json_put(json, "{$schema: %s, version: %s, runs: [{tool: {driver: {name: mprof, version: %s",
             "https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", MPROF_VERSION);
    put_rules(json, check);
    json_put(json, "}}, columnKind: unicodeCodePoints, results: [");
    for (size_t i = 0; i < check->file->count; i++)
        if (check->results[i].verdict != BUDGET_KEPT)
            put_result(json, check, i);
    json_put(json, "]}]}");
    return json_end(json);
}

/* ---- Markdown --------------------------------------------------------------------------- */

static void put_budget_row(const struct budget *budget, const struct budget_result *result,
                           FILE *out)
{
    char value[64];
    const struct document_value none = {.is_null = true},
                                found = result->measure_name && result->verdict != BUDGET_UNKNOWN
                                            ? budget_measured(&result->measure)
                                            : none,
                                limit = budget_limit_value(result),
                                base = budget_measured(&result->base);
    const bool same = strcmp(budget_verdict_names[result->verdict], "kept") == 0;
    fputs(same ? "| " : "| **", out);
    name_put_markdown(out, budget->name);
    fprintf(out, "%s | %s | ", same ? "" : "**", amount(&found, &limit, value));
    name_put_markdown(out, budget->sign);
    fputc(' ', out);
    name_put_markdown(out, budget->limit);
    if (result->has_limit && result->has_base) {
        fprintf(out, " = %s", amount(&limit, &found, value));
        fprintf(out, " | %s", base.is_null ? "-" : value_human(&base, value));
    } else
        fputs(" | -", out);
    fprintf(out, " | %s |\n", budget_verdict_names[result->verdict]);
}

/* Returns true if an earlier row has the name. */
static bool is_told(const struct budget_causes *causes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if ((causes->rows[i].function && strcmp(causes->rows[i].function, name) == 0) ||
            (causes->rows[i].type && strcmp(causes->rows[i].type, name) == 0))
            return true;
    return false;
}

static void put_whole_names(const struct budget_causes *causes, FILE *out)
{
    char name[SHORT_NAME_SIZE];
    bool any = false;
    for (size_t i = 0; i < causes->count; i++) {
        const char *const both[] = {causes->rows[i].function, causes->rows[i].type};
        for (size_t j = 0; j < 2; j++) {
            if (!both[j] || strcmp(short_name(name, sizeof(name), both[j]), both[j]) == 0 ||
                is_told(causes, i, both[j]))
                continue;
            fputs(any ? "- " : "\n<details><summary>Whole names</summary>\n\n- ", out);
            name_put_markdown(out, both[j]);
            fputc('\n', out);
            any = true;
        }
    }
    fputs(any ? "\n</details>\n" : "", out);
}

static void put_explanation(const struct budget *budget, const struct budget_result *result,
                            FILE *out)
{
    const struct budget_causes *causes = &result->causes;
    char *text = NULL;
    size_t size = 0;
    fputs("\n", out);
    if (result->verdict != BUDGET_EXCEEDED) {
        name_put_markdown(out, result->error);
        fputs("\n", out);
        return;
    }
    fputs(causes->compared ? "What changed in **" : "Who holds most of **", out);
    name_put_markdown(out, budget->name);
    fputs("**:\n\n", out);
    FILE *lines = open_memstream(&text, &size);
    if (lines) {
        put_causes(result, "\n", lines);
        if (fclose(lines) == 0)
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                fputs("- ", out);
                name_put_markdown(out, line);
                fputc('\n', out);
            }
        free(text);
    }
    if (causes->count == 0)
        fputs("- nothing that its functions and types tell\n", out);
    put_whole_names(causes, out);
}

void verdicts_markdown(const struct budget_check *check, FILE *out)
{
    const size_t count = check->file->count, bad = check->exceeded + check->wrong + check->unknown;
    if (bad == 0)
        fprintf(out, "**mprof:** all %zu budgets are kept\n\n", count);
    else
        fprintf(out, "**mprof:** %zu of %zu budgets not kept\n\n", bad, count);
    fputs("| budget | value | limit | base | verdict |\n| --- | ---: | ---: | ---: | --- |\n", out);
    for (size_t i = 0; i < count; i++)
        put_budget_row(&check->file->budgets[i], &check->results[i], out);
    for (size_t i = 0; i < count; i++)
        if (check->results[i].verdict != BUDGET_KEPT)
            put_explanation(&check->file->budgets[i], &check->results[i], out);
}
