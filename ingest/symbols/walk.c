/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/walk.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

/* More than any compiler writes. Reading stops at an entry with more. */
#define ATTRIBUTES_MAX 256
#define CODES_MAX (1U << 16)

/* Bytes to skip, and then one value whose length is written in the file. */
struct step {
    uint32_t bytes, form;
};

struct shape {
    Dwarf_Abbrev *abbreviation; /* NULL: not seen yet */
    int tag;
    bool children, code, by_origin;
    uint32_t first_step, step_count;
    uint32_t bytes; /* after the last step */
};

struct symbols_walk {
    Dwarf_Die unit;
    const uint8_t *at, *end;
    size_t depth; /* of the next entry; that of the unit's own entry is 0 */
    unsigned version, address_size, offset_size;
    struct shape *shapes; /* by code */
    size_t shape_capacity;
    struct step *steps;
    size_t step_count, step_capacity;
    bool failed;
};

enum { VARIES = -1, UNKNOWN = -2 };

/* Returns the bytes of a value of this form. */
static int form_size(const struct symbols_walk *walk, unsigned form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return (int)walk->address_size;
    case DW_FORM_ref_addr:
        return (int)(walk->version == 2 ? walk->address_size : walk->offset_size);
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return (int)walk->offset_size;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
    case DW_FORM_string:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
    case DW_FORM_indirect:
        return VARIES;
    default:
        return UNKNOWN;
    }
}

static bool pass(struct symbols_walk *walk, uint64_t bytes)
{
    if (bytes > (uint64_t)(walk->end - walk->at))
        return false;
    walk->at += bytes;
    return true;
}

/* Reads an unsigned LEB128 number. For a signed one, only the position after it is right. */
static bool read_number(struct symbols_walk *walk, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; walk->at < walk->end; shift += 7) {
        uint8_t byte = *walk->at++;
        if (shift < 64)
            *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool pass_block(struct symbols_walk *walk, unsigned length_bytes)
{
    uint64_t length = 0;
    if ((uint64_t)(walk->end - walk->at) < length_bytes)
        return false;
    for (unsigned i = 0; i < length_bytes; i++)
        length |= (uint64_t)*walk->at++ << 8 * i;
    return pass(walk, length);
}

/* Skips a value of a form whose length varies. */
static bool pass_value(struct symbols_walk *walk, unsigned form)
{
    uint64_t number;
    const uint8_t *zero;
    switch (form) {
    case DW_FORM_string:
        zero = memchr(walk->at, 0, (size_t)(walk->end - walk->at));
        return zero && pass(walk, (uint64_t)(zero - walk->at) + 1);
    case DW_FORM_block:
    case DW_FORM_exprloc:
        return read_number(walk, &number) && pass(walk, number);
    case DW_FORM_block1:
        return pass_block(walk, 1);
    case DW_FORM_block2:
        return pass_block(walk, 2);
    case DW_FORM_block4:
        return pass_block(walk, 4);
    case DW_FORM_indirect: {
        if (!read_number(walk, &number) || number == DW_FORM_indirect || number > UINT16_MAX)
            return false;
        int size = form_size(walk, (unsigned)number);
        return size >= 0 ? pass(walk, (uint64_t)size)
                         : size == VARIES && pass_value(walk, (unsigned)number);
    }
    default:
        return read_number(walk, &number);
    }
}

static bool add_step(struct symbols_walk *walk, struct shape *shape, unsigned form)
{
    if (!ARRAY_RESERVE(walk->steps, walk->step_count, walk->step_capacity)) {
        walk->failed = true;
        return false;
    }
    walk->steps[walk->step_count++] = (struct step){shape->bytes, form};
    shape->bytes = 0;
    shape->step_count++;
    return true;
}

/* Reads the abbreviation of the entry `die`. */
static bool learn_shape(struct symbols_walk *walk, struct shape *shape, Dwarf_Die *die)
{
    bool origin = false, own = false;
    shape->tag = dwarf_tag(die);
    shape->children = dwarf_haschildren(die) == 1;
    shape->first_step = (uint32_t)walk->step_count;
    if (shape->tag == DW_TAG_invalid)
        return false;
    unsigned name, form;
    /* dwarf_getattrcnt() of elfutils 0.188 counts wrong if there are implicit constants. */
    for (size_t i = 0; dwarf_getabbrevattr_data(die->abbrev, i, &name, &form, NULL, NULL) == 0;
         i++) {
        if (i >= ATTRIBUTES_MAX)
            return false;
        int size = form_size(walk, form);
        if (size == UNKNOWN || (size == VARIES && !add_step(walk, shape, form)))
            return false;
        shape->bytes += size > 0 ? (uint32_t)size : 0;
        shape->code |= name == DW_AT_low_pc || name == DW_AT_ranges;
        origin |= name == DW_AT_abstract_origin;
        own |= name == DW_AT_name || name == DW_AT_linkage_name ||
               name == DW_AT_MIPS_linkage_name || name == DW_AT_decl_file ||
               name == DW_AT_decl_line;
    }
    shape->by_origin = origin && !own;
    shape->abbreviation = die->abbrev;
    return true;
}

static const struct shape *shape_of(struct symbols_walk *walk, uint64_t code, Dwarf_Die *die)
{
    if (code >= CODES_MAX)
        return NULL;
    if (!ARRAY_RESERVE(walk->shapes, code, walk->shape_capacity)) {
        walk->failed = true;
        return NULL;
    }
    struct shape *shape = &walk->shapes[code];
    return shape->abbreviation || learn_shape(walk, shape, die) ? shape : NULL;
}

bool symbols_walk_next(struct symbols_walk *walk, struct symbols_walk_entry *entry)
{
    uint64_t code = 0;
    const uint8_t *begin;
    do {
        begin = walk->at;
        if (!read_number(walk, &code) || (code == 0 && walk->depth-- <= 1))
            return false;
    } while (code == 0);
    entry->die = walk->unit;
    entry->die.addr = (uint8_t *)walk->unit.addr + (begin - (const uint8_t *)walk->unit.addr);
    entry->die.abbrev = NULL;
    const struct shape *shape = shape_of(walk, code, &entry->die);
    if (!shape)
        return false;
    entry->die.abbrev = shape->abbreviation;
    entry->tag = shape->tag;
    entry->depth = walk->depth - 1;
    entry->children = shape->children;
    entry->code = shape->code;
    entry->by_origin = shape->by_origin;
    for (uint32_t i = 0; i < shape->step_count; i++) {
        const struct step *step = &walk->steps[shape->first_step + i];
        if (!pass(walk, step->bytes) || !pass_value(walk, step->form))
            return false;
    }
    walk->depth += shape->children;
    return pass(walk, shape->bytes);
}

/* Returns true if the unit lies in .debug_types. */
static bool is_of_types_section(Dwarf_CU *unit)
{
    Dwarf_Half version;
    uint8_t type;
    return dwarf_cu_info(unit, &version, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
           version == 4 && (type == DW_UT_type || type == DW_UT_split_type);
}

bool symbols_die_at(Dwarf_CU *unit, Dwarf_Off offset, Dwarf_Die *die)
{
    Dwarf *dwarf = dwarf_cu_getdwarf(unit);
    return is_of_types_section(unit) ? dwarf_offdie_types(dwarf, offset, die) != NULL
                                     : dwarf_offdie(dwarf, offset, die) != NULL;
}

struct symbols_walk *symbols_walk_begin(const Dwarf_Die *unit)
{
    Dwarf_Die entry = *unit, last;
    Dwarf *dwarf = dwarf_cu_getdwarf(entry.cu);
    Dwarf_Off offset = dwarf_dieoffset(&entry), start = offset - dwarf_cuoffset(&entry), next;
    size_t header_size;
    Dwarf_Half version;
    uint8_t address_size, offset_size;
    uint64_t signature;
    struct symbols_walk_entry own;
    /* A unit of a damaged file may claim to extend past its section, where libdw finds nothing. */
    if (dwarf_next_unit(dwarf, start, &next, &header_size, &version, NULL, &address_size,
                        &offset_size, is_of_types_section(entry.cu) ? &signature : NULL,
                        NULL) != 0 ||
        next <= offset || !symbols_die_at(entry.cu, next - 1, &last))
        return NULL;
    struct symbols_walk *walk = calloc(1, sizeof(*walk));
    if (!walk)
        return NULL;
    walk->unit = entry;
    walk->at = entry.addr;
    walk->end = walk->at + (next - offset);
    walk->version = version;
    walk->address_size = address_size;
    walk->offset_size = offset_size;
    walk->depth = 1;
    bool read = symbols_walk_next(walk, &own);
    if (!read || !own.children)
        walk->end = walk->at; /* it contains no entries */
    walk->depth = 1;
    return walk;
}

bool symbols_walk_failed(const struct symbols_walk *walk)
{
    return walk->failed;
}

void symbols_walk_end(struct symbols_walk *walk)
{
    if (!walk)
        return;
    free(walk->shapes);
    free(walk->steps);
    free(walk);
}
