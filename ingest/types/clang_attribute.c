/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/clang_attribute.h"

#include <dwarf.h>
#include <string.h>

/* A vendor's attribute that libdw's header does not name: llvm/BinaryFormat/Dwarf.def. */
#define ATTRIBUTE_LLVM_ALLOC_TYPE 0x3e0e
/* The limit for blocks and inlined functions inside one another. */
#define NESTING_MAX 128

/* Returns true if the call returns to `address`. DWARF 5 has its own attribute for the return
 * address, and GNU's form uses low_pc. */
static bool returns_to(Dwarf_Die *call, uint64_t address)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr found;
    unsigned name = dwarf_tag(call) == DW_TAG_GNU_call_site ? DW_AT_low_pc : DW_AT_call_return_pc;
    return dwarf_attr(call, name, &attribute) && dwarf_formaddr(&attribute, &found) == 0 &&
           found == address;
}

/* Returns true if it is a unit of GNU's compilers. They never write the attribute, so their
 * functions need no search. */
static bool is_gnu_unit(const Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    if (!dwarf_cu_die(function->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return false;
    const char *producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
    return producer && strncmp(producer, "GNU ", 4) == 0;
}

/* Finds the call in `function`, or in one inlined into it, that returns to `address`. */
static bool find_call(Dwarf_Die *function, uint64_t address, Dwarf_Die *call)
{
    Dwarf_Die path[NESTING_MAX];
    if (dwarf_child(function, &path[0]) != 0)
        return false;
    for (size_t depth = 1; depth > 0;) {
        Dwarf_Die *die = &path[depth - 1];
        int tag = dwarf_tag(die);
        if ((tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) && returns_to(die, address)) {
            *call = *die;
            return true;
        }
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
            depth < NESTING_MAX && dwarf_child(die, &path[depth]) == 0) {
            depth++;
            continue;
        }
        while (depth > 0 && !types_next_sibling(&path[depth - 1]))
            depth--;
    }
    return false;
}

bool types_attribute_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                            int64_t offset, struct types_choice *choice)
{
    Dwarf_Die call, die;
    Dwarf_Attribute attribute;
    struct types_type type;
    if (site->entry_count == 0 || offset < 0 || (uint64_t)offset >= size)
        return false;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    if (is_gnu_unit(&function) ||
        !find_call(&function, site->return_address - site->file->bias, &call) ||
        !dwarf_attr(&call, ATTRIBUTE_LLVM_ALLOC_TYPE, &attribute) ||
        !types_reference(&attribute, &die) || !types_from(site->index, &die, &type) ||
        type.size == 0 || type.size > size - (uint64_t)offset)
        return false;
    uint64_t held = size - (uint64_t)offset;
    /* The number of elements: Itanium C++ ABI, 2.7. */
    bool counted = by == TYPES_BY_NEW_ARRAY && held % type.size != 0 && held > 8 &&
                   (held - 8) % type.size == 0;
    *choice = (struct types_choice){.chosen = true,
                                    .type = type,
                                    .offset = (uint64_t)offset + (counted ? 8 : 0),
                                    .exact_size = held == type.size,
                                    .one_object = !counted && held % type.size != 0,
                                    .confidence = TYPES_EXACT,
                                    .rule = TYPES_RULE_STATED};
    return true;
}
