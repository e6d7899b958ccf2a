/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/regex.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"

/*
 * The time of regcomp() grows faster than the number of atoms if some may match nothing: ()+ eleven
 * times around a*b*, 6000 atoms, takes seconds.
 */
enum { LENGTH_MAX = 512, COST_MAX = 10000, COST_MAX_EMPTY = 1000 };

/*
 * The size of an expression with its repetitions written out, as regcomp() compiles it: a+ is aa*,
 * a{3} is aaa, and (a+)+ or a++ doubles twice. Counts the atoms of the open groups on a stack,
 * innermost last.
 */
struct cost {
    unsigned long total[LENGTH_MAX + 1]; /* of a group without its last atom */
    unsigned long last[LENGTH_MAX + 1];  /* the last atom, which a repetition would repeat */
    size_t depth;
};

static void cost_atom(struct cost *cost, unsigned long atom)
{
    cost->total[cost->depth] += cost->last[cost->depth];
    cost->last[cost->depth] = atom;
}

/* Returns the end of the bracket expression that begins at `at`. A "]" that comes first, and
 * [:classes:], belong to it. */
static const char *skip_bracket(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']' ? 1 : 0;
    while (*at != '\0' && *at != ']') {
        if (*at == '[' && at[1] != '\0' && strchr(":.=", at[1])) {
            const char close[] = {at[1], ']', '\0'};
            const char *end = strstr(at + 2, close);
            at = end ? end + 1 : at;
        }
        at++;
    }
    return *at == '\0' ? at - 1 : at;
}

/* Counts the repetition at `at`, "+" or "{". Returns its end. */
static const char *cost_repeat(struct cost *cost, const char *at)
{
    unsigned long repeat = 2;
    if (*at == '{') {
        char *end;
        unsigned long low = strtoul(at + 1, &end, 10);
        unsigned long high = *end == ',' ? strtoul(end + 1, &end, 10) : low;
        repeat = high > low ? high : low;
        repeat = repeat > COST_MAX ? COST_MAX : repeat + 1;
        at = *end == '}' ? end : at;
    }
    unsigned long last = cost->last[cost->depth];
    last = last * repeat;
    cost->last[cost->depth] = last > COST_MAX ? COST_MAX + 1 : last;
    return at;
}

static const char *regex_refusal(const char *text)
{
    struct cost cost = {.depth = 0};
    bool may_be_empty = strpbrk(text, "*?{|") || strstr(text, "()");
    unsigned long most = may_be_empty ? COST_MAX_EMPTY : COST_MAX;
    if (strlen(text) > LENGTH_MAX)
        return "longer than 512 bytes";
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            if (*at >= '0' && *at <= '9')
                return "a back reference, which extended expressions do not have";
            cost_atom(&cost, 1);
        } else if (*at == '(') {
            cost.depth++;
            cost.total[cost.depth] = 1;
            cost.last[cost.depth] = 0;
        } else if (*at == ')' && cost.depth > 0) {
            unsigned long group = cost.total[cost.depth] + cost.last[cost.depth];
            cost.depth--;
            cost_atom(&cost, group);
        } else if (*at == '+' || *at == '{') {
            at = cost_repeat(&cost, at);
        } else if (*at != '*' && *at != '?') {
            if (*at == '[')
                at = skip_bracket(at);
            cost_atom(&cost, 1);
        }
        if (cost.total[cost.depth] + cost.last[cost.depth] > most)
            return may_be_empty ? "repetitions that multiply to more than 1000"
                                : "repetitions that multiply to more than 10000";
    }
    return NULL;
}

bool filter_regex_compile(regex_t *regex, const char *text, int column, struct session_error *error)
{
    const char *refusal = regex_refusal(text);
    if (refusal)
        return session_fail(error, column, "bad regular expression: %s", refusal);
    int status = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (status == 0)
        return true;
    char reason[128];
    regerror(status, regex, reason, sizeof(reason));
    return session_fail(error, column, "bad regular expression: %s", reason);
}
