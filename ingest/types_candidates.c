/*
 * Candidates (types.h): all records of a size, as mprof named them in 1988 (Zorn and Hilfinger, "A
 * Memory Allocation Profiler for C and Lisp Programs", USENIX Summer 1988).
 */
#include "ingest/types_candidates.h"

#include <dwarf.h>
#include <stdlib.h>

static bool is_known(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

size_t types_candidates_at(const struct types_site *site, uint64_t size, const char **names,
                           size_t count, size_t capacity)
{
    if (site->entry_count == 0)
        return count;
    const struct types_unit *unit = types_index_unit(site->index, &site->entries[0]);
    for (size_t i = 0; unit != NULL && i < unit->count && count < capacity; i++) {
        const struct types_entry *entry = &unit->entries[i];
        Dwarf_Die die;
        struct types_type type;
        bool record = entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type ||
                      entry->tag == DW_TAG_union_type;
        if (entry->declaration || (record && entry->size != size) ||
            (!record && entry->tag != DW_TAG_typedef) ||
            dwarf_offdie(dwarf_cu_getdwarf(unit->unit), entry->die, &die) == NULL ||
            !types_from(site->index, &die, &type) || type.shape != TYPES_RECORD ||
            type.size != size)
            continue;
        char *spelled = types_name(site->index, &type);
        const char *name = spelled == NULL ? NULL : symbols_keep(site->symbols, spelled);
        free(spelled);
        if (name != NULL && *name != '(' && !is_known(names, count, name))
            names[count++] = name;
    }
    return count;
}
