/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Longer chains of typedefs, pointers and members than any source has. */
#define CHAIN_MAX 64
/* The depth of records within records: of all members at an offset, or of the last ones. */
#define MEMBER_DEPTH 8
#define FLEXIBLE_DEPTH 8

bool types_next_sibling(Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > offset;
}

bool types_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && types_reference(&attribute, type);
}

bool types_is_qualifier(int tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

bool types_strip(Dwarf_Die *type, Dwarf_Die *stripped)
{
    *stripped = *type;
    for (int i = 0; i < CHAIN_MAX; i++) {
        int tag = dwarf_tag(stripped);
        if (!types_is_qualifier(tag) && tag != DW_TAG_typedef)
            return tag != DW_TAG_invalid && tag != DW_TAG_unspecified_type;
        if (!types_type_of(stripped, stripped))
            return false;
    }
    return false;
}

static enum types_shape shape_of(Dwarf_Die *stripped)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    switch (dwarf_tag(stripped)) {
    case DW_TAG_base_type:
        if (dwarf_attr(stripped, DW_AT_encoding, &attribute))
            dwarf_formudata(&attribute, &encoding);
        const char *name = dwarf_diename(stripped);
        return name && strcmp(name, "char") == 0 ? TYPES_CHARACTER : TYPES_SCALAR;
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_ptr_to_member_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return TYPES_SCALAR;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return TYPES_RECORD;
    case DW_TAG_array_type:
        return TYPES_ARRAY;
    default:
        return TYPES_UNUSABLE;
    }
}

static uint64_t size_of(Dwarf_Die *stripped)
{
    Dwarf_Word size;
    int tag = dwarf_tag(stripped);
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
        tag == DW_TAG_rvalue_reference_type)
        return 8;
    return dwarf_aggregate_size(stripped, &size) == 0 ? size : 0;
}

/* Returns the size of libstdc++'s strings. It declares them "extern template", and clang then
 * writes only their declaration. Their size is part of the library's ABI. */
static uint64_t library_size(struct types_index *index, Dwarf_Die *stripped)
{
    const struct types_unit *unit = types_index_unit(index, stripped);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, stripped);
    if (!entry || !entry->name || entry->parent == TYPES_NO_PARENT)
        return 0;
    const char *scope = unit->entries[entry->parent].name;
    bool string = strncmp(entry->name, "basic_string<", 13) == 0;
    return string && scope && strcmp(scope, "__cxx11") == 0 ? 32 : 0;
}

bool types_from(struct types_index *index, Dwarf_Die *die, struct types_type *type)
{
    Dwarf_Die stripped;
    *type = (struct types_type){.die = *die};
    for (int i = 0; i < CHAIN_MAX && types_is_qualifier(dwarf_tag(&type->die)); i++)
        if (!types_type_of(&type->die, &type->die)) {
            *type = (struct types_type){.shape = TYPES_VOID};
            return true;
        }
    if (!types_strip(&type->die, &stripped)) {
        /* This is a typedef of void, or "auto" that was never deduced. */
        *type = (struct types_type){.shape = TYPES_VOID};
        return true;
    }
    type->shape = shape_of(&stripped);
    type->size = size_of(&stripped);
    if (type->shape == TYPES_RECORD && dwarf_hasattr(&stripped, DW_AT_declaration)) {
        if (types_index_definition(index, &stripped, &type->die))
            type->size = size_of(&type->die);
        else
            type->size = library_size(index, &stripped);
    }
    return type->shape != TYPES_UNUSABLE;
}

bool types_of(struct types_index *index, Dwarf_Die *entry, struct types_type *type)
{
    Dwarf_Die die;
    if (!types_type_of(entry, &die)) {
        *type = (struct types_type){.shape = TYPES_VOID};
        return true;
    }
    return types_from(index, &die, type);
}

bool types_pointee(struct types_index *index, const struct types_type *type,
                   struct types_type *pointee)
{
    Dwarf_Die die, stripped;
    if (!type->die.addr)
        return false;
    die = type->die;
    if (!types_strip(&die, &stripped))
        return false;
    int tag = dwarf_tag(&stripped);
    if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
        tag != DW_TAG_rvalue_reference_type)
        return false;
    return types_of(index, &stripped, pointee);
}

/* ---- members ---------------------------------------------------------------------------- */

static uint64_t member_offset(Dwarf_Die *member)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
        return 0;
    return dwarf_formudata(&attribute, &offset) == 0 ? offset : UINT64_MAX;
}

static bool is_static(Dwarf_Die *member)
{
    return dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration);
}

/* Finds the type of the array's elements, and makes `*offset` the offset within one. */
static bool element_at(struct types_index *index, Dwarf_Die *array, uint64_t *offset,
                       struct types_type *element)
{
    if (!types_of(index, array, element) || element->size == 0)
        return false;
    *offset %= element->size;
    return true;
}

/* Finds the data member or base class that covers `offset`, its start and type. */
static bool member_covers(struct types_index *index, Dwarf_Die *member, uint64_t offset,
                          uint64_t *start, struct types_type *type)
{
    int tag = dwarf_tag(member);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static(member) ||
        dwarf_hasattr(member, DW_AT_data_bit_offset))
        return false;
    *start = member_offset(member);
    return *start <= offset && types_of(index, member, type) && offset - *start < type->size;
}

static bool direct_member_at(struct types_index *index, Dwarf_Die *record, uint64_t *offset,
                             struct types_type *found)
{
    Dwarf_Die member;
    if (dwarf_child(record, &member) != 0)
        return false;
    do {
        uint64_t start;
        struct types_type type;
        if (!member_covers(index, &member, *offset, &start, &type))
            continue;
        /* An empty base class shares the address of the first member. */
        if (type.shape == TYPES_RECORD && type.size == 1 &&
            dwarf_tag(&member) == DW_TAG_inheritance)
            continue;
        *offset -= start;
        *found = type;
        return true;
    } while (types_index_sibling(index, &member));
    return false;
}

enum member_found {
    MEMBER_NONE,
    MEMBER_FOUND,
    MEMBER_AMBIGUOUS /* a union has pointers of several types there */
};

static enum member_found member_at(struct types_index *index, const struct types_type *record,
                                   uint64_t offset, struct types_type *member, int depth);

static enum member_found union_member_at(struct types_index *index, Dwarf_Die *record,
                                         uint64_t offset, struct types_type *found, int depth)
{
    Dwarf_Die member;
    bool any = false, pointer = false;
    if (depth == 0 || dwarf_child(record, &member) != 0)
        return MEMBER_NONE;
    do {
        struct types_type type, inner, pointee;
        if (dwarf_tag(&member) != DW_TAG_member || is_static(&member) ||
            !types_of(index, &member, &type) || offset >= type.size)
            continue;
        enum member_found within = member_at(index, &type, offset, &inner, depth - 1);
        if (within == MEMBER_AMBIGUOUS)
            return MEMBER_AMBIGUOUS;
        if (within == MEMBER_NONE)
            continue;
        bool points = types_pointee(index, &inner, &pointee);
        if (points && pointer && !types_same(index, found, &inner))
            return MEMBER_AMBIGUOUS;
        if (!any || (points && !pointer))
            *found = inner;
        any = true;
        pointer = pointer || points;
    } while (types_index_sibling(index, &member));
    return any ? MEMBER_FOUND : MEMBER_NONE;
}

static enum member_found member_at(struct types_index *index, const struct types_type *record,
                                   uint64_t offset, struct types_type *member, int depth)
{
    struct types_type inner = *record;
    for (int i = 0; i < CHAIN_MAX; i++) {
        Dwarf_Die stripped;
        *member = inner;
        if (!member->die.addr || !types_strip(&member->die, &stripped))
            return MEMBER_NONE;
        if (dwarf_tag(&stripped) == DW_TAG_union_type)
            return union_member_at(index, &stripped, offset, member, depth);
        if (member->shape == TYPES_ARRAY) {
            if (!element_at(index, &stripped, &offset, &inner))
                return MEMBER_NONE;
        } else if (member->shape == TYPES_RECORD) {
            if (!direct_member_at(index, &stripped, &offset, &inner))
                return MEMBER_NONE;
        } else {
            return offset == 0 ? MEMBER_FOUND : MEMBER_NONE;
        }
    }
    return MEMBER_NONE;
}

bool types_member_at(struct types_index *index, const struct types_type *record, uint64_t offset,
                     struct types_type *member)
{
    return member_at(index, record, offset, member, MEMBER_DEPTH) == MEMBER_FOUND;
}

bool types_is_array_at(struct types_index *index, const struct types_type *record, uint64_t offset)
{
    struct types_type member = *record;
    for (int i = 0; i < CHAIN_MAX && member.shape == TYPES_RECORD; i++) {
        Dwarf_Die stripped;
        if (!types_strip(&member.die, &stripped) ||
            !direct_member_at(index, &stripped, &offset, &member))
            return false;
    }
    return member.shape == TYPES_ARRAY;
}

static uint64_t array_bound(Dwarf_Die *array)
{
    Dwarf_Die range;
    Dwarf_Attribute attribute;
    Dwarf_Word bound;
    if (dwarf_child(array, &range) != 0)
        return 0;
    if (dwarf_attr(&range, DW_AT_count, &attribute))
        return dwarf_formudata(&attribute, &bound) == 0 ? bound : 0;
    /* gcc writes an upper bound of -1 for an array of no elements. */
    if (dwarf_attr(&range, DW_AT_upper_bound, &attribute))
        return dwarf_formudata(&attribute, &bound) == 0 && bound < UINT32_MAX ? bound + 1 : 0;
    return 0;
}

/* Finds the last member with bytes of its own. Returns false if there is none. */
static bool last_member(struct types_index *index, Dwarf_Die *record, Dwarf_Die *last)
{
    Dwarf_Die member;
    bool found = false;
    if (dwarf_child(record, &member) != 0)
        return false;
    do {
        if (dwarf_tag(&member) == DW_TAG_member && !is_static(&member)) {
            *last = member;
            found = true;
        }
    } while (types_index_sibling(index, &member));
    return found;
}

static bool flexible_end(struct types_index *index, const struct types_type *type, int depth,
                         uint64_t *start)
{
    Dwarf_Die die = type->die, stripped, member;
    struct types_type inner;
    if (depth == 0 || !die.addr || !types_strip(&die, &stripped))
        return false;
    if (type->shape == TYPES_ARRAY) {
        *start = 0;
        return array_bound(&stripped) <= 1;
    }
    if (type->shape != TYPES_RECORD)
        return false;
    if (dwarf_tag(&stripped) != DW_TAG_union_type) {
        if (!last_member(index, &stripped, &member) || !types_of(index, &member, &inner) ||
            !flexible_end(index, &inner, depth - 1, start))
            return false;
        *start += member_offset(&member);
        return true;
    }
    bool found = false;
    uint64_t least = 0;
    if (dwarf_child(&stripped, &member) != 0)
        return false;
    do {
        /* An array is itself one of the forms that the union's bytes can have. */
        if (dwarf_tag(&member) != DW_TAG_member || !types_of(index, &member, &inner) ||
            inner.shape != TYPES_RECORD || !flexible_end(index, &inner, depth - 1, start))
            continue;
        least = found && least < *start ? least : *start;
        found = true;
    } while (types_index_sibling(index, &member));
    *start = least;
    return found;
}

bool types_flexible_end(struct types_index *index, const struct types_type *record, uint64_t *start)
{
    *start = 0;
    return record->shape == TYPES_RECORD && flexible_end(index, record, FLEXIBLE_DEPTH, start);
}

static bool has_member_at(struct types_index *index, const struct types_type *record,
                          uint64_t offset, const struct types_type *wanted, int depth)
{
    Dwarf_Die die = record->die, stripped, member;
    struct types_type type;
    if (depth == 0 || !die.addr || !types_strip(&die, &stripped))
        return false;
    if (record->shape == TYPES_ARRAY)
        return element_at(index, &stripped, &offset, &type) &&
               ((offset == 0 && types_same(index, &type, wanted)) ||
                has_member_at(index, &type, offset, wanted, depth - 1));
    if (record->shape != TYPES_RECORD || dwarf_child(&stripped, &member) != 0)
        return false;
    do {
        uint64_t start;
        if (!member_covers(index, &member, offset, &start, &type))
            continue;
        if ((start == offset && types_same(index, &type, wanted)) ||
            has_member_at(index, &type, offset - start, wanted, depth - 1))
            return true;
    } while (types_index_sibling(index, &member));
    return false;
}

bool types_has_member_at(struct types_index *index, const struct types_type *record,
                         uint64_t offset, const struct types_type *member)
{
    return has_member_at(index, record, offset, member, MEMBER_DEPTH);
}

bool types_is_head(struct types_index *index, const struct types_type *record)
{
    Dwarf_Die die = record->die, stripped;
    return record->shape == TYPES_RECORD && types_strip(&die, &stripped) &&
           types_index_is_head(index, &stripped);
}

bool types_same(struct types_index *index, const struct types_type *left,
                const struct types_type *right)
{
    if (!left->die.addr || !right->die.addr)
        return left->die.addr == right->die.addr;
    Dwarf_Die a = left->die, b = right->die;
    if (!types_strip(&a, &a) || !types_strip(&b, &b))
        return false;
    if (a.addr == b.addr)
        return true;
    if (left->shape != right->shape || left->size != right->size)
        return false;
    char *first = types_name(index, left), *second = types_name(index, right);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

static bool base_at_start(struct types_index *index, Dwarf_Die *record, struct types_type *base)
{
    Dwarf_Die member;
    if (dwarf_child(record, &member) != 0)
        return false;
    do {
        if (dwarf_tag(&member) == DW_TAG_inheritance && member_offset(&member) == 0 &&
            types_of(index, &member, base))
            return true;
    } while (types_index_sibling(index, &member));
    return false;
}

bool types_is_derived(struct types_index *index, const struct types_type *derived,
                      const struct types_type *base)
{
    struct types_type type = *derived;
    for (int i = 0; i < CHAIN_MAX; i++) {
        Dwarf_Die stripped;
        if (types_same(index, &type, base))
            return true;
        if (!type.die.addr || !types_strip(&type.die, &stripped) ||
            !base_at_start(index, &stripped, &type))
            return false;
    }
    return false;
}

bool types_is_polymorphic(struct types_index *index, const struct types_type *record)
{
    struct types_type type = *record;
    for (int i = 0; i < CHAIN_MAX; i++) {
        Dwarf_Die stripped, member;
        if (type.shape != TYPES_RECORD || !types_strip(&type.die, &stripped) ||
            dwarf_child(&stripped, &member) != 0)
            return false;
        do {
            const char *name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
            if (name && (strncmp(name, "_vptr.", 6) == 0 || strncmp(name, "_vptr$", 6) == 0))
                return true;
        } while (types_index_sibling(index, &member));
        if (!base_at_start(index, &stripped, &type))
            return false;
    }
    return false;
}

/* ---- fit ----------------------------------------------------------------------------------- */

enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset)
{
    if (offset < 0 || (uint64_t)offset >= size)
        return TYPES_FIT_NOT;
    uint64_t held = size - (uint64_t)offset;
    if (type->shape == TYPES_CHARACTER)
        return TYPES_FIT_BUFFER;
    if (type->shape == TYPES_VOID || type->shape == TYPES_UNUSABLE || type->size == 0)
        return TYPES_FIT_NOT;
    if (held == type->size)
        return TYPES_FIT_WHOLE;
    uint64_t start;
    if (types_flexible_end(index, type, &start) && held >= start)
        return TYPES_FIT_FLEXIBLE;
    return held > 0 && held % type->size == 0 ? TYPES_FIT_ARRAY : TYPES_FIT_NOT;
}
