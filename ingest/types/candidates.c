/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates (types.h) are all records of a size. mprof listed them the same way in 1988 (Zorn and
 * Hilfinger, "A Memory Allocation Profiler for C and Lisp Programs", USENIX Summer 1988).
 */
#include "ingest/types/candidates.h"

#include <dwarf.h>
#include <search.h>
#include <stdlib.h>

#include "ingest/types/flow/calls.h"

static bool is_known(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

static int compare_lists(const void *left, const void *right)
{
    const struct types_candidate_list *a = left, *b = right;
    if (a->frame.pc != b->frame.pc)
        return a->frame.pc < b->frame.pc ? -1 : 1;
    if (a->frame.module != b->frame.module)
        return a->frame.module < b->frame.module ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

struct types_candidate_list *types_candidate_list_at(void **lists, const struct types_frame *frame,
                                                     uint64_t size, bool *known)
{
    const struct types_candidate_list key = {.frame = *frame, .size = size};
    struct types_candidate_list *const *found = tfind(&key, lists, compare_lists);
    *known = found != NULL;
    if (found)
        return *found;
    struct types_candidate_list *list = malloc(sizeof(*list));
    if (!list)
        return NULL;
    *list = key;
    if (tsearch(list, lists, compare_lists))
        return list;
    free(list);
    return NULL;
}

void types_candidate_lists_free(void *lists)
{
    tdestroy(lists, free);
}

size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity)
{
    for (size_t i = 0; i < list->count && count < capacity; i++)
        if (!is_known(names, count, list->names[i]))
            names[count++] = list->names[i];
    return count;
}

/* Adds the records of one unit. */
static void add_of_unit(const struct types_site *site, const struct types_unit *unit,
                        struct types_candidate_list *list)
{
    uint64_t size = list->size;
    for (size_t i = 0; unit && i < unit->count && list->count < TYPES_CANDIDATES_MAX; i++) {
        const struct types_entry *entry = &unit->entries[i];
        Dwarf_Die die;
        struct types_type type;
        bool record = entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type ||
                      entry->tag == DW_TAG_union_type;
        if (entry->declaration || (record && entry->size != size) ||
            (!record && entry->tag != DW_TAG_typedef) ||
            !dwarf_offdie(dwarf_cu_getdwarf(unit->unit), entry->die, &die) ||
            !types_from(site->index, &die, &type) || type.shape != TYPES_RECORD ||
            type.size != size)
            continue;
        char *spelled = types_name(site->index, &type);
        const char *name = !spelled ? NULL : symbols_keep(site->symbols, spelled);
        free(spelled);
        if (name && *name != '(' && !is_known(list->names, list->count, name))
            list->names[list->count++] = name;
    }
}

void types_candidates_at(const struct types_site *site, struct types_candidate_list *list)
{
    const struct types_unit *last = NULL;
    for (size_t i = 0; i < site->entry_count; i++) {
        const struct types_unit *unit = types_home_unit(site, i);
        if (unit != last)
            add_of_unit(site, unit, list);
        last = unit;
    }
}
