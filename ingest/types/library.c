/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/library.h"

#include <dwarf.h>
#include <string.h>

#include "ingest/types/flow/calls.h"

static bool is_inline_space(const char *name)
{
    return strcmp(name, "__1") == 0 || strcmp(name, "__cxx11") == 0 || strcmp(name, "_V2") == 0;
}

bool types_in_space(const struct types_unit *unit, uint32_t entry, const char *space)
{
    const char *end = space + strlen(space);
    for (; entry != TYPES_NO_PARENT; entry = unit->entries[entry].parent) {
        const char *name = unit->entries[entry].name;
        if (!name || (unit->entries[entry].tag != DW_TAG_namespace &&
                      !types_is_class(&unit->entries[entry])))
            return false;
        if (is_inline_space(name))
            continue;
        size_t length = strlen(name);
        if ((size_t)(end - space) < length || memcmp(end - length, name, length) != 0)
            return false;
        end -= length;
        if (end - space >= 2 && end[-1] == ':')
            end -= 2;
    }
    return end == space;
}

bool types_is_template(const char *text, const char *name)
{
    size_t length = strlen(name);
    return text && strncmp(text, name, length) == 0 &&
           (text[length] == '\0' || text[length] == '<');
}

bool types_is_class(const struct types_entry *entry)
{
    return entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type;
}

bool types_first_argument(struct types_index *index, Dwarf_Die *template, Dwarf_Die *argument)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (dwarf_child(template, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
            return dwarf_attr(&child, DW_AT_type, &attribute) &&
                   types_reference(&attribute, argument);
    } while (types_index_sibling(index, &child));
    return false;
}

bool types_declared_value(struct types_index *index, Dwarf_Die *class, Dwarf_Die *value)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (dwarf_child(class, &child) != 0)
        return false;
    do {
        const char *name = dwarf_tag(&child) == DW_TAG_typedef ? dwarf_diename(&child) : NULL;
        if (name && strcmp(name, "value_type") == 0 && dwarf_attr(&child, DW_AT_type, &attribute) &&
            types_reference(&attribute, value))
            return true;
    } while (types_index_sibling(index, &child));
    return false;
}

bool types_value_type(struct types_index *index, Dwarf_Die *allocator, Dwarf_Die *value)
{
    Dwarf_Die class;
    return types_strip(allocator, &class) && (types_declared_value(index, &class, value) ||
                                              types_first_argument(index, &class, value));
}

const struct types_entry *types_frame_function(const struct types_site *site, size_t frame,
                                               const struct types_unit **unit, Dwarf_Die *function)
{
    Dwarf_Die entry = site->entries[frame];
    types_declared_function(&entry, function);
    *unit = types_index_unit(site->index, function);
    return !*unit ? NULL : types_index_entry(*unit, function);
}

bool types_is_standard(const struct types_site *site, size_t frame)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *declared = types_frame_function(site, frame, &unit, &function);
    const char *outermost = NULL;
    if (!declared)
        return false;
    for (uint32_t at = declared->parent; at != TYPES_NO_PARENT; at = unit->entries[at].parent)
        outermost = unit->entries[at].tag == DW_TAG_namespace ? unit->entries[at].name : NULL;
    return outermost && (strcmp(outermost, "std") == 0 || strcmp(outermost, "__gnu_cxx") == 0);
}
