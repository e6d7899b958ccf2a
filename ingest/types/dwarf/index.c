/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/index.h"

#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/walk.h"
#include "schemas/array.h"

/* Deeper nesting than any compiler writes, and more entries than any unit has. */
#define NESTING_MAX 256
#define ENTRIES_MAX (1U << 24)
/* Enough records with the same first members for a head of them. Two may be chance. */
#define ALIKE_MIN 3
/* The steps that the rules may take in a file for each byte of its debug information. */
#define STEPS_A_BYTE UINT64_C(32)
/* An entry that is kept takes more memory than its bytes in the file. It counts as this many. */
#define BYTES_AN_ENTRY 2

/* A complete record, by its name. */
struct named {
    uint64_t hash;
    uint32_t unit, entry;
};

struct types_index {
    const struct symbols_file *file;
    void *units;                   /* tree of struct types_unit by `unit` */
    const struct types_unit *last; /* the last one asked for, or NULL */
    bool all;                      /* every unit has been read */
    struct types_unit **list;
    size_t count, capacity;
    struct named *names; /* sorted by hash, once every unit has been read */
    size_t name_count;
    struct types_aliases *aliases; /* NULL: not asked for yet */
    struct symbols_budget budget;
};

static int compare_units(const void *left, const void *right)
{
    const struct types_unit *a = left, *b = right;
    return ORDER(a->unit, b->unit);
}

struct types_index *types_index_new(const struct symbols_file *file)
{
    struct types_index *index = calloc(1, sizeof(*index));
    if (!index)
        return NULL;
    index->file = file;
    index->budget.left = STEPS_A_BYTE * ((4 << 20) + symbols_file_debug_size(file->dwarf));
    return index;
}

bool types_index_sibling(struct types_index *index, Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    return symbols_budget_take(&index->budget) && dwarf_siblingof(die, die) == 0 &&
           dwarf_dieoffset(die) > offset;
}

bool types_index_spent(const struct types_index *index)
{
    return index->budget.spent;
}

void types_index_free(struct types_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->count; i++) {
        tdelete(index->list[i], &index->units, compare_units);
        FREE_ALL(index->list[i]->entries, index->list[i]);
    }
    FREE_ALL(index->list, index->names);
    types_aliases_free(index->aliases);
    free(index);
}

/* ---- types with units of their own ------------------------------------------------------ */

/* Goes from an entry that has only the signature of a type to the type. */
static bool follow_signature(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die whole;
    const bool found =
        dwarf_attr(die, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &whole);
    if (found)
        *die = whole;
    return found;
}

bool types_reference(Dwarf_Attribute *attribute, Dwarf_Die *die)
{
    if (!dwarf_formref_die(attribute, die))
        return false;
    follow_signature(die);
    return true;
}

bool types_index_die(const struct types_unit *unit, const struct types_entry *entry, Dwarf_Die *die)
{
    if (!symbols_die_at(unit->unit, entry->die, die))
        return false;
    follow_signature(die);
    return true;
}

/* ---- one unit --------------------------------------------------------------------------- */

static bool is_kept(int tag)
{
    switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_class_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_subprogram:
    case DW_TAG_typedef:
    case DW_TAG_union_type:
        return true;
    default:
        return false;
    }
}

/* Returns true if types can be declared below an entry. */
static bool is_scope(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_imported_unit;
}

static uint64_t stated_size(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word size;
    if (!dwarf_attr(die, DW_AT_byte_size, &attribute) || dwarf_formudata(&attribute, &size) != 0)
        return 0;
    return size;
}

/* Returns the scope of a record that is defined outside the scope that declares it, as gcc does in
 * the unit of a type. Otherwise returns `parent`. */
static uint32_t declared_scope(const struct types_unit *unit, Dwarf_Die *die, uint32_t parent)
{
    const int tag = dwarf_tag(die);
    Dwarf_Attribute attribute;
    Dwarf_Die declared;
    if (parent != TYPES_NO_PARENT || tag == DW_TAG_subprogram ||
        !dwarf_attr(die, DW_AT_specification, &attribute) ||
        !dwarf_formref_die(&attribute, &declared) || declared.cu != die->cu)
        return parent;
    const struct types_entry *entry = types_index_entry(unit, &declared);
    return entry ? entry->parent : parent;
}

static bool append_entry(struct types_unit *unit, Dwarf_Die *die, uint32_t parent)
{
    if (unit->count == ENTRIES_MAX || !ARRAY_RESERVE(unit->entries, unit->count, unit->capacity))
        return false;
    bool declaration = false;
    Dwarf_Attribute attribute;
    Dwarf_Die whole = *die;
    if (dwarf_attr(die, DW_AT_declaration, &attribute))
        dwarf_formflag(&attribute, &declaration);
    declaration = follow_signature(&whole) || declaration;
    unit->entries[unit->count++] = (struct types_entry){
        .die = dwarf_dieoffset(die),
        .parent = declared_scope(unit, die, parent),
        .tag = (uint16_t)dwarf_tag(die),
        .declaration = declaration,
        .size = stated_size(die),
        .name = dwarf_diename(&whole),
    };
    return true;
}

static bool take_entry(struct types_index *index)
{
    const uint64_t steps = BYTES_AN_ENTRY * STEPS_A_BYTE;
    if (index->budget.left < steps)
        index->budget.left = 0;
    else
        index->budget.left -= steps - 1;
    return symbols_budget_take(&index->budget);
}

static bool read_unit(struct types_index *index, struct types_unit *unit, Dwarf_Die *root)
{
    uint32_t parents[NESTING_MAX] = {TYPES_NO_PARENT};
    struct symbols_walk_entry entry;
    size_t shut = SIZE_MAX; /* deeper entries lie inside one that declares no types */
    bool good = true;
    struct symbols_walk *walk = symbols_walk_begin(root);
    while (good && walk && symbols_walk_next(walk, &entry)) {
        good = symbols_budget_take(&index->budget);
        if (!good || entry.depth > shut)
            continue;
        uint32_t parent = parents[entry.depth];
        if (is_kept(entry.tag)) {
            good = take_entry(index) && append_entry(unit, &entry.die, parent);
            parent = (uint32_t)(unit->count - 1);
        }
        bool inward = entry.children && is_scope(entry.tag) && entry.depth + 1 < NESTING_MAX;
        shut = entry.children && !inward ? entry.depth : SIZE_MAX;
        if (inward)
            parents[entry.depth + 1] = parent;
    }
    good = good && (!walk || !symbols_walk_failed(walk));
    symbols_walk_end(walk);
    return good;
}

static bool remember_unit(struct types_index *index, struct types_unit *unit)
{
    if (!array_reserve(&index->list, &index->capacity, index->count + 1,
                       sizeof(struct types_unit *)))
        return false;
    if (!tsearch(unit, &index->units, compare_units))
        return false;
    index->list[index->count++] = unit;
    return true;
}

const struct types_unit *types_index_unit(struct types_index *index, const Dwarf_Die *die)
{
    struct types_unit key = {.unit = die->cu};
    if (index->last && index->last->unit == die->cu)
        return index->last;
    struct types_unit **found = tfind(&key, &index->units, compare_units);
    if (found)
        return index->last = *found;
    struct types_unit *unit = calloc(1, sizeof(*unit));
    Dwarf_Die root;
    if (!unit)
        return NULL;
    unit->unit = die->cu;
    if (dwarf_cu_die(die->cu, &root, NULL, NULL, NULL, NULL, NULL, NULL) &&
        read_unit(index, unit, &root) && remember_unit(index, unit))
        return unit;
    FREE_ALL(unit->entries, unit);
    return NULL;
}

const struct types_entry *types_index_entry(const struct types_unit *unit, Dwarf_Die *die)
{
    uint64_t offset = dwarf_dieoffset(die);
    size_t low = 0;
    ARRAY_BISECT(low, unit->count, unit->entries[middle].die < offset);
    return low < unit->count && unit->entries[low].die == offset ? &unit->entries[low] : NULL;
}

/* ---- definitions in other units --------------------------------------------------------- */

static bool is_complete_record(const struct types_entry *entry)
{
    return !entry->declaration && entry->name &&
           (entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type ||
            entry->tag == DW_TAG_union_type);
}

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return ORDER(a->hash, b->hash) ?: ORDER(a->unit, b->unit) ?: ORDER(a->entry, b->entry);
}

/* Without memory there are no names, so definitions in other units are not found. */
static void index_names(struct types_index *index)
{
    size_t total = 0;
    for (size_t i = 0; i < index->count; i++)
        for (size_t k = 0; k < index->list[i]->count; k++)
            total += is_complete_record(&index->list[i]->entries[k]);
    index->names = calloc(total + 1, sizeof(*index->names));
    if (!index->names)
        return;
    for (size_t i = 0; i < index->count; i++)
        for (size_t k = 0; k < index->list[i]->count; k++) {
            const struct types_entry *entry = &index->list[i]->entries[k];
            if (is_complete_record(entry))
                index->names[index->name_count++] =
                    (struct named){hash_characters(entry->name, strcspn(entry->name, "<")),
                                   (uint32_t)i, (uint32_t)k};
        }
    if (index->name_count > 1)
        qsort(index->names, index->name_count, sizeof(*index->names), compare_names);
}

/* Returns the first of the records with that hash of their name. */
static size_t first_named(const struct types_index *index, uint64_t hash)
{
    size_t low = 0;
    ARRAY_BISECT(low, index->name_count, index->names[middle].hash < hash);
    return low;
}

/* Reads a unit that comes after `*number` others. */
static void read_next_unit(struct types_index *index, const Dwarf_Die *die, uint32_t *number)
{
    struct types_unit *unit = (struct types_unit *)types_index_unit(index, die);
    if (unit)
        unit->number = ++*number;
}

/* Reads the units of types in the file of a split unit. */
static void read_type_units(struct types_index *index, Dwarf *dwarf, uint32_t *number)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_type || type == DW_UT_split_type)
            read_next_unit(index, &die, number);
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = (*(struct types_unit *const *)left)->number - 1,
                   b = (*(struct types_unit *const *)right)->number - 1;
    return ORDER(a, b);
}

/* Reads all units, dwz's common file last, in an order that does not depend on earlier ones. */
static void read_all_units(struct types_index *index)
{
    Dwarf *common = dwarf_getalt(index->file->dwarf);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    uint32_t number = 0;
    index->all = true;
    while (dwarf_get_units(index->file->dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        const bool is_split = type == DW_UT_skeleton && split.addr;
        read_next_unit(index, is_split ? &split : &die, &number);
        if (is_split)
            read_type_units(index, dwarf_cu_getdwarf(split.cu), &number);
    }
    unit = NULL;
    while (common && dwarf_get_units(common, unit, &unit, NULL, &type, &die, NULL) == 0)
        read_next_unit(index, &die, &number);
    if (index->count > 1)
        qsort(index->list, index->count, sizeof(struct types_unit *), compare_numbers);
    index_names(index);
}

const struct types_unit *const *types_index_units(struct types_index *index, size_t *count)
{
    if (!index->all)
        read_all_units(index);
    *count = index->count;
    return (const struct types_unit *const *)index->list;
}

struct types_aliases *types_index_aliases(struct types_index *index)
{
    if (!index->aliases)
        index->aliases = types_aliases_new();
    return index->aliases;
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

static bool same_scopes(const struct types_unit *left, const struct types_entry *a,
                        const struct types_unit *right, const struct types_entry *b)
{
    for (;;) {
        if (!same_text(a->name, b->name))
            return false;
        if (a->parent == TYPES_NO_PARENT || b->parent == TYPES_NO_PARENT)
            return a->parent == b->parent;
        a = &left->entries[a->parent];
        b = &right->entries[b->parent];
    }
}

bool types_index_definition(struct types_index *index, Dwarf_Die *die, Dwarf_Die *definition)
{
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    if (!entry || !entry->name)
        return false;
    if (!index->all)
        read_all_units(index);
    uint64_t hash = hash_characters(entry->name, strcspn(entry->name, "<"));
    for (size_t i = first_named(index, hash); i < index->name_count && index->names[i].hash == hash;
         i++) {
        if (!symbols_budget_take(&index->budget))
            return false;
        const struct types_unit *other = index->list[index->names[i].unit];
        const struct types_entry *candidate = &other->entries[index->names[i].entry];
        if (same_scopes(unit, entry, other, candidate))
            return types_index_die(other, candidate, definition);
    }
    return false;
}

bool types_index_next(struct types_index *index, const char *name, size_t length, size_t *at,
                      Dwarf_Die *record)
{
    uint64_t hash = hash_characters(name, length);
    if (!index->all)
        read_all_units(index);
    if (*at == 0)
        *at = first_named(index, hash);
    while (*at < index->name_count && index->names[*at].hash == hash) {
        if (!symbols_budget_take(&index->budget))
            return false;
        const struct named *named = &index->names[(*at)++];
        const struct types_unit *unit = index->list[named->unit];
        const struct types_entry *found = &unit->entries[named->entry];
        if (strncmp(found->name, name, length) == 0 &&
            (found->name[length] == '\0' || found->name[length] == '<'))
            return types_index_die(unit, found, record);
    }
    return false;
}

/* Finds the type of a member under typedefs and const. Returns false if it has none. */
static bool member_type(Dwarf_Die *member, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    *type = *member;
    for (int i = 0; i < NESTING_MAX; i++) {
        if (!dwarf_attr(type, DW_AT_type, &attribute) || !types_reference(&attribute, type))
            return false;
        int tag = dwarf_tag(type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
            return true;
    }
    return false;
}

/* Finds the type of the first member or base class. */
static bool first_member_type(struct types_index *index, Dwarf_Die *record, Dwarf_Die *type)
{
    Dwarf_Die member;
    if (dwarf_child(record, &member) != 0)
        return false;
    while (dwarf_tag(&member) != DW_TAG_member && dwarf_tag(&member) != DW_TAG_inheritance)
        if (!types_index_sibling(index, &member))
            return false;
    return member_type(&member, type);
}

static bool same_offset(Dwarf_Die *left, Dwarf_Die *right)
{
    Dwarf_Attribute a, b;
    Dwarf_Word left_offset = 0, right_offset = 0;
    return dwarf_attr(left, DW_AT_data_member_location, &a) &&
           dwarf_attr(right, DW_AT_data_member_location, &b) &&
           dwarf_formudata(&a, &left_offset) == 0 && dwarf_formudata(&b, &right_offset) == 0 &&
           left_offset == right_offset;
}

/* Returns true if `other` begins with all members of `record`, at least two. */
static bool begins_alike(struct types_index *index, Dwarf_Die *record, Dwarf_Die *other)
{
    Dwarf_Die member, counterpart, type, other_type;
    size_t count = 0;
    bool more = dwarf_child(other, &counterpart) == 0;
    if (dwarf_child(record, &member) != 0)
        return false;
    do {
        if (!more || dwarf_tag(&member) != DW_TAG_member ||
            dwarf_tag(&counterpart) != DW_TAG_member ||
            !same_text(dwarf_diename(&member), dwarf_diename(&counterpart)) ||
            !same_offset(&member, &counterpart) || !member_type(&member, &type) ||
            !member_type(&counterpart, &other_type) || type.addr != other_type.addr)
            return false;
        count++;
        more = types_index_sibling(index, &counterpart);
    } while (types_index_sibling(index, &member));
    return count >= 2;
}

static bool find_head(struct types_index *index, const struct types_unit *unit,
                      const struct types_entry *own, Dwarf_Die *record)
{
    unsigned alike = 0;
    for (size_t i = 0; i < unit->count; i++) {
        const struct types_entry *entry = &unit->entries[i];
        Dwarf_Die other, type;
        if (!symbols_budget_take(&index->budget))
            return false;
        if ((entry->tag != DW_TAG_structure_type && entry->tag != DW_TAG_class_type) ||
            entry->declaration || entry == own || entry->size < own->size ||
            !types_index_die(unit, entry, &other))
            continue;
        if (first_member_type(index, &other, &type) && type.addr == record->addr)
            return true;
        alike += begins_alike(index, record, &other);
        if (alike == ALIKE_MIN)
            return true;
    }
    return false;
}

bool types_index_is_head(struct types_index *index, Dwarf_Die *record)
{
    const struct types_unit *unit = types_index_unit(index, record);
    const struct types_entry *own = !unit ? NULL : types_index_entry(unit, record);
    if (!own)
        return false;
    struct types_entry *answer = &unit->entries[own - unit->entries];
    if (answer->head == TYPES_HEAD_UNASKED)
        answer->head = find_head(index, unit, own, record) ? TYPES_HEAD_OF_OTHERS : TYPES_HEAD_NOT;
    return answer->head == TYPES_HEAD_OF_OTHERS;
}
