/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of filters in SQL: regular expressions and times. */
#include "session/filter/sql_columns.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"

/* ---- regular expressions ---- */

/* An expression while it is copied. */
struct regex {
    FILE *out;
    bool posix; /* brackets keep their form */
    bool atom;  /* a repetition may follow */
    const char *at;
};

/* PostgreSQL repeats at most so often. */
enum { REPEATS_MOST = 255 };

static void escape(const struct regex *regex, char c)
{
    fprintf(regex->out, "\\%c", c);
}

/* Copies [:class:], whose bracket comes next. Returns what is wrong, or NULL. */
static const char *copy_class(struct regex *regex)
{
    const char *end = strstr(regex->at + 2, ":]");
    if (regex->at[1] != ':' || !end)
        return "a collating element in brackets";
    fprintf(regex->out, "%.*s", (int)(end + 2 - regex->at), regex->at);
    regex->at = end + 2;
    return NULL;
}

static void copy_in_brackets(const struct regex *regex, char c)
{
    if (!regex->posix && strchr("\\[]^", c))
        fputc('\\', regex->out);
    fputc(c, regex->out);
}

static const char *copy_brackets(struct regex *regex)
{
    fputc(*regex->at++, regex->out);
    if (*regex->at == '^')
        fputc(*regex->at++, regex->out);
    for (bool first = true; first || *regex->at != ']'; first = false) {
        const char c = *regex->at;
        if (c == '\0')
            return "brackets without an end";
        if ((unsigned char)c >= 0x80)
            return "a character outside ASCII in brackets";
        if (c == '[' && strchr(":.=", regex->at[1]) && regex->at[1]) {
            const char *wrong = copy_class(regex);
            if (wrong)
                return wrong;
            continue;
        }
        copy_in_brackets(regex, c);
        regex->at++;
        if (*regex->at != '-' || regex->at[1] == ']')
            continue;
        if (c == '-' || regex->at[1] == '[' || regex->at[1] == '-' ||
            (unsigned char)regex->at[1] >= 0x80)
            return "this range in brackets";
        fputc('-', regex->out);
        copy_in_brackets(regex, regex->at[1]);
        regex->at += 2;
        if (*regex->at == '-' && regex->at[1] != ']')
            return "this range in brackets";
    }
    fputc(*regex->at++, regex->out);
    regex->atom = true;
    return NULL;
}

static const char *copy_repetition(struct regex *regex)
{
    if (!regex->atom)
        return "a repetition of nothing, or of a repetition";
    regex->atom = false;
    if (*regex->at != '{') {
        fputc(*regex->at++, regex->out);
        return NULL;
    }
    const char *end = strchr(regex->at, '}');
    if (!end || !isdigit((unsigned char)regex->at[1]))
        return "a brace without a repetition";
    for (const char *digits = regex->at + 1; digits < end; digits++) {
        if (!isdigit((unsigned char)*digits) && *digits != ',')
            return "a brace without a repetition";
        if (strtoul(digits, NULL, 10) > REPEATS_MOST)
            return "more than 255 repetitions";
    }
    fprintf(regex->out, "%.*s", (int)(end + 1 - regex->at), regex->at);
    regex->at = end + 1;
    return NULL;
}

static const char *copy_one(struct regex *regex)
{
    const char c = *regex->at;
    if (strchr("*+?{", c))
        return copy_repetition(regex);
    if (c == '[')
        return copy_brackets(regex);
    if (c == '\\') {
        const char next = regex->at[1];
        if (next == '\0' || (unsigned char)next >= 0x80 || isalnum((unsigned char)next) ||
            strchr("<>`'", next))
            return "this escape";
        escape(regex, next);
        regex->at += 2;
    } else if (c == '}' || c == ']') {
        escape(regex, c);
        regex->at++;
    } else {
        fputc(c, regex->out);
        regex->at++;
    }
    /* Programs see a character outside ASCII as one, or as its bytes. */
    regex->atom = !strchr("^$|(", c) && (unsigned char)c < 0x80;
    return NULL;
}

bool sql_put_regex(FILE *out, const struct sql_dialect *dialect, const char *text, int column,
                   struct session_error *error)
{
    char *copy = NULL;
    size_t size = 0;
    struct regex regex = {
        .out = open_memstream(&copy, &size), .posix = dialect->regex_of_posix, .at = text};
    if (!regex.out)
        return session_fail_memory(error, "the query");
    const char *wrong = NULL;
    fputs(dialect->regex_of_posix ? "(?e)" : "(?s)", regex.out);
    while (*regex.at && !wrong)
        wrong = copy_one(&regex);
    const bool written = fclose(regex.out) == 0;
    if (written && !wrong)
        sql_put_text(out, dialect, copy);
    free(copy);
    if (wrong)
        return session_fail(error, column,
                            "databases read this regular expression in another way: %s", wrong);
    return written || session_fail_memory(error, "the query");
}

/* ---- times ---- */

/* Sums of such numbers fit into 64 bits with a sign. */
#define TIME_MOST (UINT64_C(1) << 60)

/* Returns the number of a mark, from 1; 0 with `error` set. */
static size_t mark_of(struct sql_use *use, const struct filter_value *value,
                      struct session_error *error)
{
    for (size_t i = 0; i < use->mark_count; i++)
        if (strcmp(use->marks[i], value->text) == 0)
            return i + 1;
    if (use->mark_count == SQL_MARKS_MOST) {
        session_fail(error, value->column, "a query has at most %d marks", SQL_MARKS_MOST);
        return 0;
    }
    use->marks[use->mark_count++] = value->text;
    return use->mark_count;
}

static void put_part(FILE *out, const struct sql_dialect *dialect, uint64_t number)
{
    uint64_t whole = 1000000000, a = whole, b = number;
    char part[256], divisor[24];
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    snprintf(part, sizeof(part), "CAST(greatest(r.end_ns - r.start_ns, 0) AS %s) * %" PRIu64,
             dialect->wide, number / a);
    snprintf(divisor, sizeof(divisor), "%" PRIu64, whole / a);
    fputs("CAST(", out);
    sql_put_form(out, dialect->divide, part, divisor);
    fputs(" AS BIGINT)", out);
}

static bool put_term(FILE *out, struct sql_use *use, const struct sql_dialect *dialect,
                     const struct filter_value *value, bool *of_run, struct session_error *error)
{
    *of_run |= value->moment != MOMENT_NUMBER;
    if (value->is_number && value->number > TIME_MOST)
        return session_fail(error, value->column, "so long a time has no translation");
    switch (value->moment) {
    case MOMENT_START:
        fputs("r.start_ns", out);
        return true;
    case MOMENT_PEAK:
        fputs("r.peak_ns", out);
        return true;
    case MOMENT_END:
        fputs("r.end_ns", out);
        return true;
    case MOMENT_PERCENT:
        put_part(out, dialect, value->number);
        return true;
    case MOMENT_MARK: {
        const size_t mark = mark_of(use, value, error);
        fprintf(out, "r.mark_%zu", mark);
        return mark != 0;
    }
    default:
        if (value->parameter)
            fprintf(out, "%s%s%s", dialect->number_parameter.before, value->parameter,
                    dialect->number_parameter.after);
        else
            fprintf(out, "%" PRIu64, value->number);
        return true;
    }
}

bool sql_put_moment(FILE *out, struct sql_use *use, const struct sql_dialect *dialect,
                    const struct filter_value *value, bool *of_run, struct session_error *error)
{
    if (value->moment != MOMENT_SUM)
        return put_term(out, use, dialect, value, of_run, error);
    const char *sign = "(";
    for (const struct filter_time_term *term = value->terms; term; term = term->next) {
        fputs(term->negative ? (term == value->terms ? "(-" : " - ") : sign, out);
        if (!put_term(out, use, dialect, &term->value, of_run, error))
            return false;
        sign = " + ";
    }
    fputc(')', out);
    return true;
}

void sql_put_moment_text(FILE *out, const struct filter_value *value)
{
    const char *sign = "";
    switch (value->moment) {
    case MOMENT_START:
        fputs("start", out);
        break;
    case MOMENT_PEAK:
        fputs("peak", out);
        break;
    case MOMENT_END:
        fputs("end", out);
        break;
    case MOMENT_PERCENT:
        fprintf(out, "%.9g%%", (double)value->number / 1e7);
        break;
    case MOMENT_MARK:
        fputc('"', out);
        sql_put_comment(out, value->text);
        fputc('"', out);
        break;
    case MOMENT_SUM:
        for (const struct filter_time_term *term = value->terms; term; term = term->next) {
            fputs(term->negative ? " - " : sign, out);
            sql_put_moment_text(out, &term->value);
            sign = " + ";
        }
        break;
    default:
        if (value->parameter)
            fprintf(out, "$%s", value->parameter);
        else
            fprintf(out, "%" PRIu64 "ns", value->number);
        break;
    }
}

void sql_put_comment(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
}
