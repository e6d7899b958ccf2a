/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/globals.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/walk.h"

#define GLOBALS_MAX (1U << 22)

struct global {
    uint64_t address;
    Dwarf_Die variable;
};

struct types_globals {
    const struct symbols_file *file;
    struct global *globals; /* sorted by address */
    size_t count, capacity;
    bool read;
};

struct types_globals *types_globals_new(const struct symbols_file *file)
{
    struct types_globals *globals = calloc(1, sizeof(*globals));
    if (globals)
        globals->file = file;
    return globals;
}

void types_globals_free(struct types_globals *globals)
{
    if (globals)
        free(globals->globals);
    free(globals);
}

static bool has_address(Dwarf_Die *variable, uint64_t *address)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
        return false;
    if (operations[0].atom == DW_OP_addr) {
        *address = operations[0].number;
        return true;
    }
    Dwarf_Attribute indexed;
    if (operations[0].atom != DW_OP_addrx ||
        dwarf_getlocation_attr(&attribute, operations, &indexed) != 0)
        return false;
    Dwarf_Addr found;
    if (dwarf_formaddr(&indexed, &found) != 0)
        return false;
    *address = found;
    return true;
}

static void add(struct types_globals *globals, Dwarf_Die *variable)
{
    uint64_t address;
    if (!has_address(variable, &address) || globals->count >= GLOBALS_MAX)
        return;
    if (!array_reserve(&globals->globals, &globals->capacity, globals->count + 1,
                       sizeof(*globals->globals)))
        return;
    globals->globals[globals->count++] = (struct global){address + globals->file->bias, *variable};
}

/* Reads the unit's variables, including the static ones of functions. */
static void read_unit(struct types_globals *globals, const Dwarf_Die *unit)
{
    struct symbols_walk_entry entry;
    size_t shut = SIZE_MAX; /* deeper entries lie inside one that declares no globals */
    struct symbols_walk *walk = symbols_walk_begin(unit);
    while (walk && symbols_walk_next(walk, &entry)) {
        if (entry.depth > shut)
            continue;
        bool scope = entry.tag == DW_TAG_namespace || entry.tag == DW_TAG_subprogram ||
                     entry.tag == DW_TAG_lexical_block;
        shut = entry.children && !scope ? entry.depth : SIZE_MAX;
        if (entry.tag == DW_TAG_variable)
            add(globals, &entry.die);
    }
    symbols_walk_end(walk);
}

static int compare_globals(const void *left, const void *right)
{
    const struct global *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static void read_all(struct types_globals *globals)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    globals->read = true;
    while (dwarf_get_units(globals->file->dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        read_unit(globals, type == DW_UT_skeleton && split.addr ? &split : &die);
    if (globals->count > 1)
        qsort(globals->globals, globals->count, sizeof(*globals->globals), compare_globals);
}

bool types_globals_find(struct types_globals *globals, struct types_index *index, uint64_t address,
                        Dwarf_Die *variable, uint64_t *offset)
{
    if (!globals->read)
        read_all(globals);
    size_t low = 0, high = globals->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (globals->globals[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    struct types_type type;
    *variable = globals->globals[low - 1].variable;
    *offset = address - globals->globals[low - 1].address;
    return types_of(index, variable, &type) && *offset < type.size;
}
