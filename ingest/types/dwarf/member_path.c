/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/member_path.h"

#include <dwarf.h>
#include <string.h>

bool types_is_standard_class(struct types_index *index, const struct types_type *type)
{
    Dwarf_Die die = type->die, stripped;
    const char *outermost = NULL;
    if (type->shape != TYPES_RECORD || !types_strip(&die, &stripped))
        return false;
    const struct types_unit *unit = types_index_unit(index, &stripped);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, &stripped);
    for (uint32_t at = !entry ? TYPES_NO_PARENT : entry->parent; at != TYPES_NO_PARENT;
         at = unit->entries[at].parent)
        outermost = unit->entries[at].tag == DW_TAG_namespace ? unit->entries[at].name : NULL;
    return outermost && (strcmp(outermost, "std") == 0 || strcmp(outermost, "__gnu_cxx") == 0);
}

/* Finds the member or base class that covers `*offset`, and makes it the offset inside. */
static bool covering(struct types_index *index, Dwarf_Die *record, uint64_t *offset,
                     Dwarf_Die *found, struct types_type *type)
{
    Dwarf_Die child;
    if (dwarf_tag(record) == DW_TAG_union_type || dwarf_child(record, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word start = 0;
        const int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration) ||
            dwarf_hasattr(&child, DW_AT_data_bit_offset) || dwarf_hasattr(&child, DW_AT_bit_size))
            continue;
        if (dwarf_attr(&child, DW_AT_data_member_location, &attribute) &&
            dwarf_formudata(&attribute, &start) != 0)
            continue; /* a virtual base class: only the running program knows its place */
        if (start > *offset || !types_of(index, &child, type) || *offset - start >= type->size)
            continue;
        /* An empty base class shares the address of the first member. */
        if (tag == DW_TAG_inheritance && type->size == 1)
            continue;
        *offset -= start;
        *found = child;
        return true;
    } while (types_index_sibling(index, &child));
    return false;
}

bool types_member_path(struct types_index *index, const struct types_type *object, uint64_t offset,
                       const struct types_type *target, struct types_member_path *path)
{
    struct types_type type = *object;
    path->count = 0;
    for (int i = 0; i < TYPES_MEMBER_PATH_MAX; i++) {
        Dwarf_Die stripped, member;
        struct types_type inner;
        if (!type.die.addr || !types_strip(&type.die, &stripped))
            return false;
        if (type.shape == TYPES_ARRAY) {
            if (!types_of(index, &stripped, &inner) || inner.size == 0)
                return false;
            offset %= inner.size;
            type = inner;
            continue;
        }
        if (type.shape != TYPES_RECORD)
            return false;
        if (target && offset == 0 && types_same(index, &type, target))
            return true;
        if (types_is_standard_class(index, &type))
            return !target;
        if (!covering(index, &stripped, &offset, &member, &inner))
            return false;
        if (dwarf_tag(&member) == DW_TAG_member) {
            const char *name = dwarf_diename(&member);
            if (!name)
                return false;
            path->steps[path->count++] = (struct types_member_step){type, name};
        }
        type = inner;
    }
    return false;
}
