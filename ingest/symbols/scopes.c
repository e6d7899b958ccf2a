/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/scopes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/walk.h"

/* Deeper nesting than any compiler writes. Reading the unit stops there. */
#define NESTING_MAX 256

/* Entries whose children never hold code. */
static bool holds_no_code(int tag)
{
    switch (tag) {
    case DW_TAG_array_type:
    case DW_TAG_call_site:
    case DW_TAG_enumeration_type:
    case DW_TAG_formal_parameter:
    case DW_TAG_GNU_call_site:
    case DW_TAG_GNU_formal_parameter_pack:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_subroutine_type:
    case DW_TAG_variable:
    case DW_TAG_variant_part:
        return true;
    default:
        return false;
    }
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name, uint32_t missing)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        value > UINT32_MAX)
        return missing;
    return (uint32_t)value;
}

static bool append_scope(struct symbols_scopes *scopes, const struct symbols_scope *scope)
{
    if (scopes->count + 1 >= SYMBOLS_NOWHERE ||
        !array_reserve(&scopes->scopes, &scopes->capacity, scopes->count + 1,
                       sizeof(*scopes->scopes)))
        return false;
    scopes->scopes[scopes->count++] = *scope;
    return true;
}

/*
 * Adds the scope of a function or an inlined call, unless the linker discarded its code. `*inner`
 * becomes the scope that holds for its children.
 */
static bool add_scope(struct symbols_scopes *scopes, const struct symbols_file *file,
                      struct symbols_budget *budget, struct symbols_walk_entry *found, bool inlined,
                      uint32_t parent, uint32_t *inner)
{
    Dwarf_Die *die = &found->die;
    Dwarf_Addr base, start, end, entry;
    uint32_t index = (uint32_t)scopes->count;
    struct symbols_scope scope = {.die = dwarf_dieoffset(die),
                                  .start = UINT64_MAX,
                                  .by_origin = found->by_origin,
                                  .naming = SYMBOLS_NOWHERE,
                                  .parent = inlined ? parent : SYMBOLS_NOWHERE};
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (!symbols_budget_take(budget))
            return false;
        const struct symbols_range *code = symbols_file_code(file, start + file->bias);
        if (!code || end <= start)
            continue;
        start += file->bias;
        end += file->bias;
        if (end > code->end)
            end = code->end;
        if (!symbols_intervals_add(&scopes->addresses, start, end, index))
            return false;
        if (scope.start == UINT64_MAX)
            scope.start = start;
    }
    if (scope.start == UINT64_MAX)
        return true;
    /* If a function was split, its hot part comes first in the list, unless this attribute says
     * otherwise. */
    if (dwarf_entrypc(die, &entry) == 0 && symbols_file_code(file, entry + file->bias))
        scope.start = entry + file->bias;
    if (inlined) {
        scope.call_file = number_attribute(die, DW_AT_call_file, UINT32_MAX);
        scope.call_line = number_attribute(die, DW_AT_call_line, 0);
    }
    *inner = index;
    return append_scope(scopes, &scope);
}

/* Adds an entry. `outer` gives the scope that holds at each depth. */
static bool add_entry(struct symbols_scopes *scopes, const struct symbols_file *file,
                      struct symbols_budget *budget, struct symbols_walk_entry *entry,
                      uint32_t *outer)
{
    uint32_t inner = entry->tag == DW_TAG_subprogram ? SYMBOLS_NOWHERE : outer[entry->depth];
    bool inlined = entry->tag == DW_TAG_inlined_subroutine;
    if (entry->code && (entry->tag == DW_TAG_subprogram || inlined) &&
        !add_scope(scopes, file, budget, entry, inlined, outer[entry->depth], &inner))
        return false;
    if (entry->depth + 1 < NESTING_MAX)
        outer[entry->depth + 1] = inner;
    return true;
}

bool symbols_scopes_build(struct symbols_scopes *scopes, const struct symbols_file *file,
                          Dwarf_Die *unit, struct symbols_budget *budget)
{
    uint32_t outer[NESTING_MAX] = {SYMBOLS_NOWHERE};
    struct symbols_walk_entry entry;
    size_t shut = SIZE_MAX; /* deeper entries lie inside one that holds no code */
    bool good = true;
    struct symbols_walk *walk = symbols_walk_begin(unit);
    while (good && walk && symbols_walk_next(walk, &entry) && entry.depth < NESTING_MAX) {
        good = symbols_budget_take(budget);
        if (entry.depth > shut)
            continue;
        shut = entry.children && holds_no_code(entry.tag) ? entry.depth : SIZE_MAX;
        good = good && add_entry(scopes, file, budget, &entry, outer);
    }
    good = good && (!walk || !symbols_walk_failed(walk));
    symbols_walk_end(walk);
    return good && symbols_intervals_settle(&scopes->addresses);
}

void symbols_scopes_free(struct symbols_scopes *scopes)
{
    free(scopes->scopes);
    symbols_intervals_free(&scopes->addresses);
    symbols_qualified_free(&scopes->qualified);
    index_map_free(&scopes->by_origin);
    free(scopes->namings);
    free(scopes->instances);
    memset(scopes, 0, sizeof(*scopes));
}

/* Returns a kept string. Follows abstract origins and specifications (libdw limits the chain). */
static const char *string_attribute(struct symbols_strings *strings, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, name, &attribute))
        return NULL;
    const char *text = dwarf_formstring(&attribute);
    return !text || *text == '\0' ? NULL : symbols_strings_keep(strings, text);
}

/* dwarf_decl_file() would end the process if a split unit has no files of its own. */
const char *symbols_scopes_file(const struct symbols_lines *lines, struct symbols_strings *strings,
                                Dwarf_CU *unit, uint64_t index)
{
    /* Asks the copy first: libdw would read and keep all lines of the unit again. */
    if (lines && lines->files)
        return index < lines->file_count ? lines->files[index] : NULL;
    Dwarf_Die entry;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_cu_info(unit, NULL, NULL, &entry, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_getsrcfiles(&entry, &files, &count) != 0 || index >= count)
        return NULL;
    return symbols_lines_path(strings, files, index);
}

/* Returns the address in memory of the entry of which `die` is an instance. NULL: it is not an
 * instance. */
static const void *origin_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    return !dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
                   !dwarf_formref_die(&attribute, &origin)
               ? NULL
               : origin.addr;
}

/* Sorts by origin, then by address, so that a search for one of several always finds the same
 * one. */
static int compare_instances(const void *left, const void *right)
{
    const struct symbols_instance *a = left, *b = right;
    uintptr_t of_a = (uintptr_t)a->origin, of_b = (uintptr_t)b->origin;
    if (of_a != of_b)
        return of_a < of_b ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void find_instances(struct symbols_scopes *scopes, Dwarf *dwarf)
{
    scopes->instances = calloc(scopes->count + 1, sizeof(*scopes->instances));
    for (size_t i = 0; scopes->instances && i < scopes->count; i++) {
        const struct symbols_scope *scope = &scopes->scopes[i];
        Dwarf_Die die;
        const void *origin;
        if (scope->parent == SYMBOLS_NOWHERE && scope->by_origin &&
            dwarf_offdie(dwarf, scope->die, &die) && (origin = origin_of(&die)))
            scopes->instances[scopes->instance_count++] =
                (struct symbols_instance){origin, scope->start};
    }
    if (scopes->instances && scopes->instance_count > 1)
        qsort(scopes->instances, scopes->instance_count, sizeof(*scopes->instances),
              compare_instances);
}

/* Returns the start of the code of a function with that origin, 0 if this unit has none. */
static uint64_t find_alone(struct symbols_scopes *scopes, Dwarf *dwarf, const void *origin)
{
    if (!scopes->instances)
        find_instances(scopes, dwarf);
    size_t low = 0, high = scopes->instance_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)scopes->instances[middle].origin < (uintptr_t)origin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scopes->instance_count && scopes->instances[low].origin == origin
               ? scopes->instances[low].start
               : 0;
}

/* Reads the names that the entry gives its function. */
static struct symbols_naming read_naming(struct symbols_scopes *scopes,
                                         const struct symbols_lines *lines,
                                         struct symbols_strings *strings, Dwarf_Die *unit,
                                         Dwarf_Die *die)
{
    struct symbols_naming naming = {.name = NULL};
    naming.name = string_attribute(strings, die, DW_AT_name);
    naming.linkage_name = string_attribute(strings, die, DW_AT_linkage_name);
    if (!naming.linkage_name)
        naming.linkage_name = string_attribute(strings, die, DW_AT_MIPS_linkage_name);
    if (naming.name && !naming.linkage_name && symbols_qualified_language(unit))
        naming.name = symbols_qualified_find(&scopes->qualified, strings, die, naming.name);
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) &&
        dwarf_formudata(&attribute, &number) == 0)
        naming.decl_file = symbols_scopes_file(attribute.cu == unit->cu ? lines : NULL, strings,
                                               attribute.cu, number);
    if (dwarf_attr_integrate(die, DW_AT_decl_line, &attribute) &&
        dwarf_formudata(&attribute, &number) == 0 && number <= UINT32_MAX)
        naming.decl_line = (uint32_t)number;
    return naming;
}

/* Finds the names of an origin, which all its inlined calls share. INDEX_NONE: not read yet. */
static uint32_t find_origin(const struct symbols_scopes *scopes, const void *origin, uint64_t hash)
{
    uint32_t index;
    size_t probe = index_map_begin(&scopes->by_origin, hash);
    while ((index = index_map_next(&scopes->by_origin, hash, &probe)) != INDEX_NONE)
        if (scopes->namings[index].origin == origin)
            break;
    return index;
}

static uint32_t add_naming(struct symbols_scopes *scopes, const struct symbols_naming *naming)
{
    if (scopes->naming_count + 1 >= SYMBOLS_NOWHERE ||
        !array_reserve(&scopes->namings, &scopes->naming_capacity, scopes->naming_count + 1,
                       sizeof(*scopes->namings)))
        return SYMBOLS_NOWHERE;
    scopes->namings[scopes->naming_count] = *naming;
    return (uint32_t)scopes->naming_count++;
}

const struct symbols_naming *symbols_scopes_naming(struct symbols_scopes *scopes,
                                                   const struct symbols_lines *lines,
                                                   struct symbols_strings *strings, Dwarf_Die *unit,
                                                   uint32_t index)
{
    static const struct symbols_naming nameless;
    struct symbols_scope *scope = &scopes->scopes[index];
    Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
    Dwarf_Die die;
    if (scope->naming != SYMBOLS_NOWHERE)
        return &scopes->namings[scope->naming];
    if (!dwarf_offdie(dwarf, scope->die, &die))
        return &nameless;
    const void *origin = scope->by_origin ? origin_of(&die) : NULL;
    uint64_t hash = hash_number((uintptr_t)origin ^ hash_seed());
    if (origin)
        scope->naming = find_origin(scopes, origin, hash);
    if (scope->naming == SYMBOLS_NOWHERE) {
        struct symbols_naming naming = read_naming(scopes, lines, strings, unit, &die);
        naming.origin = origin;
        if (!naming.linkage_name && origin)
            naming.alone = find_alone(scopes, dwarf, origin);
        scope->naming = add_naming(scopes, &naming);
        if (scope->naming != SYMBOLS_NOWHERE && origin)
            index_map_insert(&scopes->by_origin, hash, scope->naming);
    }
    return scope->naming == SYMBOLS_NOWHERE ? &nameless : &scopes->namings[scope->naming];
}
