/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/records.h"

#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Deeper inheritance than any compiler allows. */
#define BASES_DEPTH 64

struct record {
    const char *name;
    uint64_t size;
    struct types_index *index;
    struct types_type type;
};

struct types_records {
    void *tree; /* of struct record, sorted by size and name */
};

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

struct types_records *types_records_new(void)
{
    return calloc(1, sizeof(struct types_records));
}

void types_records_free(struct types_records *records)
{
    if (!records)
        return;
    tdestroy(records->tree, free);
    free(records);
}

void types_records_add(struct types_records *records, const char *name, struct types_index *index,
                       const struct types_type *type)
{
    const struct record key = {name, type->size, index, *type};
    if (!name || type->shape != TYPES_RECORD || tfind(&key, &records->tree, compare_records))
        return;
    struct record *record = malloc(sizeof(*record));
    if (!record)
        return;
    *record = key;
    if (!tsearch(record, &records->tree, compare_records))
        free(record);
}

/* ---- members ---------------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *number = word;
    return true;
}

/* Returns true if the record has no bytes of its own, like base classes that only lend functions.
 */
static bool is_empty(struct types_index *index, const struct types_type *type, int depth)
{
    Dwarf_Die die = type->die, stripped, child;
    if (depth == 0)
        return false;
    if (type->shape != TYPES_RECORD || type->size != 1 || !types_strip(&die, &stripped) ||
        dwarf_child(&stripped, &child) != 0)
        return type->shape == TYPES_RECORD && type->size == 1;
    do {
        struct types_type base;
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_member && !dwarf_hasattr(&child, DW_AT_external) &&
            !dwarf_hasattr(&child, DW_AT_declaration))
            return false;
        if (tag == DW_TAG_inheritance &&
            (!types_of(index, &child, &base) || !is_empty(index, &base, depth - 1)))
            return false;
    } while (types_index_sibling(index, &child));
    return true;
}

/* Finds the bytes that a member takes, for a bit field those that it touches. Returns false if they
 * are not known. */
static bool place_of(Dwarf_Die *die, uint64_t type_size, struct types_member *member)
{
    uint64_t bits, bit, start = 0;
    bool placed = number_of(die, DW_AT_data_member_location, &start);
    if (!placed && dwarf_hasattr(die, DW_AT_data_member_location))
        return false;
    member->offset = start;
    member->size = type_size;
    if (!number_of(die, DW_AT_bit_size, &bits))
        return true;
    uint64_t unit = type_size;
    if (!number_of(die, DW_AT_data_bit_offset, &bit)) {
        /* DWARF 3 counts from the most significant bit of the storage unit. */
        number_of(die, DW_AT_byte_size, &unit);
        if (!number_of(die, DW_AT_bit_offset, &bit))
            bit = unit * 8 - bits;
        if (bit + bits > unit * 8)
            return false;
        bit = start * 8 + unit * 8 - bit - bits;
    }
    member->offset = bit / 8;
    member->size = (bit % 8 + bits + 7) / 8;
    return true;
}

/* Returns true if `die` has bytes in its record. Then fills `member` except for the name of its
 * type.
 */
static bool is_stored(struct types_index *index, Dwarf_Die *die, struct types_type *type,
                      struct types_member *member)
{
    int tag = dwarf_tag(die);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(die, DW_AT_external) ||
        dwarf_hasattr(die, DW_AT_declaration) || !types_of(index, die, type) ||
        (tag == DW_TAG_inheritance && is_empty(index, type, BASES_DEPTH)))
        return false;
    member->name = tag == DW_TAG_member ? dwarf_diename(die) : NULL;
    return place_of(die, type->size, member);
}

/* Calls `each` for the members of a record, or for none if it is not one. Returns false if `each`
 * did. */
static bool each_member(struct types_index *index, const struct types_type *record,
                        types_member_function *each, void *context)
{
    Dwarf_Die die = record->die, stripped, child;
    if (record->shape != TYPES_RECORD || !die.addr || !types_strip(&die, &stripped) ||
        dwarf_child(&stripped, &child) != 0)
        return true;
    bool go_on = true;
    do {
        struct types_member member;
        struct types_type type;
        if (!is_stored(index, &child, &type, &member))
            continue;
        char *name = types_name(index, &type);
        member.type = !name ? "?" : name;
        go_on = each(context, &member);
        free(name);
    } while (go_on && types_index_sibling(index, &child));
    return go_on;
}

bool types_records_members(const struct types_records *records, const char *name, uint64_t size,
                           types_member_function *each, void *context)
{
    const struct record key = {.name = name, .size = size};
    struct record *const *found = tfind(&key, &records->tree, compare_records);
    return !found || each_member((*found)->index, &(*found)->type, each, context);
}
