/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/records.h"

#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/walk.h"
#include "ingest/types/dwarf/entries.h"
#include "schemas/array.h"

/* Deeper inheritance than any compiler allows. */
#define BASES_DEPTH 64
/* Records in records that are followed, and all members of one record. */
#define FIELDS_DEPTH 24
#define FIELDS_MAX 8192

struct record {
    const char *name;
    uint64_t size;
    struct types_place place;
};

struct types_records {
    void *tree; /* of struct record, sorted by size and name */
};

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    return ORDER(a->size, b->size) ?: strcmp(a->name, b->name);
}

struct types_records *types_records_new(void)
{
    return calloc(1, sizeof(struct types_records));
}

void types_records_clear(struct types_records *records)
{
    tdestroy(records->tree, free);
    records->tree = NULL;
}

void types_records_free(struct types_records *records)
{
    if (records)
        types_records_clear(records);
    free(records);
}

void types_records_add(struct types_records *records, const char *name, uint64_t size,
                       const struct types_place *place)
{
    const struct record key = {name, size, *place};
    if (!name || place->part == TYPES_PART_NONE || tfind(&key, &records->tree, compare_records))
        return;
    struct record *record = malloc(sizeof(*record));
    if (!record)
        return;
    *record = key;
    if (!tsearch(record, &records->tree, compare_records))
        free(record);
}

const struct types_place *types_records_find(const struct types_records *records, const char *name,
                                             uint64_t size)
{
    const struct record key = {.name = name, .size = size};
    struct record *const *found = tfind(&key, &records->tree, compare_records);
    return !found ? NULL : &(*found)->place;
}

/* ---- places ----------------------------------------------------------------------------- */

struct types_place types_record_place(const struct symbols_file *file, uint32_t module,
                                      const struct types_type *type)
{
    Dwarf_Die die = type->die;
    Dwarf_Half version;
    uint8_t kind;
    if (type->shape != TYPES_RECORD || !die.addr ||
        dwarf_cu_info(die.cu, &version, &kind, NULL, NULL, NULL, NULL, NULL) != 0)
        return (struct types_place){.module = module};
    struct types_place place = {module, TYPES_PART_SPLIT, dwarf_dieoffset(&die), die.cu};
    Dwarf *dwarf = dwarf_cu_getdwarf(die.cu);
    if (dwarf == file->dwarf)
        place.part = kind == DW_UT_type && version < 5 ? TYPES_PART_TYPES : TYPES_PART_INFO;
    else if (dwarf == dwarf_getalt(file->dwarf))
        place.part = TYPES_PART_COMMON;
    return place;
}

static bool entry_at(const struct symbols_file *file, const struct types_place *place,
                     Dwarf_Die *die)
{
    if (place->unit)
        return symbols_die_at(place->unit, place->offset, die);
    switch (place->part) {
    case TYPES_PART_INFO:
        return dwarf_offdie(file->dwarf, place->offset, die);
    case TYPES_PART_TYPES:
        return dwarf_offdie_types(file->dwarf, place->offset, die);
    case TYPES_PART_COMMON:
        return dwarf_getalt(file->dwarf) &&
               dwarf_offdie(dwarf_getalt(file->dwarf), place->offset, die);
    default:
        return false;
    }
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

/* Finds the bytes that a member takes, or a bit field touches. False: unknown. */
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

bool types_record_members(struct types_index *index, const struct symbols_file *file,
                          const struct types_place *place, types_member_function *each,
                          void *context)
{
    Dwarf_Die die, stripped, child;
    if (!entry_at(file, place, &die) || !types_strip(&die, &stripped) ||
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

/* ---- fields ----------------------------------------------------------------------------- */

struct fields {
    struct types_index *index;
    types_member_function *each;
    void *context;
    uint64_t count; /* of fields given so far */
};

/* Finds the element of an array, and returns its size, or 0. */
static uint64_t element_of(struct types_index *index, struct types_type *type)
{
    uint64_t size = 0;
    for (int depth = 0; type->shape == TYPES_ARRAY && depth < FIELDS_DEPTH; depth++) {
        Dwarf_Die stripped;
        struct types_type element;
        if (!types_strip(&type->die, &stripped) || !types_of(index, &stripped, &element))
            return 0;
        *type = element;
        size = element.size;
    }
    return size;
}

/* Returns the name of the type: of a pointer with what it points to. The caller frees it. */
static char *field_type(struct types_index *index, const struct types_type *type)
{
    struct types_type pointee;
    char *name = NULL, *target = NULL;
    if (!types_pointee(index, type, &pointee))
        return types_name(index, type);
    target = pointee.shape == TYPES_UNUSABLE ? NULL : types_name(index, &pointee);
    if (asprintf(&name, "%s *", target ? target : "?") < 0)
        name = NULL;
    free(target);
    return name;
}

/* Finds the object for which libstdc++ keeps memory of the right size: the T of __aligned_membuf<T>
 * and __aligned_buffer<T>. */
static bool is_storage(struct types_index *index, Dwarf_Die *record, struct types_type *type)
{
    Dwarf_Die child;
    const char *name = dwarf_diename(record);
    if (!name ||
        (strncmp(name, "__aligned_membuf<", 17) != 0 &&
         strncmp(name, "__aligned_buffer<", 17) != 0) ||
        dwarf_child(record, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
            return types_of(index, &child, type) && type->size != 0;
    } while (types_index_sibling(index, &child));
    return false;
}

static bool each_field(struct fields *fields, Dwarf_Die *record, uint64_t parent, int depth);

/* Gives a field and those inside it. */
static bool give_field(struct fields *fields, struct types_type *type, struct types_member *member,
                       uint64_t parent, int depth)
{
    Dwarf_Die stripped;
    const uint64_t number = ++fields->count;
    member->parent = parent;
    member->element = element_of(fields->index, type);
    char *name = field_type(fields->index, type);
    member->type = name ? name : "?";
    const bool go_on = fields->each(fields->context, member);
    free(name);
    if (!go_on || type->shape != TYPES_RECORD || !types_strip(&type->die, &stripped))
        return go_on;
    return each_field(fields, &stripped, number, depth + 1);
}

/* Gives the fields of a record. Virtual base classes of a base class are left out, as their place
 * depends on the whole object. */
static bool each_field(struct fields *fields, Dwarf_Die *record, uint64_t parent, int depth)
{
    Dwarf_Die child;
    struct types_type type;
    struct types_member member = {.name = NULL};
    if (depth > FIELDS_DEPTH || fields->count >= FIELDS_MAX)
        return true;
    if (is_storage(fields->index, record, &type)) {
        member.size = type.size;
        return give_field(fields, &type, &member, parent, depth);
    }
    if (dwarf_child(record, &child) != 0)
        return true;
    bool go_on = true;
    do {
        if (is_stored(fields->index, &child, &type, &member))
            go_on = give_field(fields, &type, &member, parent, depth);
    } while (go_on && fields->count < FIELDS_MAX && types_index_sibling(fields->index, &child));
    return go_on;
}

/* ---- virtual base classes --------------------------------------------------------------- */

/* More of them in one class are left out. */
#define VIRTUAL_MAX 16
#define WORD 8u /* the alignment of classes with virtual functions */

struct virtual_bases {
    struct types_type rows[VIRTUAL_MAX];
    size_t count;
    bool unclear; /* their places cannot be told */
};

/* Finds the virtual base classes in the order of the inheritance graph (Itanium C++ ABI, 1.1). */
static void find_virtual(struct types_index *index, Dwarf_Die *record, struct virtual_bases *bases,
                         int depth)
{
    Dwarf_Die child, stripped;
    if (depth > FIELDS_DEPTH || dwarf_child(record, &child) != 0)
        return;
    do {
        struct types_type type;
        if (dwarf_tag(&child) != DW_TAG_inheritance || !types_of(index, &child, &type) ||
            !types_strip(&type.die, &stripped))
            continue;
        bool is_new = dwarf_hasattr(&child, DW_AT_virtuality);
        for (size_t i = 0; is_new && i < bases->count; i++)
            is_new = bases->rows[i].die.addr != type.die.addr;
        if (is_new && bases->count == VIRTUAL_MAX)
            bases->unclear = true;
        else if (is_new)
            bases->rows[bases->count++] = type;
        find_virtual(index, &stripped, bases, depth + 1);
    } while (types_index_sibling(index, &child));
}

/* Returns where the data of a class ends, without those of its virtual base classes. */
static uint64_t end_of_data(struct types_index *index, Dwarf_Die *record, int depth)
{
    Dwarf_Die child, stripped;
    uint64_t end = 0;
    if (depth > FIELDS_DEPTH || dwarf_child(record, &child) != 0)
        return 0;
    do {
        struct types_type type;
        struct types_member member;
        if (!is_stored(index, &child, &type, &member))
            continue;
        if (dwarf_tag(&child) == DW_TAG_inheritance && types_strip(&type.die, &stripped))
            member.size = end_of_data(index, &stripped, depth + 1);
        if (member.offset + member.size > end)
            end = member.offset + member.size;
    } while (types_index_sibling(index, &child));
    return end;
}

static uint64_t round_up(uint64_t size)
{
    return (size + WORD - 1) / WORD * WORD;
}

/* Gives the virtual base classes of a whole object, which lie behind its other data in their order
 * (Itanium C++ ABI, 2.4). Gives none if the size of the object says otherwise, or if one has no
 * data beside its table: it may lie elsewhere. */
static bool each_virtual(struct fields *fields, Dwarf_Die *record)
{
    struct virtual_bases bases = {.count = 0};
    uint64_t places[VIRTUAL_MAX], size, whole = 0;
    find_virtual(fields->index, record, &bases, 0);
    uint64_t end = round_up(end_of_data(fields->index, record, 0));
    for (size_t i = 0; i < bases.count; i++) {
        Dwarf_Die stripped;
        const struct types_type *base = &bases.rows[i];
        size = types_strip((Dwarf_Die *)&base->die, &stripped)
                   ? end_of_data(fields->index, &stripped, 0)
                   : 0;
        bases.unclear = bases.unclear || size <= WORD || base->size % WORD != 0;
        places[i] = end;
        end = round_up(end + size);
        whole = places[i] + round_up(size) > whole ? places[i] + round_up(size) : whole;
    }
    if (bases.count == 0 || bases.unclear || !number_of(record, DW_AT_byte_size, &size) ||
        size != whole)
        return true;
    bool go_on = true;
    for (size_t i = 0; go_on && i < bases.count; i++) {
        struct types_member member = {.offset = places[i], .size = bases.rows[i].size};
        go_on = give_field(fields, &bases.rows[i], &member, 0, 0);
    }
    return go_on;
}

bool types_record_fields(struct types_index *index, const struct symbols_file *file,
                         const struct types_place *place, types_member_function *each,
                         void *context)
{
    struct fields fields = {.index = index, .each = each, .context = context};
    Dwarf_Die die, stripped;
    return !entry_at(file, place, &die) || !types_strip(&die, &stripped) ||
           (each_field(&fields, &stripped, 0, 0) && each_virtual(&fields, &stripped));
}
