#include "ingest/symbols_scopes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting than any compiler writes: the unit is read no further. */
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
    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) != 0 ||
        value > UINT32_MAX)
        return missing;
    return (uint32_t)value;
}

static bool append_scope(struct symbols_scopes *scopes, const struct symbols_scope *scope)
{
    if (scopes->count + 1 >= SYMBOLS_NOWHERE ||
        !array_reserve(&scopes->scopes, &scopes->capacity, scopes->count + 1,
                       sizeof *scopes->scopes))
        return false;
    scopes->scopes[scopes->count++] = *scope;
    return true;
}

/*
 * Adds the scope of a function or an inlined call, if it has code that was not discarded by the
 * linker. `*inner` becomes the scope that holds for its children.
 */
static bool add_scope(struct symbols_scopes *scopes, const struct symbols_file *file,
                      struct symbols_budget *budget, Dwarf_Die *die, bool inlined, uint32_t parent,
                      uint32_t *inner)
{
    Dwarf_Addr base, start, end, entry;
    uint32_t index = (uint32_t)scopes->count;
    struct symbols_scope scope = {.die = dwarf_dieoffset(die),
                                  .start = UINT64_MAX,
                                  .parent = inlined ? parent : SYMBOLS_NOWHERE};
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (!symbols_budget_take(budget))
            return false;
        const struct symbols_range *code = symbols_file_code(file, start + file->bias);
        if (code == NULL || end <= start)
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
    /* Where a function was split the first part listed is the hot one, unless this says more. */
    if (dwarf_entrypc(die, &entry) == 0 && symbols_file_code(file, entry + file->bias) != NULL)
        scope.start = entry + file->bias;
    if (inlined) {
        scope.call_file = number_attribute(die, DW_AT_call_file, UINT32_MAX);
        scope.call_line = number_attribute(die, DW_AT_call_line, 0);
    }
    *inner = index;
    return append_scope(scopes, &scope);
}

/* Entries only run forward: DW_AT_sibling of a damaged unit must not lead back. */
static bool next_sibling(Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > offset;
}

bool symbols_scopes_build(struct symbols_scopes *scopes, const struct symbols_file *file,
                          Dwarf_Die *unit, uint64_t die_limit, struct symbols_budget *budget)
{
    Dwarf_Die path[NESTING_MAX];
    uint32_t outer[NESTING_MAX];
    if (dwarf_child(unit, &path[0]) != 0)
        return true;
    size_t depth = 1;
    outer[0] = SYMBOLS_NOWHERE;
    while (depth > 0 && die_limit-- > 0) {
        Dwarf_Die *die = &path[depth - 1];
        if (!symbols_budget_take(budget))
            return false;
        int tag = dwarf_tag(die);
        uint32_t scope = outer[depth - 1];
        if (tag == DW_TAG_subprogram)
            scope = SYMBOLS_NOWHERE;
        if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) &&
            !add_scope(scopes, file, budget, die, tag == DW_TAG_inlined_subroutine,
                       outer[depth - 1], &scope))
            return false;
        bool inward = !holds_no_code(tag) && dwarf_haschildren(die) == 1;
        if (inward && depth == NESTING_MAX)
            break;
        if (inward && dwarf_child(die, &path[depth]) == 0) {
            outer[depth++] = scope;
            continue;
        }
        while (depth > 0 && !next_sibling(&path[depth - 1]))
            depth--;
    }
    return symbols_intervals_settle(&scopes->addresses);
}

void symbols_scopes_free(struct symbols_scopes *scopes)
{
    free(scopes->scopes);
    symbols_intervals_free(&scopes->addresses);
    symbols_qualified_free(&scopes->qualified);
    memset(scopes, 0, sizeof *scopes);
}

/* Follows abstract origins and specifications (libdw bounds the chain). */
static const char *string_attribute(struct symbols_strings *strings, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, name, &attribute) == NULL)
        return NULL;
    const char *text = dwarf_formstring(&attribute);
    return text == NULL || *text == '\0' ? NULL : symbols_strings_keep(strings, text);
}

/* dwarf_decl_file() would end the process where a split unit has no files of its own. */
const char *symbols_scopes_file(const struct symbols_lines *lines, struct symbols_strings *strings,
                                Dwarf_CU *unit, uint64_t index)
{
    /* What was copied is asked first: libdw would read and keep all lines of the unit again. */
    if (lines != NULL && lines->files != NULL)
        return index < lines->file_count ? lines->files[index] : NULL;
    Dwarf_Die entry;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_cu_info(unit, NULL, NULL, &entry, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_getsrcfiles(&entry, &files, &count) != 0 || index >= count)
        return NULL;
    return symbols_lines_path(strings, files, index);
}

const struct symbols_scope *symbols_scopes_named(struct symbols_scopes *scopes,
                                                 const struct symbols_lines *lines,
                                                 struct symbols_strings *strings, Dwarf_Die *unit,
                                                 uint32_t index)
{
    struct symbols_scope *scope = &scopes->scopes[index];
    Dwarf_Die die;
    if (scope->named)
        return scope;
    scope->named = true;
    if (dwarf_offdie(dwarf_cu_getdwarf(unit->cu), scope->die, &die) == NULL)
        return scope;
    scope->name = string_attribute(strings, &die, DW_AT_name);
    scope->linkage_name = string_attribute(strings, &die, DW_AT_linkage_name);
    if (scope->linkage_name == NULL)
        scope->linkage_name = string_attribute(strings, &die, DW_AT_MIPS_linkage_name);
    if (scope->name != NULL && scope->linkage_name == NULL && symbols_qualified_language(unit))
        scope->name = symbols_qualified_find(&scopes->qualified, strings, &die, scope->name);
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attribute) != NULL &&
        dwarf_formudata(&attribute, &number) == 0)
        scope->decl_file = symbols_scopes_file(attribute.cu == unit->cu ? lines : NULL, strings,
                                               attribute.cu, number);
    if (dwarf_attr_integrate(&die, DW_AT_decl_line, &attribute) != NULL &&
        dwarf_formudata(&attribute, &number) == 0 && number <= UINT32_MAX)
        scope->decl_line = (uint32_t)number;
    return scope;
}
