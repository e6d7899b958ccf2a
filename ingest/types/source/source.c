/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/source.h"

#include <dwarf.h>
#include <string.h>

#include "ingest/types/flow/calls.h"
#include "ingest/types/source/source_statement.h"

/* Finds the type of a block from the sizeof operators in its source statement, and from the type
 * that a macro gets there. */

/* More operators than a statement that allocates has. */
#define OPERANDS_MAX 16

struct operand {
    struct types_type type; /* TYPES_UNUSABLE: not known */
    bool summand;           /* of the whole size or a part of it */
    bool multiplied;
};

/* ---- the place of a sizeof ------------------------------------------------------------- */

/* Returns true if the sign at `at` adds or subtracts: not of "->", "++", "--", with a left side. */
static bool is_sign(const char *start, const char *at)
{
    if ((*at != '+' && *at != '-') || at[1] == '>' || at[1] == *at || (at > start && at[-1] == *at))
        return false;
    while (at > start && at[-1] == ' ')
        at--;
    return at > start && (types_text_is_word(at[-1]) || at[-1] == ')' || at[-1] == ']');
}

/* Goes back from `at` to the parenthesis or comma before the operand; notes signs. */
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

/* Finds the expression around the operand, past parentheses that only group. */
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
        /* A call in another's argument may round the size, as ROUND8(sizeof x) does. */
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

/* Reads the operand of the sizeof whose word ends at `at`. Returns its end, or NULL. */
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

/* Chooses by sizeof. `size` is the size asked of the allocator; the statement's pointer is `offset`
 * bytes after the start of the block. If it returns true, choice->type and choice->one_object are
 * set.
 *
 * A sizeof that is multiplied gives the element, if all of them in the statement name one type and
 * its size divides the block. A record's sizeof to which something is added gives the type at the
 * start of the block. Any other sizeof in a sum tells nothing: "length + sizeof(void *)". */
static bool types_sizeof_choose(const struct types_site *site, const char *text, uint64_t size,
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

/* Returns true if a sizeof in the statement names `record`, no matter to what it is added or
 * whether a macro adds it. */
static bool types_sizeof_names(const struct types_site *site, const char *text,
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

/* Reads the type among the arguments of the call opened at `open`. False if there are two. */
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

/* Chooses by "luaM_newvector(L, n, Node)". Functions take no types, so this is a macro. The only
 * type it gets is that of the elements, if its size divides the block. */
static bool types_macro_choose(const struct types_site *site, const char *text, uint64_t size,
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

/* Finds the variable or member to which the source statement assigns the result of its call, and
 * the type to which it is declared to point: "table->items = (struct item *)allocate(size)". */

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

/* Finds the call that gives the result: the one with the name, or the only one, or NULL. */
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

/* Returns the position before a function name's namespaces, as in "std::malloc". */
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

/* Returns true if that call asks for bytes: "65536", "4 * PAGE", no sizeof or variable. */
static bool types_assignment_target_fixed_size(const char *text, const char *callee)
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

/* Finds the type that the target of the one call in `text` points to. `callee` is the name of the
 * allocating function, or NULL if it is not known. If exactly one call has that name, the statement
 * may contain other calls. If none has it, as with a macro, there must be only one call. Returns
 * false if there is no target, or several. */
static bool types_assignment_target(const struct types_site *site, const char *text,
                                    const char *callee, struct types_type *pointee)
{
    size_t length = strlen(text);
    bool found;
    if (types_statement_facts_find(site, TYPES_FACT_TARGET, text, length, &found, pointee))
        return found;
    found = find_target(site, text, callee, pointee);
    return types_statement_facts_keep(site, TYPES_FACT_TARGET, text, length, found, pointee);
}

/* ---- casts and new ---------------------------------------------------------------------- */

/* Returns true if a call begins at `at`, after a cast. In C++ a "(" comes before it. */
static bool is_call(const char *at)
{
    size_t word = 0;
    at = types_text_skip_blanks(at);
    while (types_text_is_word(at[word]) || at[word] == ':')
        word++;
    return word > 0 && *types_text_skip_blanks(at + word) == '(';
}

/* Returns the length of T in "T *" between `start` and `end`. 0: not a pointer. */
static size_t pointed_length(const char *start, const char *end)
{
    while (end > start && end[-1] == ' ')
        end--;
    return end > start && end[-1] == '*' ? (size_t)(end - start - 1) : 0;
}

/* Reads "static_cast<T *>(" at `text`: finds T, and returns the position after the parenthesis.
 * NULL: no such cast. */
static const char *read_cxx_cast(const char *text, const char **name, size_t *length)
{
    static const char *const casts[] = {"static_cast", "reinterpret_cast"};
    for (size_t i = 0; i < sizeof(casts) / sizeof(*casts); i++) {
        if (strncmp(text, casts[i], strlen(casts[i])) != 0)
            continue;
        const char *open = types_text_skip_blanks(text + strlen(casts[i])), *close = open;
        int depth = 0;
        do {
            depth += *close == '<';
            depth -= *close == '>';
        } while (depth > 0 && *++close != '\0');
        const char *after = *close == '>' ? types_text_skip_blanks(close + 1) : close;
        if (*open != '<' || *after != '(')
            return NULL;
        *name = open + 1;
        *length = pointed_length(open + 1, close);
        return after + 1;
    }
    return NULL;
}

/* Finds the next cast of a call to a pointer, "(T *)call(" or C++'s. Returns its end, or NULL. */
static const char *next_cast(const char *text, const char **name, size_t *length)
{
    for (const char *at = text; *at != '\0'; at++) {
        const char *after = NULL;
        const char *close = *at == '(' ? strchr(at, ')') : NULL;
        if (close) {
            *name = at + 1;
            *length = pointed_length(at + 1, close);
            after = close + 1;
        } else if ((*at == 's' || *at == 'r') && (at == text || !types_text_is_word(at[-1]))) {
            after = read_cxx_cast(at, name, length);
        }
        if (after && *length > 0 && is_call(after))
            return after;
    }
    return NULL;
}

/* Chooses by "(T *)" directly before a call, or static_cast<T *>(call()). */
static bool choose_cast(const struct types_site *site, const char *text, uint64_t size,
                        int64_t offset, struct types_choice *choice)
{
    bool found = false;
    const char *name;
    size_t length;
    for (const char *at = text; (at = next_cast(at, &name, &length));) {
        struct types_type type;
        if (!types_expression_name(site, name, length, &type))
            continue;
        if (found && !types_same(site->index, &type, &choice->type))
            return false;
        choice->type = type;
        found = true;
    }
    enum types_fit fit =
        found ? types_fit(site->index, &choice->type, size, offset) : TYPES_FIT_NOT;
    choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    return fit >= TYPES_FIT_ARRAY;
}

/* Chooses by "new T(", "new T[", "new (std::nothrow) T{", if there is one in the statement. */
static bool choose_new(const struct types_site *site, const char *text, enum types_operator by,
                       uint64_t size, int64_t offset, struct types_choice *choice)
{
    const char *at = types_text_find(text, "new");
    if (!at || types_text_find(at + 3, "new"))
        return false;
    at = types_text_skip_blanks(at + 3);
    if (*at == '(' && (at = types_text_after(at)))
        at = types_text_skip_blanks(at);
    if (!at)
        return false;
    size_t length = 0;
    int depth = 0;
    for (; at[length] != '\0'; length++) {
        depth += at[length] == '<';
        depth -= at[length] == '>';
        if (depth == 0 && strchr("([{;,)", at[length]))
            break;
    }
    if (!types_expression_name(site, at, length, &choice->type))
        return false;
    enum types_fit fit = types_fit(site->index, &choice->type, size, offset);
    if (by != TYPES_BY_NEW_ARRAY)
        return fit == TYPES_FIT_WHOLE;
    /* "new char[sizeof(T)]" is room for a T. */
    if (fit == TYPES_FIT_BUFFER)
        return !types_text_find(at, "sizeof");
    if (fit == TYPES_FIT_NOT && size > 8 && offset == 0 &&
        types_fit(site->index, &choice->type, size, 8) >= TYPES_FIT_ARRAY) {
        choice->offset = 8; /* the number of elements: Itanium C++ ABI, 2.7 */
        return true;
    }
    return fit == TYPES_FIT_ARRAY || fit == TYPES_FIT_WHOLE;
}

/* ---- the statement ---------------------------------------------------------------------- */

/* Returns the function that the statement at the site's level calls. NULL: not known. */
static const char *callee(const struct types_site *site)
{
    struct types_call call;
    if (site->level > 0)
        return site->frames[site->level - 1].function;
    types_called(site, &call);
    return call.linkage;
}

/* Returns true if it is a record that is shorter than the block, which then begins with one. A head
 * of other records does not count. */
static bool is_front(const struct types_site *site, const struct types_type *type, uint64_t size,
                     int64_t offset)
{
    return type->shape == TYPES_RECORD && type->size > 0 && offset >= 0 &&
           (uint64_t)offset + type->size < size && !types_is_head(site->index, type) &&
           !types_is_polymorphic(site->index, type);
}

/* Chooses the type that the target points to, of another size than the block if `front`. */
static bool choose_target(const struct types_site *site, const struct types_type *pointee,
                          uint64_t size, int64_t offset, bool front, struct types_choice *choice)
{
    enum types_fit fit = types_fit(site->index, pointee, size, offset);
    if (pointee->size == 1)
        return false; /* bytes do not tell their contents */
    if (fit == TYPES_FIT_ARRAY && pointee->shape == TYPES_RECORD &&
        types_is_head(site->index, pointee))
        return false;
    if (fit == TYPES_FIT_NOT && !(front && is_front(site, pointee, size, offset)))
        return false;
    choice->type = *pointee;
    choice->one_object = fit == TYPES_FIT_NOT || fit == TYPES_FIT_FLEXIBLE;
    choice->exact_size = fit == TYPES_FIT_WHOLE;
    choice->rule = TYPES_RULE_RECEIVER;
    return true;
}

static bool choose_by_statement(const struct types_site *site, const char *text, uint64_t size,
                                int64_t offset, bool front, struct types_choice *choice)
{
    struct types_type pointee;
    bool received = types_assignment_target(site, text, callee(site), &pointee);
    if (types_sizeof_choose(site, text, size, offset, choice)) {
        /* For a sum, the target tells which part is first, unless that begins with its type. */
        if (choice->one_object && received && pointee.shape == TYPES_RECORD &&
            (is_front(site, &pointee, size, offset) ||
             types_fit(site->index, &pointee, size, offset) >= TYPES_FIT_FLEXIBLE) &&
            !types_has_member_at(site->index, &choice->type, 0, &pointee))
            choice->type = pointee;
        return true;
    }
    /* "T *p = allocate(add(sizeof(T), n))": the block begins with a T, no matter what is added. */
    if (received && is_front(site, &pointee, size, offset) &&
        types_sizeof_names(site, text, &pointee)) {
        choice->type = pointee;
        choice->one_object = true;
        return true;
    }
    return types_macro_choose(site, text, size, offset, choice) ||
           choose_cast(site, text, size, offset, choice) ||
           (received && choose_target(site, &pointee, size, offset, front, choice));
}

/* Returns true if the inlined function at the site's level hands on a pointer that names no type.
 */
static bool hands_on(const struct types_site *site)
{
    struct types_type pointer, type;
    Dwarf_Die function = site->entries[site->level];
    return dwarf_tag(&function) == DW_TAG_inlined_subroutine &&
           types_of(site->index, &function, &pointer) &&
           types_pointee(site->index, &pointer, &type) &&
           (type.shape == TYPES_VOID || type.shape == TYPES_CHARACTER);
}

/* Returns the column, from 1, of the call in the line of the site's level. 0: not known. */
static uint32_t call_column(const struct types_site *site)
{
    Dwarf_Word column = 0;
    if (site->level > 0) {
        Dwarf_Die inlined = site->entries[site->level - 1];
        Dwarf_Attribute attribute;
        if (dwarf_attr(&inlined, DW_AT_call_column, &attribute))
            dwarf_formudata(&attribute, &column);
        return column < UINT32_MAX ? (uint32_t)column : 0;
    }
    Dwarf_Die function = site->entries[0], unit;
    int number;
    if (!dwarf_cu_die(function.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return 0;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, site->return_address - 1 - site->file->bias);
    return line && dwarf_linecol(line, &number) == 0 && number > 0 ? (uint32_t)number : 0;
}

/* Skips inlined functions that hand memory on: they name their own sizes, not callers' types. */
static void leave_wrappers(struct types_site *site)
{
    while (site->level + 1 < site->entry_count && hands_on(site))
        site->level++;
}

/* Skips a class's operator new, which does not name its callers' types either. */
static void leave_operators(struct types_site *site)
{
    while (site->level + 1 < site->entry_count &&
           types_is_class_operator_new(site->frames[site->level].function))
        site->level++;
}

bool types_source_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, bool front, struct types_choice *choice)
{
    struct types_site at = *site;
    *choice = (struct types_choice){.offset = offset > 0 ? (uint64_t)offset : 0,
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_SOURCE};
    if (by == TYPES_BY_FUNCTION)
        leave_wrappers(&at);
    else
        leave_operators(&at);
    const char *text = types_statement_facts_text(&at, call_column);
    if (!text)
        return false;
    choice->from_caller = at.level > site->level;
    if (by == TYPES_BY_FUNCTION)
        choice->chosen = choose_by_statement(&at, text, size, offset, front, choice);
    else
        choice->chosen = choose_new(&at, text, by, size, offset, choice);
    return choice->chosen;
}

enum types_new_statement types_source_new(const struct types_site *site)
{
    const char *text = types_statement_facts_text(site, call_column);
    const char *at = !text ? NULL : types_text_find(text, "new");
    if (!at)
        return text && types_text_find(text, "__builtin_operator_new") ? TYPES_NEW_CALL
                                                                       : TYPES_NEW_UNSTATED;
    /* Placement new may have the call as its argument. */
    for (; at; at = types_text_find(at + 3, "new")) {
        const char *word = skip_blanks_back(text, at);
        if (word - text >= 8 && strncmp(word - 8, "operator", 8) == 0)
            return TYPES_NEW_CALL;
    }
    return TYPES_NEW_EXPRESSION;
}

bool types_source_bytes(const struct types_site *site, uint64_t size, int64_t offset,
                        struct types_choice *choice)
{
    struct types_type pointee;
    struct types_site at = *site;
    leave_wrappers(&at);
    const char *text = types_statement_facts_text(&at, call_column);
    if (!text || !types_assignment_target(&at, text, callee(&at), &pointee) || pointee.size != 1 ||
        offset < 0 || (uint64_t)offset >= size)
        return false;
    *choice = (struct types_choice){.chosen = true,
                                    .type = pointee,
                                    .offset = (uint64_t)offset,
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_SOURCE};
    return true;
}

/* Blocks of at least this many bytes are given out in pieces. */
#define POOL_MIN 1024

bool types_source_pool(const struct types_site *site, uint64_t size, int64_t offset,
                       struct types_choice *choice)
{
    const char *text;
    struct types_type pointee;
    uint64_t largest = choice->chosen ? choice->type.size : 0;
    if (size < POOL_MIN || offset < 0 || (uint64_t)offset >= size || largest > size / 2 ||
        (choice->chosen && choice->type.shape != TYPES_RECORD && choice->type.size != 1) ||
        !(text = types_statement_facts_text(site, call_column)) ||
        !types_assignment_target(site, text, callee(site), &pointee) ||
        (pointee.shape != TYPES_VOID && pointee.size != 1) ||
        !types_assignment_target_fixed_size(text, callee(site)))
        return false;
    *choice = (struct types_choice){.chosen = true,
                                    .type = pointee,
                                    .offset = (uint64_t)offset,
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_SOURCE};
    return true;
}
