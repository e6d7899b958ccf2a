/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/budget_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/output.h"
#include "schemas/array.h"
#include "session/time.h"

enum { SIZE_MOST = 1 << 20 };

/* ---- places ----------------------------------------------------------------------------- */

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

bool budget_fail(const struct budget_file *file, size_t place, struct session_error *error,
                 const char *message)
{
    size_t line = 1, column = 1;
    char copy[sizeof(error->message)];
    for (size_t i = 0; i < place && file->text[i]; i++)
        if (file->text[i] == '\n') {
            line++;
            column = 1;
        } else
            column += begins_character(file->text[i + 1]);
    snprintf(copy, sizeof(copy), "%s", message);
    report_fail(error, "%.200s:%zu:%zu: %.300s", file->path, line, column, copy);
    return false;
}

size_t budget_line(const struct budget_file *file, const struct budget *budget)
{
    size_t line = 1;
    for (size_t i = 0; i < budget->graph && file->text[i]; i++)
        line += file->text[i] == '\n';
    return line;
}

/* Returns the number of characters in the first `length` bytes. */
static size_t characters(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += begins_character(text[i]);
    return count;
}

/* A sentence is the definitions, which are as long as the file, a blank, and the budget's text. */
void budget_place_error(const struct budget_file *file, const struct budget *budget,
                        struct session_error *error)
{
    const size_t length = strlen(file->definitions);
    const size_t before = characters(file->definitions, length) + 1;
    size_t left = error->column > 0 ? (size_t)error->column - 1 : 0;
    const char *text = file->definitions;
    size_t place = 0;
    char message[sizeof(error->message)];
    if (error->column == 0)
        return;
    if (left >= before) {
        text = file->text;
        place = budget->graph;
        left -= before;
    }
    while (left > 0 && text[place]) {
        place++;
        left -= begins_character(text[place]);
    }
    memcpy(message, error->message, sizeof(message));
    const int column = error->column;
    budget_fail(file, place, error, message);
    error->column = column;
}

char *budget_sentence(const struct budget_file *file, const struct budget *budget,
                      bool with_measure)
{
    char *sentence = NULL;
    /* Without the bar in front of the measure. */
    const size_t end = with_measure ? budget->graph_end : budget->step;
    const int length = end > budget->graph ? (int)(end - budget->graph) : 0;
    if (asprintf(&sentence, "%s %.*s", file->definitions, length, file->text + budget->graph) < 0)
        return NULL;
    return sentence;
}

/* ---- parsing ---------------------------------------------------------------------------- */

/* Returns the place of the second quote of a string that begins at `place`, or of the end of the
 * line, if it has none. */
static size_t string_end(const char *text, size_t place)
{
    for (place++; text[place] && text[place] != '"' && text[place] != '\n'; place++)
        if (text[place] == '\\' && (text[place + 1] == '"' || text[place + 1] == '\\'))
            place++;
    return place;
}

/* Returns the place after a string that begins at `place`. It does not cross the end of a line. */
static size_t skip_string(const char *text, size_t place)
{
    const size_t end = string_end(text, place);
    return end + (text[end] == '"');
}

/* Returns the first place from `place` on, outside of strings, with one of the bytes, or `end`. */
static size_t find(const char *text, size_t place, size_t end, const char *bytes)
{
    while (place < end && !strchr(bytes, text[place]))
        place = text[place] == '"' ? skip_string(text, place) : place + 1;
    return place < end ? place : end;
}

/* Returns the first quote that has no second one on its line, or `length`. */
static size_t open_quote(const char *text, size_t length)
{
    size_t place = find(text, 0, length, "\"");
    while (place < length && text[string_end(text, place)] == '"')
        place = find(text, skip_string(text, place), length, "\"");
    return place;
}

static void blank_comments(char *text, size_t length)
{
    for (size_t i = find(text, 0, length, "#"); i < length; i = find(text, i, length, "#"))
        while (i < length && text[i] != '\n')
            text[i++] = ' ';
}

static char *copy_trimmed(const char *text, size_t from, size_t to)
{
    while (from < to && strchr(" \t\r", text[from]))
        from++;
    while (to > from && strchr(" \t\r", text[to - 1]))
        to--;
    return strndup(text + from, to - from);
}

/* Returns the last bar of a pipeline outside of parentheses, or `end` if it has none. */
static size_t last_bar(const char *text, size_t from, size_t end)
{
    size_t bar = end;
    unsigned depth = 0;
    for (size_t i = find(text, from, end, "|()"); i < end; i = find(text, i + 1, end, "|()")) {
        if (text[i] == '|' && depth == 0)
            bar = i;
        depth += text[i] == '(';
        depth -= text[i] == ')' && depth > 0;
    }
    return bar;
}

static bool is_measure(const char *text)
{
    static const char *const words[] = {"count", "sum", "avg", "min", "max", "peak", "growth"};
    const size_t length = strcspn(text, " \t\r\n|<>=!");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* Takes `rss | PART` or `rss at TIME | PART`: `bar` is the place of its bar, `part` of its part.
 * Returns false if it is none. */
static bool take_rss(struct budget *budget, const char *text, size_t from, size_t bar, size_t part)
{
    char name[32];
    const size_t length = strcspn(text + part, " \t\r\n|<>=!");
    const size_t blanks = strspn(text + from + 3, " \t\r");
    const size_t rest = from + 3 + blanks;
    if (strncmp(text + from, "rss", 3) != 0 || length >= sizeof(name))
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)length, text + part);
    budget->part = session_residency_find_class(name);
    if (budget->part == RESIDENCY_CLASSES && strcmp(name, "rss") != 0)
        return false;
    if (rest < bar && (blanks == 0 || strncmp(text + rest, "at", 2) != 0 || rest + 3 > bar ||
                       !strchr(" \t", text[rest + 2])))
        return false;
    budget->at = rest < bar ? copy_trimmed(text, rest + 2, bar) : NULL;
    return budget->of_rss = true;
}

/* Takes the operator at `place`. Returns its length, 0: there is none. */
static size_t take_operator(struct budget *budget, const char *text)
{
    static const struct {
        const char *sign;
        enum budget_relation relation;
    } operators[] = {{"==", BUDGET_EQUAL},      {"!=", BUDGET_NOT_EQUAL}, {"<=", BUDGET_LESS_EQUAL},
                     {">=", BUDGET_MORE_EQUAL}, {"<", BUDGET_LESS},       {">", BUDGET_MORE}};
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
        if (strncmp(text, operators[i].sign, strlen(operators[i].sign)) == 0) {
            budget->relation = operators[i].relation;
            budget->sign = operators[i].sign;
            return strlen(operators[i].sign);
        }
    return 0;
}

/* Takes GRAPH | MEASURE OP LIMIT from `from` up to `end`. */
static bool take_sentence(struct budget_file *file, struct budget *budget, size_t from, size_t end,
                          struct session_error *error)
{
    static const char expected[] = "expected a measure (count, sum, avg, min, max, peak or growth) "
                                   "as the last step, or a part of rss, then == != < <= > or >= "
                                   "and a limit";
    const char *text = file->text;
    from += strspn(text + from, " \t\r");
    const size_t bar = last_bar(text, from, end);
    size_t measure = bar < end ? bar + 1 : from;
    measure += strspn(text + measure, " \t\r");
    if (measure >= end || (!is_measure(text + measure) &&
                           (bar >= end || !take_rss(budget, text, from, bar, measure))))
        return budget_fail(file, measure < end ? measure : end, error, expected);
    const size_t place = find(text, measure, end, "<>=!");
    const size_t length = place < end ? take_operator(budget, text + place) : 0;
    if (length == 0)
        return budget_fail(file, place, error,
                           "expected == != < <= > or >= and a limit after the measure");
    budget->graph = from;
    budget->step = bar < end ? bar : from;
    budget->graph_end = place;
    budget->limit_at = place + length;
    budget->limit_at += strspn(text + budget->limit_at, " \t\r");
    if (budget->limit_at >= end)
        return budget_fail(file, end, error, "expected a limit after the operator");
    budget->limit = copy_trimmed(text, budget->limit_at, end);
    return budget->limit || report_fail_memory(error, "the budgets");
}

static bool take_budget(struct budget_file *file, size_t line, size_t colon, size_t end,
                        struct session_error *error)
{
    struct budget *more = realloc(file->budgets, (file->count + 1) * sizeof(*more));
    if (!more)
        return report_fail_memory(error, "the budgets");
    file->budgets = more;
    struct budget *budget = &more[file->count];
    *budget = (struct budget){.name = copy_trimmed(file->text, line, colon)};
    if (!budget->name)
        return report_fail_memory(error, "the budgets");
    file->count++;
    if (*budget->name == '\0')
        return budget_fail(file, line, error, "expected a name in front of the colon");
    for (size_t i = 0; i + 1 < file->count; i++)
        if (strcmp(more[i].name, budget->name) == 0)
            return budget_fail(file, line, error, "a second budget of this name");
    return take_sentence(file, budget, colon + 1, end, error);
}

/* Takes what begins at `place`, which is not blank. Returns the place after it, 0 on an error. */
static size_t take_entry(struct budget_file *file, size_t place, size_t length,
                         struct session_error *error)
{
    const char *text = file->text;
    const size_t end = place + strcspn(text + place, "\n");
    const size_t sign = find(text, place, end, ":=");
    if (sign < end && text[sign] == ':')
        return take_budget(file, place, sign, end, error) ? end : 0;
    if (sign == end) {
        budget_fail(file, place, error,
                    "expected NAME: GRAPH | MEASURE OP LIMIT, or a definition as in \"name = all "
                    "| where size > 1M;\"");
        return 0;
    }
    const size_t last = find(text, sign, length, ";");
    if (last == length) {
        budget_fail(file, place, error, "expected ; at the end of this definition");
        return 0;
    }
    memcpy(file->definitions + place, text + place, last + 1 - place);
    return last + 1;
}

static char *read_all(const char *path, size_t *length, struct session_error *error)
{
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(SIZE_MOST + 1) : NULL;
    if (in && !text)
        report_fail_memory(error, "the budgets");
    *length = text ? fread(text, 1, SIZE_MOST + 1, in) : 0;
    if (!in || ferror(in)) {
        report_fail(error, "%.300s: the budgets cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (text && (*length > SIZE_MOST || memchr(text, '\0', *length))) {
        report_fail(error, "%.300s: this is not a file of budgets: it has %s", path,
                    *length > SIZE_MOST ? "more than 1 MiB" : "a zero byte");
        free(text);
        text = NULL;
    }
    if (text)
        text[*length] = '\0';
    if (in)
        fclose(in);
    return text;
}

bool budget_file_read(struct budget_file *file, const char *path, bool *wrong,
                      struct session_error *error)
{
    size_t length;
    *wrong = false;
    *file = (struct budget_file){.path = path, .text = read_all(path, &length, error)};
    if (!file->text)
        return false;
    file->definitions = malloc(length + 1);
    if (!file->definitions)
        return report_fail_memory(error, "the budgets");
    *wrong = true;
    blank_comments(file->text, length);
    const size_t quote = open_quote(file->text, length);
    if (quote < length)
        return budget_fail(file, quote, error,
                           "this quote has no second one on its line: a name has none or two of "
                           "them, and a string writes one that it holds as \\\"");
    /* Bytes keep their places. */
    for (size_t i = 0; i <= length; i++)
        file->definitions[i] = file->text[i] == '\0' || file->text[i] == '\n' ? file->text[i] : ' ';
    for (size_t place = 0; place < length;) {
        place += strspn(file->text + place, " \t\r\n");
        if (place < length && (place = take_entry(file, place, length, error)) == 0)
            return false;
    }
    if (file->count == 0)
        return report_fail(
            error,
            "%.300s: there is no budget in this file; a budget is a line NAME: GRAPH | "
            "MEASURE OP LIMIT",
            path);
    return true;
}

void budget_file_free(struct budget_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        FREE_ALL(file->budgets[i].name, file->budgets[i].limit, file->budgets[i].at);
    FREE_ALL(file->budgets, file->text, file->definitions);
}

#define MILLION 1000000
/* More digits after the point are refused. */
enum { DECIMALS_MOST = 9 };

static const char median_word[] = "median(last ";

bool limit_is_relative(const char *text)
{
    if (strncmp(text, median_word, strlen(median_word)) == 0)
        return true;
    const size_t length = strlen(text);
    return (*text == '+' || *text == '-') && length > 1 && text[length - 1] == '%';
}

/* Reads a decimal number times `scale`, rounded down, and stores the place after it. False: it is
 * not a number, or too large. Digits that the scale does not keep are cut. */
static bool take_decimal(const char *text, uint64_t scale, const char **rest, __int128 *value)
{
    __int128 number = 0, divisor = 1;
    size_t digits = 0, decimals = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++, digits++)
        number = number * 10 + (*at - '0');
    if (digits > 0 && *at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, decimals++) {
            number = number * 10 + (*at - '0');
            divisor *= 10;
        }
    *rest = at;
    if (digits == 0 || digits > 19 || decimals > DECIMALS_MOST || (at > text && at[-1] == '.'))
        return false;
    *value = number * scale / divisor;
    return *value <= UINT64_MAX;
}

struct suffix {
    const char *text;
    uint64_t scale;
};

/* Reads a number with one of the units, which end with an empty scale. */
static bool take_with_unit(const char *text, const struct suffix *units, __int128 *value)
{
    const char *rest;
    if (!take_decimal(text, 1, &rest, value))
        return false;
    for (; units->scale; units++)
        if (strcmp(rest, units->text) == 0)
            return take_decimal(text, units->scale, &rest, value);
    return false;
}

/* Whole numbers, also hexadecimal. */
static bool take_number(const char *text, __int128 *value)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 19)
        return false;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return *end == '\0';
}

static bool take_value(const char *text, const struct session *session, enum session_unit unit,
                       __int128 *value, struct session_error *error)
{
    static const struct suffix sizes[] = {
        {"", 1}, {"K", 1024}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30}, {NULL, 0}};
    uint64_t ns;
    switch (unit) {
    case UNIT_BYTES:
        return take_with_unit(text, sizes, value) ||
               report_fail(error, "expected a size (number, or number with K, M or G) or a "
                                  "percentage with a sign (+5%%)");
    case UNIT_DURATION:
    case UNIT_MOMENT:
        if (!(unit == UNIT_MOMENT ? session_moment : session_duration)(session, text, &ns, error))
            return false;
        *value = ns;
        return true;
    default:
        return take_number(text, value) ||
               report_fail(error, "expected a whole number or a percentage with a sign (+5%%)");
    }
}

/* Parses "median(last 10)", which may be followed by a change in percent: "+ 3 %". */
static bool take_median(const char *text, struct limit *limit, struct session_error *error)
{
    char *rest;
    const char *number = text + strlen(median_word), *after;
    errno = 0;
    const unsigned long last = strtoul(number, &rest, 10);
    if (*number < '1' || *number > '9' || errno != 0 || last > 100000 || *rest != ')')
        return report_fail(error, "expected median(last N), as median(last 10) + 3 %%");
    limit->last = last;
    rest += 1 + strspn(rest + 1, " \t");
    if (*rest == '\0')
        return true;
    const bool negative = *rest == '-';
    if ((*rest != '+' && !negative) ||
        !take_decimal(rest + 1 + strspn(rest + 1, " \t"), MILLION / 100, &after, &limit->change) ||
        strcmp(after + strspn(after, " \t"), "%") != 0)
        return report_fail(error, "expected a percentage with a sign after the median (+ 3 %%)");
    limit->change = negative ? -limit->change : limit->change;
    return true;
}

bool limit_parse(const char *text, const struct session *session, enum session_unit unit,
                 struct limit *limit, struct session_error *error)
{
    const bool negative = *text == '-';
    const char *rest;
    *limit = (struct limit){.relative = limit_is_relative(text)};
    if (*text == *median_word && limit->relative)
        return take_median(text, limit, error);
    if (limit->relative) {
        if (!take_decimal(text + 1, MILLION / 100, &rest, &limit->change) || strcmp(rest, "%") != 0)
            return report_fail(error, "expected a percentage with a sign (+5%%)");
        limit->change = negative ? -limit->change : limit->change;
        return true;
    }
    /* Only growth can be below 0. */
    const bool sign = unit != UNIT_MOMENT && (negative || *text == '+');
    if (!take_value(text + sign, session, unit, &limit->value, error))
        return false;
    if (negative && sign)
        limit->value = -limit->value;
    return true;
}

static __int128 signed_value(const struct session_measure *measure)
{
    return measure->negative ? -(__int128)measure->value : (__int128)measure->value;
}

static bool compares(__int128 left, enum budget_relation relation, __int128 right)
{
    switch (relation) {
    case BUDGET_EQUAL:
        return left == right;
    case BUDGET_NOT_EQUAL:
        return left != right;
    case BUDGET_LESS:
        return left < right;
    case BUDGET_LESS_EQUAL:
        return left <= right;
    case BUDGET_MORE:
        return left > right;
    default:
        return left >= right;
    }
}

bool limit_passes(const struct limit *limit, enum budget_relation relation,
                  const struct session_measure *measure, const struct session_measure *base,
                  __int128 *shown)
{
    const __int128 value = signed_value(measure);
    if (!limit->relative) {
        *shown = limit->value;
        return !measure->is_null && compares(value, relation, limit->value);
    }
    const __int128 from = signed_value(base);
    const __int128 scaled = from * MILLION + (from < 0 ? -from : from) * limit->change;
    *shown = scaled / MILLION;
    if (measure->is_null || base->is_null)
        return false;
    return from == 0 ? value == 0 : compares(value * MILLION, relation, scaled);
}
