/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/source.h"

#include <dwarf.h>
#include <string.h>

#include "ingest/types/dwarf/fit.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/operator_new.h"
#include "ingest/types/source/assignment_target.h"
#include "ingest/types/source/expression.h"
#include "ingest/types/source/sizeof.h"
#include "ingest/types/source/source_statement.h"
#include "ingest/types/source/statement_facts.h"

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

/* Returns the length of the type in "T *" between `start` and `end`, without the star. 0: not a
 * pointer. */
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

/* Finds the next cast of a call to a pointer, "(T *)call(" or that of C++. Returns the end of the
 * cast, or NULL. */
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

/* Chooses the type that the target points to. Its size may differ from the block's only if
 * `front`. */
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

/* Chooses by the statement at the site's level. */
static bool choose_by_statement(const struct types_site *site, const char *text, uint64_t size,
                                int64_t offset, bool front, struct types_choice *choice)
{
    struct types_type pointee;
    bool received = types_assignment_target(site, text, callee(site), &pointee);
    if (types_sizeof_choose(site, text, size, offset, choice)) {
        /* For a sum, the target tells which part comes first, unless that part begins with the
         * target's type. */
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

/* Skips inlined functions that hand memory on. They name sizes of their own, and no types of their
 * callers. */
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
