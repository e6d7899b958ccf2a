/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/lines.h"
#include "ingest/symbols/scopes.h"

/* More bytes than the split units of any program have together. */
#define SPLIT_MAX (UINT64_C(4) << 30)

/* The number of units whose line tables libdw holds at a time. The tables are copied, but libdw can
 * drop one only together with everything else that it has read. */
#define LINE_UNITS_MAX 32

struct unit {
    Dwarf_Off die; /* offset of the unit's entry */
    bool built;
    struct symbols_scopes scopes;
    struct symbols_lines lines;
};

struct symbols_dwarf {
    const struct symbols_file *file;
    struct symbols_strings *strings;
    struct unit *units;
    size_t count, capacity;
    struct symbols_intervals addresses;
    struct symbols_budget budget;
    uint64_t split_left;   /* bytes by which split units may still raise `budget` */
    const Elf_Data *lines; /* .debug_line; NULL: there is none */
    Dwarf *line_reader;    /* the same file, opened again from time to time; NULL: not open */
    bool split;            /* some unit's functions lie in a file of their own */
    const char *missing;   /* such a file that cannot be read; NULL: none was needed */
    size_t line_units;     /* whose lines `line_reader` has read */
};

/*
 * Several units may hold a COMDAT function, but it is linked once, and the debug information of
 * each unit names that copy. The first unit of equal intervals wins, because the linker kept its
 * code. The map prefers greater values, so the number is reversed.
 */
static uint32_t unit_value(size_t unit)
{
    return SYMBOLS_NOWHERE - 1 - (uint32_t)unit;
}

static bool append_unit(struct symbols_dwarf *dwarf, Dwarf_Die *die)
{
    if (dwarf->count + 1 >= SYMBOLS_NOWHERE ||
        !array_reserve(&dwarf->units, &dwarf->capacity, dwarf->count + 1, sizeof(*dwarf->units)))
        return false;
    dwarf->units[dwarf->count++] = (struct unit){.die = dwarf_dieoffset(die)};
    return true;
}

static bool add_unit(struct symbols_dwarf *dwarf, Dwarf_Die *die)
{
    const struct symbols_file *file = dwarf->file;
    Dwarf_Addr base, start, end;
    bool added = false;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (!symbols_budget_take(&dwarf->budget))
            return true; /* the ranges found so far are used */
        const struct symbols_range *code = symbols_file_code(file, start + file->bias);
        if (!code || end <= start)
            continue;
        start += file->bias;
        end += file->bias;
        if (!added && !append_unit(dwarf, die))
            return false;
        added = true;
        /* A unit may span sections that the linker laid side by side. */
        if (!symbols_intervals_add(&dwarf->addresses, start, end, unit_value(dwarf->count - 1)))
            return false;
    }
    return true;
}

/* Returns .debug_line. NULL: there is none. */
static const Elf_Data *find_lines(Elf *elf)
{
    Elf_Scn *section = NULL;
    const Elf_Data *data;
    const char *name;
    while ((data = symbols_file_debug_section(elf, &section, &name)))
        if (strcmp(name, "line") == 0 && data->d_buf)
            break;
    return data;
}

static bool index_units(struct symbols_dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (dwarf_get_units(dwarf->file->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        int tag = dwarf_tag(&die);
        dwarf->split = dwarf->split || type == DW_UT_skeleton || type == DW_UT_split_compile;
        if ((tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) && !add_unit(dwarf, &die))
            return false;
        if (dwarf->budget.spent)
            break;
    }
    return symbols_intervals_settle(&dwarf->addresses);
}

struct symbols_dwarf *symbols_dwarf_new(const struct symbols_file *file,
                                        struct symbols_strings *strings)
{
    errno = 0;
    if (!file->dwarf)
        return NULL;
    struct symbols_dwarf *dwarf = calloc(1, sizeof(*dwarf));
    if (!dwarf)
        return NULL;
    dwarf->file = file;
    dwarf->strings = strings;
    /* Twice the bytes of the debug information, because the ranges of units are read as well. */
    dwarf->budget.left = (1 << 20) + 2 * symbols_file_debug_size(file->dwarf);
    dwarf->split_left = SPLIT_MAX;
    dwarf->lines = find_lines(dwarf_getelf(file->dwarf));
    bool good = index_units(dwarf);
    if (good && dwarf->count > 0)
        return dwarf;
    symbols_dwarf_free(dwarf);
    errno = good ? 0 : ENOMEM;
    return NULL;
}

bool symbols_dwarf_spent(const struct symbols_dwarf *dwarf)
{
    return dwarf->budget.spent;
}

const char *symbols_dwarf_missing(const struct symbols_dwarf *dwarf)
{
    return dwarf->missing;
}

bool symbols_dwarf_is_split(const struct symbols_dwarf *dwarf)
{
    return dwarf->split;
}

void symbols_dwarf_free(struct symbols_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->count; i++) {
        symbols_scopes_free(&dwarf->units[i].scopes);
        symbols_lines_free(&dwarf->units[i].lines);
    }
    if (dwarf->line_reader)
        dwarf_end(dwarf->line_reader);
    free(dwarf->units);
    symbols_intervals_free(&dwarf->addresses);
    free(dwarf);
}

/* Finds the entry that has the functions. For a split unit it lies in a file of its own. */
static bool unit_entry(const struct symbols_dwarf *dwarf, const struct unit *unit,
                       Dwarf_Die *skeleton, Dwarf_Die *entry)
{
    uint8_t type;
    Dwarf_Die split;
    if (!dwarf_offdie(dwarf->file->dwarf, unit->die, skeleton))
        return false;
    *entry = *skeleton;
    if (dwarf_cu_info(skeleton->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr)
        *entry = split;
    return true;
}

/* Returns the unit's entry in the line reader, or `skeleton` if the file cannot be opened twice. */
static Dwarf_Die line_entry(struct symbols_dwarf *dwarf, const struct unit *unit,
                            const Dwarf_Die *skeleton)
{
    Dwarf *whole = dwarf->file->dwarf;
    Dwarf_Die entry;
    if (dwarf->line_reader && dwarf->line_units >= LINE_UNITS_MAX) {
        dwarf_end(dwarf->line_reader);
        dwarf->line_reader = NULL;
    }
    if (!dwarf->line_reader) {
        dwarf->line_units = 0;
        dwarf->line_reader = dwarf_begin_elf(dwarf_getelf(whole), DWARF_C_READ, NULL);
        if (!dwarf->line_reader)
            return *skeleton;
        /* The unit's directory may be a string of the common file of dwz. */
        Dwarf *common = dwarf_getalt(whole);
        if (common)
            dwarf_setalt(dwarf->line_reader, common);
    }
    dwarf->line_units++;
    return !dwarf_offdie(dwarf->line_reader, unit->die, &entry) ? *skeleton : entry;
}

/* No real unit has such a long line program. libdw needs a hundred bytes of memory for each of its
 * bytes. */
static bool lines_are_too_long(const struct symbols_dwarf *dwarf, Dwarf_Die *entry)
{
    static const uint64_t most = 16 << 20;
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    uint32_t length = 0;
    if (!dwarf_attr(entry, DW_AT_stmt_list, &attribute) ||
        dwarf_formudata(&attribute, &offset) != 0 || !dwarf->lines ||
        offset > dwarf->lines->d_size || dwarf->lines->d_size - offset < sizeof(length))
        return false;
    memcpy(&length, (const char *)dwarf->lines->d_buf + offset, sizeof(length));
    return (length == UINT32_MAX ? dwarf->lines->d_size - offset : length) > most;
}

/* Raises the budget by the split unit's own bytes. The total is limited, because many units may
 * name one file. */
static void allow_split(struct symbols_dwarf *dwarf, const Dwarf_Die *entry)
{
    uint64_t size = 2 * symbols_file_debug_size(dwarf_cu_getdwarf(entry->cu));
    if (size > dwarf->split_left)
        size = dwarf->split_left;
    dwarf->split_left -= size;
    dwarf->budget.left += size;
}

/* Returns the name of the file that has the unit's functions, NULL: they are in this file. */
static const char *missing_split(struct symbols_dwarf *dwarf, Dwarf_Die *skeleton)
{
    static const unsigned names[] = {DW_AT_dwo_name, DW_AT_GNU_dwo_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *name =
            dwarf_attr(skeleton, names[i], &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (name)
            return symbols_strings_keep(dwarf->strings, name);
    }
    return NULL;
}

static bool build_unit(struct symbols_dwarf *dwarf, struct unit *unit)
{
    Dwarf_Die skeleton, entry;
    unit->built = true;
    if (!unit_entry(dwarf, unit, &skeleton, &entry))
        return false;
    if (entry.cu != skeleton.cu)
        allow_split(dwarf, &entry);
    else if (!dwarf->missing)
        dwarf->missing = missing_split(dwarf, &skeleton);
    /* Half a table would give wrong frames. If memory or the budget runs out, there is no table. */
    if (!symbols_scopes_build(&unit->scopes, dwarf->file, &entry, &dwarf->budget))
        symbols_scopes_free(&unit->scopes);
    if (lines_are_too_long(dwarf, &skeleton)) {
        dwarf->budget.spent = true;
        return true;
    }
    Dwarf_Die lines = line_entry(dwarf, unit, &skeleton);
    if (!symbols_lines_build(&unit->lines, dwarf->file, dwarf->strings, &lines, &dwarf->budget))
        symbols_lines_free(&unit->lines);
    return true;
}

/* Finds the unit that has the code at `pc` and reads it. NULL: there is none. */
static struct unit *find_unit(struct symbols_dwarf *dwarf, uint64_t pc)
{
    uint32_t value = symbols_intervals_find(&dwarf->addresses, pc);
    if (value == SYMBOLS_NOWHERE)
        return NULL;
    struct unit *unit = &dwarf->units[SYMBOLS_NOWHERE - 1 - value];
    return unit->built || build_unit(dwarf, unit) ? unit : NULL;
}

size_t symbols_dwarf_lookup(struct symbols_dwarf *dwarf, uint64_t pc, struct symbols_frame *frames)
{
    struct unit *unit = find_unit(dwarf, pc);
    if (!unit)
        return 0;
    const char *file;
    uint32_t line;
    symbols_lines_find(&unit->lines, pc, &file, &line);
    uint32_t scope = symbols_intervals_find(&unit->scopes.addresses, pc);
    frames->file = file;
    frames->line = line;
    Dwarf_Die skeleton, entry;
    if (scope == SYMBOLS_NOWHERE || !unit_entry(dwarf, unit, &skeleton, &entry))
        return 0;
    /* A split unit has files of its own. */
    const struct symbols_lines *lines = entry.cu == skeleton.cu ? &unit->lines : NULL;
    size_t count = 0;
    while (scope != SYMBOLS_NOWHERE && count < SYMBOLS_FRAMES_MAX) {
        const struct symbols_scope *found = &unit->scopes.scopes[scope];
        const struct symbols_naming *names =
            symbols_scopes_naming(&unit->scopes, lines, dwarf->strings, &entry, scope);
        frames[count] = (struct symbols_frame){
            .function = names->name,
            .linkage_name = names->linkage_name,
            .file = file,
            .line = line,
            .decl_file = names->decl_file,
            .decl_line = names->decl_line,
            .start = found->start,
            .alone = names->alone,
            .inlined = found->parent != SYMBOLS_NOWHERE && count + 1 < SYMBOLS_FRAMES_MAX,
        };
        count++;
        if (found->parent != SYMBOLS_NOWHERE) {
            file = symbols_scopes_file(lines, dwarf->strings, entry.cu, found->call_file);
            line = found->call_line;
        }
        scope = found->parent;
    }
    return count;
}

size_t symbols_dwarf_entries(struct symbols_dwarf *dwarf, uint64_t pc, Dwarf_Die *entries)
{
    struct unit *unit = find_unit(dwarf, pc);
    Dwarf_Die skeleton, entry;
    size_t count = 0;
    if (!unit || !unit_entry(dwarf, unit, &skeleton, &entry))
        return 0;
    uint32_t scope = symbols_intervals_find(&unit->scopes.addresses, pc);
    for (; scope != SYMBOLS_NOWHERE && count < SYMBOLS_FRAMES_MAX; count++) {
        const struct symbols_scope *found = &unit->scopes.scopes[scope];
        if (!dwarf_offdie(dwarf_cu_getdwarf(entry.cu), found->die, &entries[count]))
            break;
        scope = found->parent;
    }
    return count;
}
