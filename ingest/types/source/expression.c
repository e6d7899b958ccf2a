/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the types of names and simple expressions in source text, at a site of a program. */
#include "ingest/types/source/source.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/source/source_statement.h"

#define TEXT_MAX 256
#define NESTING_MAX 64

/* ---- names of types --------------------------------------------------------------------- */

/* Returns true if `name` is `wanted`, or ends in it after a namespace. */
static bool ends_in(const char *name, const char *wanted)
{
    size_t length = strlen(name), tail = strlen(wanted);
    return length >= tail && strcmp(name + length - tail, wanted) == 0 &&
           (length == tail || name[length - tail - 1] == ':');
}

static bool matches(const struct types_site *site, const struct types_entry *entry,
                    const struct types_unit *unit, const char *wanted, struct types_type *type)
{
    Dwarf_Die die;
    if (!types_index_die(unit, entry, &die) || !types_from(site->index, &die, type) ||
        type->size == 0)
        return false;
    if (entry->tag == DW_TAG_typedef)
        return !strchr(wanted, ':');
    char *name = types_tag_name(site->index, type);
    bool same = name && ends_in(name, wanted);
    free(name);
    return same;
}

static bool find_in_unit(const struct types_site *site, const struct types_unit *unit,
                         const char *wanted, struct types_type *type)
{
    size_t length;
    const char *last = types_spelling_last_part(wanted, &length);
    bool found = false;
    for (size_t i = 0; i < unit->count; i++) {
        const struct types_entry *entry = &unit->entries[i];
        struct types_type candidate;
        if (entry->declaration || !entry->name || entry->tag == DW_TAG_namespace ||
            entry->tag == DW_TAG_subprogram)
            continue;
        if (entry->tag == DW_TAG_base_type) {
            char *spelled = types_spelling(entry->name);
            bool same = spelled && strcmp(spelled, wanted) == 0;
            free(spelled);
            if (!same)
                continue;
        } else if (strncmp(entry->name, last, length) != 0 ||
                   (entry->name[length] != '\0' && entry->name[length] != '<')) {
            continue;
        }
        if (!matches(site, entry, unit, wanted, &candidate))
            continue;
        if (found && !types_same(site->index, type, &candidate))
            return false;
        *type = candidate;
        found = true;
    }
    return found;
}

/* Finds a template argument of `scope`, or a type declared in it. */
static bool find_in_declaration(struct types_index *index, Dwarf_Die *scope, const char *name,
                                struct types_type *type)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (!dwarf_haschildren(scope) || dwarf_child(scope, &child) != 0)
        return false;
    do {
        const int tag = dwarf_tag(&child);
        const bool argument = tag == DW_TAG_template_type_parameter;
        const char *found = argument || tag == DW_TAG_typedef || tag == DW_TAG_structure_type ||
                                    tag == DW_TAG_class_type || tag == DW_TAG_union_type
                                ? dwarf_diename(&child)
                                : NULL;
        if (!found || strcmp(found, name) != 0)
            continue;
        return (argument
                    ? dwarf_attr(&child, DW_AT_type, &attribute) &&
                          types_reference(&attribute, &child) && types_from(index, &child, type)
                    : types_from(index, &child, type)) &&
               type->size > 0;
    } while (types_index_sibling(index, &child));
    return false;
}

/* Finds the type in the scopes of the site's function: a template argument of the function or of a
 * class around it, or a type that such a class declares. */
static bool find_in_scopes(const struct types_site *site, const char *name, struct types_type *type)
{
    Dwarf_Die function = site->entries[site->level], declared, scope;
    if (!site->index)
        return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!types_text_is_word(*at))
            return false;
    types_declared_function(&function, &declared);
    const struct types_unit *unit = types_index_unit(site->index, &declared);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, &declared);
    if (find_in_declaration(site->index, &function, name, type) ||
        find_in_declaration(site->index, &declared, name, type))
        return true;
    for (uint32_t at = !entry ? TYPES_NO_PARENT : entry->parent; at != TYPES_NO_PARENT;
         at = unit->entries[at].parent)
        if (unit->entries[at].tag != DW_TAG_namespace &&
            types_index_die(unit, &unit->entries[at], &scope) &&
            find_in_declaration(site->index, &scope, name, type))
            return true;
    return false;
}

/* `length` is less than TEXT_MAX. */
static bool find_name(const struct types_site *site, const char *text, size_t length,
                      struct types_type *type)
{
    char copy[TEXT_MAX];
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *spelled = types_spelling(copy);
    const struct types_unit *unit = types_home_unit(site, site->level);
    const char *wanted = spelled;
    if (wanted && strncmp(wanted, "const ", 6) == 0)
        wanted += 6;
    bool found = wanted && *wanted != '\0' && unit &&
                 (find_in_scopes(site, wanted, type) || find_in_unit(site, unit, wanted, type) ||
                  types_named(site->index, wanted, type));
    free(spelled);
    return found;
}

bool types_expression_name(const struct types_site *site, const char *text, size_t length,
                           struct types_type *type)
{
    bool found;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || length >= TEXT_MAX || memchr(text, '*', length))
        return false;
    if (types_statement_facts_find(site, TYPES_FACT_NAME, text, length, &found, type))
        return found;
    found = find_name(site, text, length, type);
    return types_statement_facts_keep(site, TYPES_FACT_NAME, text, length, found, type);
}

/* ---- expressions ------------------------------------------------------------------------ */

static bool is_named(Dwarf_Die *die, const char *name)
{
    const char *found = dwarf_diename(die);
    return found && strcmp(found, name) == 0;
}

/* Finds a variable or parameter of `scope` or of a block inside it that holds the site. */
static bool find_in_scope(const struct types_site *site, Dwarf_Die *scope, const char *name,
                          struct types_type *type)
{
    Dwarf_Die child;
    bool found = false;
    uint64_t pc = site->return_address - 1 - site->file->bias;
    Dwarf_Die at = *scope;
    for (int depth = 0; depth < NESTING_MAX; depth++) {
        Dwarf_Die inner = {0};
        if (dwarf_child(&at, &child) != 0)
            break;
        do {
            int tag = dwarf_tag(&child);
            if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
                is_named(&child, name) && types_of(site->index, &child, type))
                found = true;
            else if (tag == DW_TAG_lexical_block && dwarf_haspc(&child, pc) == 1)
                inner = child;
        } while (types_index_sibling(site->index, &child));
        if (!inner.addr)
            break;
        at = inner;
    }
    return found;
}

/* Reads the variables of that name below `scope`. `*found` tells whether there is one. Returns
 * false if there are several of different types. */
static bool read_all_named(const struct types_site *site, Dwarf_Die *scope, const char *name,
                           int depth, bool *found, struct types_type *type)
{
    Dwarf_Die child;
    if (depth == NESTING_MAX || dwarf_child(scope, &child) != 0)
        return true;
    do {
        int tag = dwarf_tag(&child);
        struct types_type one;
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && is_named(&child, name) &&
            types_of(site->index, &child, &one)) {
            if (*found && !types_same(site->index, type, &one))
                return false;
            *type = one;
            *found = true;
        }
        if (tag == DW_TAG_lexical_block &&
            !read_all_named(site, &child, name, depth + 1, found, type))
            return false;
    } while (dwarf_siblingof(&child, &child) == 0);
    return true;
}

/* Finds a variable in the function of which this inlined one is an instance. The instance lacks the
 * variables that the compiler keeps nowhere. It is not known here in which block the site is. */
static bool find_in_origin(const struct types_site *site, Dwarf_Die *function, const char *name,
                           struct types_type *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    bool found = false;
    return dwarf_attr(function, DW_AT_abstract_origin, &attribute) &&
           dwarf_formref_die(&attribute, &origin) &&
           read_all_named(site, &origin, name, 0, &found, type) && found;
}

static bool find_variable(const struct types_site *site, const char *name, struct types_type *type)
{
    Dwarf_Die unit;
    Dwarf_Die scope = site->entries[site->level];
    if (find_in_scope(site, &scope, name, type) || find_in_origin(site, &scope, name, type))
        return true;
    const struct types_unit *home = types_home_unit(site, site->level);
    return home && dwarf_cu_die(home->unit, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
           find_in_scope(site, &unit, name, type);
}

static bool find_member(const struct types_site *site, const struct types_type *record,
                        const char *name, struct types_type *type)
{
    Dwarf_Die die = record->die, stripped, member;
    if (record->shape != TYPES_RECORD || !types_strip(&die, &stripped) ||
        dwarf_child(&stripped, &member) != 0)
        return false;
    do {
        if (dwarf_tag(&member) == DW_TAG_member && is_named(&member, name))
            return types_of(site->index, &member, type);
    } while (types_index_sibling(site->index, &member));
    return false;
}

/* Goes to the type that a pointer points to, or that an array holds. */
static bool dereference(const struct types_site *site, struct types_type *type)
{
    struct types_type inner;
    Dwarf_Die die = type->die, stripped;
    if (type->shape == TYPES_ARRAY && types_strip(&die, &stripped)) {
        if (!types_of(site->index, &stripped, &inner))
            return false;
    } else if (!types_pointee(site->index, type, &inner)) {
        return false;
    }
    *type = inner;
    return true;
}

static const char *read_word(const char *at, char word[TEXT_MAX])
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    memcpy(word, at, length);
    word[length] = '\0';
    return at + length;
}

/* Reads the members and elements after the variable's name. */
static bool read_postfix(const struct types_site *site, const char *at, struct types_type *type)
{
    char word[TEXT_MAX];
    while (*at != '\0') {
        if (*at == '[') {
            const char *close = strchr(at, ']');
            if (!close || !dereference(site, type))
                return false;
            at = close + 1;
        } else if (at[0] == '-' && at[1] == '>') {
            at = read_word(at + 2, word);
            if (!dereference(site, type) || !find_member(site, type, word, type))
                return false;
        } else if (*at == '.') {
            at = read_word(at + 1, word);
            if (!find_member(site, type, word, type))
                return false;
        } else {
            return false;
        }
    }
    return true;
}

static bool find_value(const struct types_site *site, const char *text, size_t length,
                       struct types_type *type)
{
    char copy[TEXT_MAX] = "", word[TEXT_MAX];
    size_t count = 0;
    unsigned stars = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ') {
            if (count + 1 >= sizeof(copy))
                return false;
            copy[count++] = text[i];
        }
    copy[count] = '\0';
    const char *at = copy;
    for (; *at == '*'; at++)
        stars++;
    at = read_word(at, word);
    if (word[0] == '\0' || !find_variable(site, word, type) || !read_postfix(site, at, type))
        return false;
    while (stars-- > 0)
        if (!dereference(site, type))
            return false;
    return type->size > 0;
}

bool types_expression_value(const struct types_site *site, const char *text, size_t length,
                            struct types_type *type)
{
    bool found;
    if (types_statement_facts_find(site, TYPES_FACT_VALUE, text, length, &found, type))
        return found;
    found = find_value(site, text, length, type);
    return types_statement_facts_keep(site, TYPES_FACT_VALUE, text, length, found, type);
}
