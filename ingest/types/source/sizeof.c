/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/sizeof.h"

#include <string.h>

#include "ingest/types/dwarf/fit.h"
#include "ingest/types/source/expression.h"
#include "ingest/types/source/source_statement.h"

/* More operators than a statement that allocates has. */
#define OPERANDS_MAX 16

struct operand {
    struct types_type type; /* TYPES_UNUSABLE: not known */
    bool summand;           /* of the whole size or a part of it */
    bool multiplied;
};

/* ---- the place of a sizeof ------------------------------------------------------------- */

/* Returns true if the sign at `at` adds or subtracts: it is not part of "->", "++", "--", and has a
 * left side. */
static bool is_sign(const char *start, const char *at)
{
    if ((*at != '+' && *at != '-') || at[1] == '>' || at[1] == *at || (at > start && at[-1] == *at))
        return false;
    while (at > start && at[-1] == ' ')
        at--;
    return at > start && (types_text_is_word(at[-1]) || at[-1] == ')' || at[-1] == ']');
}

/* Goes back from `at` to the parenthesis or comma before the operand, and notes the signs on the
 * way. */
static const char *argument_start(const char *text, const char *at, const char **term, bool *sum)
{
    int depth = 0;
    *term = NULL;
    for (; at > text; at--) {
        char before = at[-1];
        if (depth == 0 && (before == '(' || before == ',' || before == '=' || before == ';' ||
                           before == '{' || before == '?' || before == ':'))
            break;
        depth += before == ')' || before == ']';
        depth -= before == '(' || before == '[';
        if (depth == 0 && is_sign(text, at - 1)) {
            *sum = true;
            if (!*term)
                *term = at;
        }
    }
    if (!*term)
        *term = at;
    return at;
}

static const char *argument_end(const char *text, const char *at, const char **term, bool *sum)
{
    int depth = 0;
    *term = NULL;
    for (; *at != '\0'; at++) {
        if (depth == 0 && strchr("),;}?:", *at))
            break;
        depth += *at == '(' || *at == '[';
        depth -= *at == ')' || *at == ']';
        if (depth == 0 && is_sign(text, at)) {
            *sum = true;
            if (!*term)
                *term = at;
        }
    }
    if (!*term)
        *term = at;
    return at;
}

static bool all_blank(const char *start, const char *end)
{
    return start + strspn(start, " ") >= end;
}

/* Finds the expression around the operand from `start` to `end`, past parentheses that only
 * group. */
static void place_operand(const char *text, const char *start, const char *end,
                          struct operand *operand)
{
    for (;;) {
        const char *term_start, *term_end;
        bool nested_sum;
        const char *from = argument_start(text, start, &term_start, &operand->summand);
        const char *to = argument_end(text, end, &term_end, &operand->summand);
        if (!all_blank(term_start, start) || !all_blank(end, term_end))
            operand->multiplied = true;
        if (from == text || from[-1] != '(' || *to != ')')
            return;
        start = from - 1;
        end = to + 1;
        const char *before = start;
        while (before > text && before[-1] == ' ')
            before--;
        if (before == text || !types_text_is_word(before[-1]))
            continue;
        /* A call that is part of another call's argument may round the size, as ROUND8(sizeof x)
         * does. */
        while (before > text && types_text_is_word(before[-1]))
            before--;
        start = before;
        before = argument_start(text, start, &term_start, &nested_sum);
        if (before == text || before[-1] != '(')
            return;
    }
}

/* ---- the type it names ------------------------------------------------------------------ */

/* Reads a type's name or an expression. "T *" and "T **" are pointers, no matter what T is. */
static bool read_name(const struct types_site *site, const char *text, size_t length,
                      struct types_type *type)
{
    size_t end = length;
    while (end > 0 && text[end - 1] == ' ')
        end--;
    if (end > 1 && text[end - 1] == '*') {
        *type = (struct types_type){.shape = TYPES_UNUSABLE};
        return true;
    }
    return types_expression_name(site, text, length, type) ||
           types_expression_value(site, text, length, type);
}

/* Reads the operand of the sizeof whose word ends at `at`. Returns its end, or NULL if it has
 * none. */
static const char *read_operand(const struct types_site *site, const char *at,
                                struct types_type *type)
{
    *type = (struct types_type){.shape = TYPES_UNUSABLE};
    at = types_text_skip_blanks(at);
    if (*at == '(') {
        const char *end = types_text_after(at);
        if (end && !read_name(site, at + 1, (size_t)(end - at) - 2, type))
            *type = (struct types_type){.shape = TYPES_UNUSABLE};
        return end;
    }
    size_t length = 0;
    while (at[length] != '\0' && (types_text_is_word(at[length]) || strchr("*.>-[]", at[length])) &&
           (length == 0 || at[length] != '*' || at[length - 1] == '*'))
        length++;
    if (!types_expression_value(site, at, length, type))
        *type = (struct types_type){.shape = TYPES_UNUSABLE};
    return at + length;
}

static size_t read_operands(const struct types_site *site, const char *text,
                            struct operand operands[OPERANDS_MAX])
{
    size_t count = 0;
    for (const char *at = text; (at = types_text_find(at, "sizeof"));) {
        if (count == OPERANDS_MAX)
            return 0;
        struct operand *operand = &operands[count++];
        *operand = (struct operand){.summand = false};
        const char *end = read_operand(site, at + 6, &operand->type);
        if (!end)
            return 0;
        place_operand(text, at, end, operand);
        at = end;
    }
    return count;
}

/* ---- all of them together --------------------------------------------------------------- */

/* Finds the first record to which something is added. */
static const struct operand *find_header(const struct operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operands[i].summand && !operands[i].multiplied &&
            operands[i].type.shape == TYPES_RECORD)
            return &operands[i];
    return NULL;
}

bool types_sizeof_choose(const struct types_site *site, const char *text, uint64_t size,
                         int64_t offset, struct types_choice *choice)
{
    struct operand operands[OPERANDS_MAX];
    size_t count = read_operands(site, text, operands);
    if (count == 0 || offset < 0 || (uint64_t)offset >= size)
        return false;
    uint64_t held = size - (uint64_t)offset;
    const struct operand *header = find_header(operands, count);
    const struct types_type *first = !header ? &operands[0].type : &header->type;
    for (size_t i = 0; i < count; i++) {
        const struct operand *operand = &operands[i];
        if (operand->summand && header)
            continue;
        if (operand->summand || operand->type.shape == TYPES_UNUSABLE ||
            !types_same(site->index, first, &operand->type))
            return false;
    }
    if (first->size == 0 || held < first->size || (!header && held % first->size != 0))
        return false;
    choice->type = *first;
    choice->one_object = header != NULL;
    return true;
}

bool types_sizeof_names(const struct types_site *site, const char *text,
                        const struct types_type *record)
{
    struct operand operands[OPERANDS_MAX];
    size_t count = read_operands(site, text, operands);
    for (size_t i = 0; i < count; i++)
        if (operands[i].type.shape == TYPES_RECORD &&
            types_same(site->index, &operands[i].type, record))
            return true;
    return false;
}

/* ---- types given to macros -------------------------------------------------------------- */

/* Returns true if it is a macro that gets a type for another purpose than allocation. */
static bool is_other_macro(const char *name, size_t length)
{
    static const char *const others[] = {
        "sizeof",   "offsetof",    "__builtin_offsetof", "va_arg", "alignof",  "_Alignof",
        "decltype", "typeof",      "__typeof__",         "typeid", "_Generic", "static_cast",
        "cast",     "container_of"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strlen(others[i]) == length && strncmp(name, others[i], length) == 0)
            return true;
    return false;
}

/* Reads an argument that is just a type's name: words, and not a variable with that name. */
static bool read_type_argument(const struct types_site *site, const char *start, const char *end,
                               struct types_type *type)
{
    struct types_type variable;
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    for (const char *at = start; at < end; at++)
        if (!types_text_is_word(*at) && *at != ' ')
            return false;
    size_t length = (size_t)(end - start);
    return length > 0 && (*start < '0' || *start > '9') &&
           types_expression_name(site, start, length, type) &&
           !types_expression_value(site, start, length, &variable);
}

/* Reads the types among the arguments of the call whose parenthesis is at `open`. Returns false if
 * there are two. */
static bool read_arguments(const struct types_site *site, const char *open, const char *end,
                           struct types_choice *choice, bool *found)
{
    int depth = 0;
    const char *start = open + 1;
    for (const char *at = open; at < end; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (!(depth == 1 && *at == ',') && depth != 0)
            continue;
        struct types_type type;
        if (read_type_argument(site, start, at, &type)) {
            if (*found && !types_same(site->index, &type, &choice->type))
                return false;
            choice->type = type;
            *found = true;
        }
        start = at + 1;
    }
    return true;
}

bool types_macro_choose(const struct types_site *site, const char *text, uint64_t size,
                        int64_t offset, struct types_choice *choice)
{
    bool found = false;
    for (const char *open = text; (open = strchr(open, '(')); open++) {
        const char *end = types_text_after(open), *name = open;
        while (name > text && types_text_is_word(name[-1]))
            name--;
        if (!end || name == open || is_other_macro(name, (size_t)(open - name)))
            continue;
        if (!read_arguments(site, open, end, choice, &found))
            return false;
    }
    if (!found)
        return false;
    enum types_fit fit = types_fit(site->index, &choice->type, size, offset);
    choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    return fit >= TYPES_FIT_ARRAY;
}
