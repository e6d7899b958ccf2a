/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of types, composed from DWARF entries (entries.h).
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/dwarf/alias.h"
#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/spelling.h"

/* Longer chains of typedefs and pointers than any source has. */
#define CHAIN_MAX 64

static bool is_record(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Joins a prefix such as "const ", the name of the inner type, and a suffix such as " *". */
static char *join(const char *before, const char *name, const char *after)
{
    char *joined = NULL;
    return asprintf(&joined, "%s%s%s", before, name, after) < 0 ? NULL : joined;
}

static char *qualify(struct types_index *index, Dwarf_Die *die, const char *name)
{
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    char *qualified = strdup(name);
    while (qualified && entry && entry->parent != TYPES_NO_PARENT) {
        entry = &unit->entries[entry->parent];
        if (entry->tag == DW_TAG_subprogram)
            break;
        const char *scope = entry->name;
        if (!scope)
            scope = entry->tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
        char *longer = NULL;
        if (asprintf(&longer, "%s::%s", scope, qualified) < 0)
            longer = NULL;
        free(qualified);
        qualified = longer;
    }
    return qualified;
}

/* Returns the typedef of a record at file scope if it is better known than the tag, otherwise the
 * tag. */
static char *record_name(struct types_index *index, Dwarf_Die *die)
{
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    const char *alias = NULL;
    if (entry && entry->parent == TYPES_NO_PARENT)
        alias = types_alias(types_index_aliases(index), index, die);
    return alias ? strdup(alias) : qualify(index, die, dwarf_diename(die));
}

/*
 * Returns the file that declares `die`. From DWARF 5 on, file 0 is the unit's own, but
 * dwarf_decl_file() takes it for none. That function would also end the process if a split unit has
 * no files.
 */
static const char *declaring_file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    Dwarf_Half version;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    if (number == 0)
        return version < 5 ? NULL : dwarf_diename(&unit);
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static char *nameless(Dwarf_Die *die)
{
    char *name = NULL;
    int line = 0;
    const char *file = declaring_file(die);
    dwarf_decl_line(die, &line);
    const char *keyword = dwarf_tag(die) == DW_TAG_union_type         ? "union"
                          : dwarf_tag(die) == DW_TAG_enumeration_type ? "enum"
                                                                      : "struct";
    if (!file)
        return asprintf(&name, "(%s)", keyword) < 0 ? NULL : name;
    return asprintf(&name, "(%s at %s:%d)", keyword, basename(file), line) < 0 ? NULL : name;
}

/* Returns true if the typedef is the user's word: one at the file's own scope is, one inside a
 * class is not. */
static bool typedef_names(struct types_index *index, Dwarf_Die *die, Dwarf_Die *stripped)
{
    const char *name = dwarf_diename(die);
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    if (!name || strncmp(name, "__", 2) == 0)
        return false;
    if (is_record(dwarf_tag(stripped)) || dwarf_tag(stripped) == DW_TAG_enumeration_type)
        return !dwarf_diename(stripped);
    return entry && entry->parent == TYPES_NO_PARENT;
}

static char *raw_name(struct types_index *index, Dwarf_Die *die, int depth);

static char *wrapped_name(struct types_index *index, Dwarf_Die *die, int depth, const char *before,
                          const char *after)
{
    Dwarf_Die type;
    char *inner = types_type_of(die, &type) ? raw_name(index, &type, depth + 1) : strdup("void");
    char *name = !inner ? NULL : join(before, inner, after);
    free(inner);
    return name;
}

static char *qualified_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    Dwarf_Die type;
    bool pointer = types_type_of(die, &type) && types_strip(&type, &type) &&
                   dwarf_tag(&type) == DW_TAG_pointer_type;
    const char *word = dwarf_tag(die) == DW_TAG_const_type      ? "const"
                       : dwarf_tag(die) == DW_TAG_volatile_type ? "volatile"
                                                                : "";
    char before[16] = "";
    if (!pointer && *word != '\0')
        snprintf(before, sizeof(before), "%s ", word);
    return wrapped_name(index, die, depth, before, pointer ? word : "");
}

static char *array_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    char bounds[128] = " ";
    size_t length = 1;
    Dwarf_Die range;
    if (dwarf_child(die, &range) == 0) {
        do {
            Dwarf_Attribute attribute;
            Dwarf_Word bound = 0;
            if (dwarf_attr(&range, DW_AT_count, &attribute))
                dwarf_formudata(&attribute, &bound);
            else if (dwarf_attr(&range, DW_AT_upper_bound, &attribute) &&
                     dwarf_formudata(&attribute, &bound) == 0)
                bound++;
            if (length < sizeof(bounds))
                length += (size_t)snprintf(bounds + length, sizeof(bounds) - length, "[%llu]",
                                           (unsigned long long)bound);
        } while (types_index_sibling(index, &range));
    }
    return wrapped_name(index, die, depth, "", bounds);
}

static char *pointer_name(struct types_index *index, Dwarf_Die *die, int depth, const char *mark)
{
    Dwarf_Die type;
    if (types_type_of(die, &type) && types_strip(&type, &type) &&
        dwarf_tag(&type) == DW_TAG_subroutine_type)
        return wrapped_name(index, &type, depth, "", " (*)()");
    return wrapped_name(index, die, depth, "", mark);
}

/* Returns the name as the compilers would write it, before it gets its one spelling. */
static char *raw_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    Dwarf_Die stripped;
    if (depth > CHAIN_MAX)
        return strdup("?");
    const char *name = dwarf_diename(die);
    int tag = dwarf_tag(die);
    switch (tag) {
    case DW_TAG_typedef:
        if (types_strip(die, &stripped) && !typedef_names(index, die, &stripped))
            return wrapped_name(index, die, depth, "", "");
        return qualify(index, die, !name ? "?" : name);
    case DW_TAG_pointer_type:
        return pointer_name(index, die, depth, " *");
    case DW_TAG_reference_type:
        return pointer_name(index, die, depth, " &");
    case DW_TAG_rvalue_reference_type:
        return pointer_name(index, die, depth, " &&");
    case DW_TAG_array_type:
        return array_name(index, die, depth);
    default:
        if (types_is_qualifier(tag))
            return qualified_name(index, die, depth);
        if (!name)
            return is_record(tag) || tag == DW_TAG_enumeration_type ? nameless(die) : strdup("?");
        if (is_record(tag))
            return record_name(index, die);
        return tag == DW_TAG_base_type ? strdup(name) : qualify(index, die, name);
    }
}

char *types_name(struct types_index *index, const struct types_type *type)
{
    if (!type->die.addr)
        return strdup("void");
    Dwarf_Die die = type->die;
    char *raw = raw_name(index, &die, 0);
    char *name = !raw ? NULL : types_spelling(raw);
    free(raw);
    return name;
}

char *types_tag_name(struct types_index *index, const struct types_type *type)
{
    Dwarf_Die die = type->die, stripped;
    if (type->shape != TYPES_RECORD || !types_strip(&die, &stripped) || !dwarf_diename(&stripped))
        return types_name(index, type);
    char *raw = qualify(index, &stripped, dwarf_diename(&stripped));
    char *name = !raw ? NULL : types_spelling(raw);
    free(raw);
    return name;
}

bool types_named(struct types_index *index, const char *name, struct types_type *type)
{
    size_t length, at = 0;
    const char *last = types_spelling_last_part(name, &length);
    Dwarf_Die record;
    while (length > 0 && types_index_next(index, last, length, &at, &record)) {
        if (!types_from(index, &record, type))
            continue;
        char *found = types_tag_name(index, type);
        bool same = found && strcmp(found, name) == 0;
        free(found);
        if (same)
            return true;
    }
    return false;
}
