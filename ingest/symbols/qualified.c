/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/qualified.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting than any compiler writes. */
#define NESTING_MAX 64
#define NAME_MAX_LENGTH 4096

struct symbols_qualified_name {
    const void *entry; /* address of the declaration in memory; NULL: unused */
    const char *name;
};

bool symbols_qualified_language(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b: /* DW_LANG_C_plus_plus_17 and _20, whose numbers were assigned after DWARF 5 */
    case 0x2c:
        return true;
    default:
        return false;
    }
}

/* Goes from an inlined call or a definition to the entry where the function was declared. */
static void find_declaration(Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die target;
        if (dwarf_attr(die, links[i], &attribute) && dwarf_formref_die(&attribute, &target))
            *die = target;
    }
}

/*
 * Writes the entries around `die` in its unit, outermost first, then `die` itself. Returns their
 * number. Entries lie in the file in the order of a tree walk, so the last sibling that does not
 * begin after `die` contains it.
 */
static size_t path_to(const Dwarf_Die *die, Dwarf_Die *path)
{
    Dwarf_Die unit, at;
    if (dwarf_cu_info(die->cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_child(&unit, &at) != 0)
        return 0;
    size_t depth = 0;
    while (depth < NESTING_MAX) {
        Dwarf_Die next = at;
        while (next.addr < die->addr && dwarf_siblingof(&at, &next) == 0 && next.addr > at.addr &&
               next.addr <= die->addr)
            at = next;
        if (at.addr > die->addr)
            return 0;
        path[depth++] = at;
        if (at.addr == die->addr)
            return depth;
        Dwarf_Die parent = at;
        if (dwarf_child(&parent, &at) != 0)
            return 0;
    }
    return 0;
}

static const char *text_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return !dwarf_attr_integrate(die, name, &attribute) ? NULL : dwarf_formstring(&attribute);
}

/* Returns the text that the entry puts before `inner`, which lies inside it. NULL: nothing. *whole:
 * the text already includes all outer entries. */
static const char *part_of(struct symbols_strings *strings, Dwarf_Die *die, const char *inner,
                           bool *whole)
{
    const char *name = text_attribute(die, DW_AT_name);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        return !name ? "(anonymous namespace)" : name;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        /* gcc gives the type of a lambda no name. */
        if (!name)
            return strcmp(inner, "operator()") == 0 ? "{lambda}" : "{unnamed}";
        return name;
    case DW_TAG_subprogram: {
        const char *linkage_name = text_attribute(die, DW_AT_linkage_name);
        *whole = linkage_name != NULL;
        return !linkage_name ? name : symbols_strings_demangle(strings, linkage_name);
    }
    default:
        return NULL;
    }
}

static const char *compose(struct symbols_strings *strings, const Dwarf_Die *die, const char *name)
{
    Dwarf_Die path[NESTING_MAX];
    char text[NAME_MAX_LENGTH] = "";
    size_t depth = path_to(die, path), length = 0;
    for (size_t i = 0; i + 1 < depth; i++) {
        bool whole = false;
        const char *part = part_of(strings, &path[i], name, &whole);
        if (!part)
            continue;
        if (whole)
            length = 0;
        if (length + strlen(part) + strlen(name) + 5 > sizeof(text))
            return name;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s::", part);
    }
    if (length == 0)
        return name;
    snprintf(text + length, sizeof(text) - length, "%s", name);
    return symbols_strings_keep(strings, text);
}

static struct symbols_qualified_name *slot_of(const struct symbols_qualified *memo,
                                              const void *entry)
{
    size_t slot = (size_t)(((uintptr_t)entry * 0x9e3779b97f4a7c15U) >> 32) & (memo->capacity - 1);
    while (memo->names[slot].entry && memo->names[slot].entry != entry)
        slot = (slot + 1) & (memo->capacity - 1);
    return &memo->names[slot];
}

/* Keeps at least half of the slots free. Returns false if memory is exhausted. */
static bool reserve(struct symbols_qualified *memo)
{
    if (memo->count * 2 < memo->capacity)
        return true;
    struct symbols_qualified grown = {.count = memo->count,
                                      .capacity = memo->capacity == 0 ? 64 : memo->capacity * 2};
    grown.names = calloc(grown.capacity, sizeof(*grown.names));
    if (!grown.names)
        return false;
    for (size_t i = 0; i < memo->capacity; i++)
        if (memo->names[i].entry)
            *slot_of(&grown, memo->names[i].entry) = memo->names[i];
    free(memo->names);
    *memo = grown;
    return true;
}

const char *symbols_qualified_find(struct symbols_qualified *memo, struct symbols_strings *strings,
                                   Dwarf_Die *die, const char *name)
{
    Dwarf_Die declaration = *die;
    find_declaration(&declaration);
    if (!reserve(memo))
        return name;
    struct symbols_qualified_name *known = slot_of(memo, declaration.addr);
    if (!known->entry) {
        *known =
            (struct symbols_qualified_name){declaration.addr, compose(strings, &declaration, name)};
        memo->count++;
    }
    return known->name;
}

void symbols_qualified_free(struct symbols_qualified *memo)
{
    free(memo->names);
    *memo = (struct symbols_qualified){0};
}
