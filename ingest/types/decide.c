/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/decide.h"

#include <dwarf.h>
#include <string.h>

#include "ingest/types/dwarf/site.h"
#include "ingest/types/source/choice.h"
#include "ingest/types/source/source.h"

/* ---- the attribute of clang ------------------------------------------------------------- */

/*
 * Finds the type that the compiler itself states for an allocating call. clang 21 and later write
 * the allocated type of `new`, and of functions with an allocator attribute, as
 * DW_AT_LLVM_alloc_type of the call's DW_TAG_call_site.
 */

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

/*
 * Chooses the type stated at the call that returns to the site. `size` is the size asked of the
 * allocator; the call's result is `offset` bytes after the start of the block. Returns false if no
 * type is stated, or the block is too small for it.
 */
static bool types_attribute_choose(const struct types_site *site, enum types_operator by,
                                   uint64_t size, int64_t offset, struct types_choice *choice)
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

/* Returns true if machine code puts the block, or a part of it, into a pointer to `type`. */
static bool reaches(const struct types_site *site, const struct types_flow *flow,
                    const struct types_type *type)
{
    for (size_t i = 0; i < flow->count; i++)
        if ((flow->evidence[i].kind == TYPES_EVIDENCE_PLACE ||
             flow->evidence[i].kind == TYPES_EVIDENCE_ARGUMENT) &&
            types_same(site->index, &flow->evidence[i].type, type))
            return true;
    return false;
}

/*
 * Lets the source refine the choice. A place of another size than the block's may be of a base
 * class, a first member or bytes, and the source is better evidence if it is available. A statement
 * around an inlined function that keeps the block does not count, because it hands on another
 * block.
 */
static void refine(const struct types_site *site, const struct types_flow *flow,
                   const struct types_question *question, bool front, struct types_choice *choice)
{
    struct types_choice source;
    uint64_t size = question->size;
    if (choice->ambiguous || (choice->chosen && choice->exact_size))
        return;
    bool named = types_source_choose(site, question->by, size, question->offset, front, &source);
    if (named && choice->chosen && choice->type.size > 1 && !flow->returned && source.from_caller &&
        !reaches(site, flow, &source.type))
        named = false;
    /* The sizes in a wrapper are those of its own header, unless it makes one kind of object. */
    if (named && choice->wrapper)
        named = source.type.shape == TYPES_RECORD && source.type.size == size;
    if (named)
        *choice = source;
    else if (!choice->chosen && !choice->wrapper)
        types_choose_called(site, size, choice);
}

/*
 * Returns true if the question is headed from now on. A function may make objects of many kinds and
 * return all as a pointer to their common head. If the pointer's type is not that of the whole
 * block, the caller may know better.
 */
static bool is_headed(const struct types_flow *flow, const struct types_question *question,
                      const struct types_choice *choice)
{
    return question->by == TYPES_BY_FUNCTION && flow->returned && flow->returned_offset == 0 &&
           !choice->exact_size && !choice->one_object && choice->rule != TYPES_RULE_SOURCE;
}

void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice)
{
    if (types_attribute_choose(site, question->by, question->size, question->offset, choice))
        return;
    types_choose(site, flow, question->by, question->size, choice);
    if (choice->ambiguous)
        return;
    if (question->by == TYPES_BY_FUNCTION &&
        types_source_pool(site, question->size, question->offset, choice))
        return;
    /* The result of a function may be the head of objects of many kinds, unless an inner function
     * already said so. */
    bool front = question->by == TYPES_BY_FUNCTION && !question->opaque &&
                 (question->headed || !flow->returned);
    refine(site, flow, question, front, choice);
    /* A head begins one object, even if the block's size is a multiple of its size. */
    if (question->headed && choice->chosen && choice->rule == TYPES_RULE_RECEIVER &&
        choice->type.shape == TYPES_RECORD && !types_is_head(site->index, &choice->type))
        choice->one_object = true;
    bool object = choice->type.shape == TYPES_RECORD &&
                  (choice->exact_size || choice->one_object || choice->rule == TYPES_RULE_SOURCE);
    if (question->headed && !object)
        choice->chosen = false;
    /* Bytes may be those of a record and the data after it, but not if the source says bytes. */
    bool open = !choice->chosen || choice->type.size == 1;
    if (open && !choice->wrapper && question->by == TYPES_BY_FUNCTION &&
        !types_source_bytes(site, question->size, question->offset, choice) && front)
        types_choose_record_with_tail(site, flow, question->size, choice);
    if (!choice->wrapper && is_headed(flow, question, choice)) {
        choice->wrapper = true;
        question->headed = 1;
        if (choice->type.shape == TYPES_RECORD)
            choice->chosen = false;
    }
}
