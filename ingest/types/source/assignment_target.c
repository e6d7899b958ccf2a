/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/assignment_target.h"

#include <string.h>

#include "ingest/types/source/expression.h"
#include "ingest/types/source/source_statement.h"
#include "ingest/types/source/statement_facts.h"

/* Returns true if it is a word that a parenthesis follows and that is not a function. */
static bool is_keyword(const char *word, size_t length)
{
    static const char *const words[] = {"if",     "while",   "for",      "switch",    "return",
                                        "sizeof", "alignof", "_Alignof", "likely",    "unlikely",
                                        "assert", "typeof",  "offsetof", "__typeof__"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* Finds the call that gives the result: the one with the name, or the only one. NULL: none, or
 * several. */
static const char *find_call(const char *text, const char *callee)
{
    const char *named = NULL, *only = NULL;
    size_t names = 0, calls = 0;
    for (const char *open = text; (open = strchr(open, '(')); open++) {
        const char *end = open, *name;
        while (end > text && end[-1] == ' ')
            end--;
        for (name = end; name > text && types_text_is_word(name[-1]);)
            name--;
        size_t length = (size_t)(end - name);
        if (length == 0 || is_keyword(name, length))
            continue;
        only = name;
        calls++;
        if (callee && strlen(callee) == length && strncmp(callee, name, length) == 0) {
            named = name;
            names++;
        }
    }
    return names == 1 ? named : names == 0 && calls == 1 ? only : NULL;
}

static const char *skip_blanks_back(const char *text, const char *at)
{
    while (at > text && at[-1] == ' ')
        at--;
    return at;
}

/* Returns the position before the "(T *)" that ends at `at`, or `at` if there is no cast. */
static const char *skip_cast_back(const char *text, const char *at)
{
    if (at == text || at[-1] != ')')
        return at;
    const char *open = at - 1;
    while (open > text && *open != '(')
        if (*--open == ')')
            return at;
    return at - open >= 3 && skip_blanks_back(open, at - 1)[-1] == '*' ? open : at;
}

/* Returns the start of the expression that ends at `end`: "name", "a->b[i].c", with the stars that
 * dereference it. */
static const char *expression_start(const char *text, const char *end)
{
    const char *at = end;
    while (at > text) {
        if (at[-1] == ']') {
            int depth = 0;
            do {
                at--;
                depth += *at == ']';
                depth -= *at == '[';
            } while (at > text && depth > 0);
            continue;
        }
        if (types_text_is_word(at[-1]) || at[-1] == '.')
            at--;
        else if (at > text + 1 && at[-1] == '>' && at[-2] == '-')
            at -= 2;
        else
            break;
    }
    const char *stars = at;
    while (stars > text && (stars[-1] == '*' || stars[-1] == ' '))
        stars--;
    /* After a type's name, stars belong to a declaration. */
    bool declares = stars > text && (types_text_is_word(stars[-1]) || stars[-1] == '>');
    return declares || !memchr(stars, '*', (size_t)(at - stars)) ? at : stars;
}

/* Returns the position before the namespaces of a function's name that begins at `at`:
 * "std::malloc". */
static const char *skip_spaces_of_name_back(const char *text, const char *at)
{
    while (at >= text + 2 && at[-1] == ':' && at[-2] == ':') {
        at -= 2;
        while (at > text && types_text_is_word(at[-1]))
            at--;
    }
    return at;
}

static bool find_target(const struct types_site *site, const char *text, const char *callee,
                        struct types_type *pointee)
{
    const char *at = find_call(text, callee);
    struct types_type type;
    if (!at)
        return false;
    at = skip_spaces_of_name_back(text, at);
    at = skip_blanks_back(text, skip_cast_back(text, skip_blanks_back(text, at)));
    if (at == text || at[-1] != '=' || (at > text + 1 && strchr("=!<>+-*/%&|^", at[-2])))
        return false;
    at = skip_blanks_back(text, at - 1);
    const char *start = types_text_skip_blanks(expression_start(text, at));
    return start < at && types_expression_value(site, start, (size_t)(at - start), &type) &&
           types_pointee(site->index, &type, pointee);
}

/* Returns true if it is a name in capitals, or one that begins like constants in C++: kBlockSize.
 */
static bool is_constant(const char *word, size_t length)
{
    if (length > 1 && word[0] == 'k' && word[1] >= 'A' && word[1] <= 'Z')
        return true;
    for (size_t i = 0; i < length; i++)
        if (word[i] >= 'a' && word[i] <= 'z')
            return false;
    return length > 1;
}

bool types_assignment_target_fixed_size(const char *text, const char *callee)
{
    const char *at = find_call(text, callee), *end;
    bool number = false;
    if (!at || !(at = strchr(at, '(')) || !(end = types_text_after(at)))
        return false;
    while (++at < end) {
        size_t length = 0;
        while (types_text_is_word(at[length]))
            length++;
        if (length == 0)
            continue;
        if ((*at < '0' || *at > '9') && !is_constant(at, length))
            return false;
        number = true;
        at += length - 1;
    }
    return number;
}

bool types_assignment_target(const struct types_site *site, const char *text, const char *callee,
                             struct types_type *pointee)
{
    size_t length = strlen(text);
    bool found;
    if (types_statement_facts_find(site, TYPES_FACT_TARGET, text, length, &found, pointee))
        return found;
    found = find_target(site, text, callee, pointee);
    return types_statement_facts_keep(site, TYPES_FACT_TARGET, text, length, found, pointee);
}
