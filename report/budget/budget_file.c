/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/budget_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/output.h"

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
                                   "as the last step, then == != < <= > or >= and a limit";
    const char *text = file->text;
    from += strspn(text + from, " \t\r");
    const size_t bar = last_bar(text, from, end);
    size_t measure = bar < end ? bar + 1 : from;
    measure += strspn(text + measure, " \t\r");
    if (measure >= end || !is_measure(text + measure))
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
    for (size_t i = 0; i < file->count; i++) {
        free(file->budgets[i].name);
        free(file->budgets[i].limit);
    }
    free(file->budgets);
    free(file->text);
    free(file->definitions);
}
