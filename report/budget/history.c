/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/budget/check.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"

enum {
    LINE_MOST = 1 << 20,
    TREND_MOST = 32 /* values in a line of a trend */,
    BLOCK_BYTES = 3,
    LAST = 10
};

/* ---- reading ---------------------------------------------------------------------------- */

static char *copy_member(const struct json_value *value, const char *key)
{
    const char *text = json_value_text(json_value_member(value, key));
    return strdup(text ? text : "");
}

static bool take_value(struct history_run *run, const struct json_value *measure)
{
    struct history_value *to = &run->values[run->count];
    const struct json_value *number = json_value_member(measure, "value");
    *to = (struct history_value){.name = copy_member(measure, "name"),
                                 .unit = copy_member(measure, "unit")};
    run->count++;
    to->is_null = !json_value_number(number, &to->value);
    return to->name && to->unit;
}

static void free_run(struct history_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        FREE_ALL(run->values[i].name, run->values[i].unit);
    FREE_ALL(run->values, run->time, run->label, run->program);
}

/* Adds the run of a line. Returns NULL, or what is wrong. */
static const char *take_line(struct history *history, const char *line)
{
    struct json_value *value = json_parse(line);
    const struct json_value *measures = value ? json_value_member(value, "measures") : NULL;
    const char *wrong = !value ? "it is not JSON" : !measures ? "it has no \"measures\"" : NULL;
    struct history_run run = {.count = 0};
    if (!wrong) {
        const size_t count = json_value_items(measures);
        run = (struct history_run){.time = copy_member(value, "time"),
                                   .label = copy_member(value, "label"),
                                   .program = copy_member(value, "program"),
                                   .values = calloc(count + 1, sizeof(*run.values))};
        bool good = run.time && run.label && run.program && run.values &&
                    ARRAY_GROW(history->runs, history->count, history->capacity);
        for (size_t i = 0; good && i < count; i++)
            good = take_value(&run, json_value_item(measures, i));
        if (good)
            history->runs[history->count++] = run;
        else
            wrong = "there is no memory for it";
    }
    if (wrong)
        free_run(&run);
    json_value_free(value);
    return wrong;
}

bool history_read(struct history *history, const char *path, bool may_miss,
                  struct session_error *error)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    ssize_t length;
    const char *wrong = NULL;
    *history = (struct history){.count = 0};
    FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT && may_miss)
        return true;
    if (!file)
        return report_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    while (!wrong && (length = getline(&line, &size, file)) > 0) {
        number++;
        if (line[length - 1] != '\n')
            wrong = "it is not whole: the line has no end";
        else if (length > LINE_MOST)
            wrong = "it is too long";
        else if (line[strspn(line, " \t\r\n")] != '\0')
            wrong = take_line(history, line);
    }
    const bool unread = ferror(file) != 0;
    free(line);
    fclose(file);
    if (unread)
        return report_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    return !wrong ||
           report_fail(error, "%s:%zu: this line is not a run: %s; remove it", path, number, wrong);
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free_run(&history->runs[i]);
    free(history->runs);
    *history = (struct history){.count = 0};
}

/* ---- medians ---------------------------------------------------------------------------- */

const struct history_value *history_find(const struct history_run *run, const char *name,
                                         const char *unit)
{
    for (size_t i = 0; i < run->count; i++)
        if (!run->values[i].is_null && strcmp(run->values[i].name, name) == 0 &&
            strcmp(run->values[i].unit, unit) == 0)
            return &run->values[i];
    return NULL;
}

bool history_is_first(const struct history *history, size_t run, size_t at)
{
    const struct history_value *value = &history->runs[run].values[at];
    for (size_t i = 0; i < run; i++)
        if (history_find(&history->runs[i], value->name, value->unit))
            return false;
    return history_find(&history->runs[run], value->name, value->unit) == value;
}

ARRAY_ORDER(by_value, int64_t, ORDER(*a, *b))

size_t history_median(const struct history *history, const char *name, const char *unit,
                      size_t last, int64_t *median)
{
    int64_t *values = calloc(history->count + 1, sizeof(*values));
    size_t count = 0;
    for (size_t i = history->count; values && i-- > 0 && count < last;) {
        const struct history_value *value = history_find(&history->runs[i], name, unit);
        if (value)
            values[count++] = value->value;
    }
    if (count > 0) {
        qsort(values, count, sizeof(*values), by_value);
        *median = values[(count - 1) / 2];
    }
    free(values);
    return count;
}

/* ---- appending -------------------------------------------------------------------------- */

static void put_measure(struct json *json, const struct budget *budget,
                        const struct budget_result *result)
{
    const struct document_value value = budget_measured(&result->measure);
    json_put(json, "{name: %s, unit: %s, value:", budget->name, budget_unit_name(result));
    if (value.is_null || result->verdict == BUDGET_UNKNOWN)
        json_null(json);
    else
        json_signed(json, value.negative ? (int64_t)(0 - value.number) : (int64_t)value.number);
    json_put(json, "verdict: %s}", budget_verdict_names[result->verdict]);
}

/* Returns the line with its end as new memory, NULL if there is none. */
static char *make_line(const struct budget_check *check, const struct session *session,
                       const char *label, size_t *length)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, length);
    struct json *json = out ? json_begin(out, false) : NULL;
    if (json) {
        json_put(json, "{schema: 1, time: %s, label: %s, program: %s, measures: [",
                 session_meta(session, "start_time"), label ? label : "",
                 session_meta(session, "program"));
        for (size_t i = 0; i < check->file->count; i++)
            if (check->results[i].measure_name)
                put_measure(json, &check->file->budgets[i], &check->results[i]);
        json_put(json, "]}");
    }
    const bool good = json_end(json), closed = out && fclose(out) == 0;
    if (good && closed)
        return line;
    free(line);
    return NULL;
}

/* Appends in one piece, or not at all: several runs may append at a time. */
static bool append(const char *path, const char *line, size_t length, struct session_error *error)
{
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return report_fail(error, "%s: cannot be written: %s", path, strerror(errno));
    const ssize_t written = write(file, line, length);
    int wrong = written < 0 ? errno : (size_t)written < length ? ENOSPC : 0;
    if (written > 0 && wrong != 0) {
        const off_t end = lseek(file, 0, SEEK_CUR);
        if (end < written || ftruncate(file, end - written) != 0)
            wrong = EIO;
    }
    if (close(file) != 0 && wrong == 0)
        wrong = errno;
    return wrong == 0 ||
           report_fail(error, "%s: the run is not appended: %s", path, strerror(wrong));
}

bool history_append(const char *path, const struct budget_check *check,
                    const struct session *session, const char *label, struct session_error *error)
{
    size_t length = 0;
    char *line = make_line(check, session, label, &length);
    const bool good = line ? append(path, line, length, error)
                           : report_fail_memory(error, "the line of the history");
    free(line);
    return good;
}

/* ---- the trend -------------------------------------------------------------------------- */

static enum value_kind kind_of(const char *unit)
{
    return strcmp(unit, "bytes") == 0            ? VALUE_BYTES
           : strcmp(unit, "ns") == 0             ? VALUE_DURATION
           : strcmp(unit, "ns since start") == 0 ? VALUE_MOMENT
                                                 : VALUE_NUMBER;
}

static struct document_value as_value(const char *unit, int64_t value)
{
    return (struct document_value){.kind = kind_of(unit),
                                   .negative = value < 0,
                                   .number = value < 0 ? 0 - (uint64_t)value : (uint64_t)value};
}

/* Writes the last values as a line of blocks, the smallest as the lowest. */
static void draw_line(const struct history *history, const struct history_value *of,
                      char out[TREND_MOST * BLOCK_BYTES + 1])
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int64_t values[TREND_MOST], least = INT64_MAX, most = INT64_MIN;
    size_t count = 0;
    *out = '\0';
    for (size_t i = history->count; i-- > 0 && count < TREND_MOST;) {
        const struct history_value *value = history_find(&history->runs[i], of->name, of->unit);
        if (!value)
            continue;
        values[count++] = value->value;
        least = value->value < least ? value->value : least;
        most = value->value > most ? value->value : most;
    }
    while (count-- > 0) {
        const double part =
            most > least ? ((double)values[count] - (double)least) / ((double)most - (double)least)
                         : 0;
        memcpy(out, blocks[(size_t)(part * 7.999)], BLOCK_BYTES + 1);
        out += BLOCK_BYTES;
    }
}

static void add_row(const struct history *history, const struct history_value *value,
                    struct document *document)
{
    const struct history_value *first = NULL, *last = NULL;
    char line[TREND_MOST * BLOCK_BYTES + 1];
    int64_t median = 0, least = INT64_MAX, most = INT64_MIN;
    uint64_t runs = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_value *found =
            history_find(&history->runs[i], value->name, value->unit);
        if (!found)
            continue;
        first = first ? first : found;
        last = found;
        least = found->value < least ? found->value : least;
        most = found->value > most ? found->value : most;
        runs++;
    }
    history_median(history, value->name, value->unit, LAST, &median);
    draw_line(history, value, line);
    document_number(document, runs);
    document_value(document, as_value(value->unit, first->value));
    document_value(document, as_value(value->unit, least));
    document_value(document, as_value(value->unit, most));
    document_value(document, as_value(value->unit, median));
    document_value(document, as_value(value->unit, last->value));
    document_value(document,
                   (struct document_value){
                       .kind = VALUE_SHARE,
                       .is_null = median == 0,
                       .share = median == 0 ? 0
                                            : ((double)last->value - (double)median) /
                                                  (double)(median < 0 ? -median : median)});
    document_text(document, value->unit);
    document_text(document, line);
    document_text(document, value->name);
}

void history_document(const struct history *history, struct document *document)
{
    static const struct document_column columns[] = {
        {"runs", NULL, VALUE_NUMBER, NULL},
        {"first", NULL, VALUE_NUMBER, NULL},
        {"least", NULL, VALUE_NUMBER, NULL},
        {"most", NULL, VALUE_NUMBER, NULL},
        {"median", "median of last 10", VALUE_NUMBER, NULL},
        {"last", NULL, VALUE_NUMBER, NULL},
        {"change", "against it", VALUE_SHARE, NULL},
        {"unit", NULL, VALUE_TEXT, NULL},
        {"trend", "last runs", VALUE_TEXT, NULL},
        {"name", "budget", VALUE_TEXT, NULL}};
    const struct history_run *first = history->count > 0 ? &history->runs[0] : NULL,
                             *last = first ? &history->runs[history->count - 1] : NULL;
    document_fact_number(document, "runs", NULL, VALUE_NUMBER, history->count);
    document_fact_text(document, "first_time", "first", first ? first->time : NULL);
    document_fact_text(document, "last_time", "last", last ? last->time : NULL);
    document_fact_text(document, "last_label", "label of the last", last ? last->label : NULL);
    document_table(document, "trend", "Trend", columns, sizeof(columns) / sizeof(*columns));
    for (size_t run = 0; run < history->count; run++)
        for (size_t i = 0; i < history->runs[run].count; i++) {
            const struct history_value *value = &history->runs[run].values[i];
            if (!value->is_null && history_is_first(history, run, i))
                add_row(history, value, document);
        }
}
