/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates (types.h) are all records of a size. mprof listed them the same way in 1988 (Zorn and
 * Hilfinger, "A Memory Allocation Profiler for C and Lisp Programs", USENIX Summer 1988).
 */
#include "ingest/types/candidates.h"

#include <dwarf.h>
#include <stdlib.h>

#include "ingest/types/flow/calls.h"

static bool is_known(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

static bool is_for(const struct types_candidate_list *list, const struct types_frame *frame,
                   uint64_t size)
{
    return list->size == size && list->frame.pc == frame->pc && list->frame.module == frame->module;
}

struct types_candidate_list *types_candidate_list_at(struct types_candidate_lists *lists,
                                                     const struct types_frame *frame, uint64_t size,
                                                     bool *known)
{
    const uint64_t hash =
        hash_combine(hash_combine(hash_seed(), frame->pc), (uint64_t)frame->module << 48 ^ size);
    size_t probe = index_map_begin(&lists->by_question, hash);
    uint32_t index;
    *known = true;
    while ((index = index_map_next(&lists->by_question, hash, &probe)) != INDEX_NONE)
        if (is_for(&lists->rows[index], frame, size))
            return &lists->rows[index];
    *known = false;
    if (lists->count >= INDEX_NONE - 1 ||
        !array_reserve(&lists->rows, &lists->capacity, lists->count + 1, sizeof(*lists->rows)) ||
        !index_map_insert(&lists->by_question, hash, (uint32_t)lists->count))
        return NULL;
    struct types_candidate_list *list = &lists->rows[lists->count++];
    *list = (struct types_candidate_list){.frame = *frame, .size = size};
    return list;
}

void types_candidate_lists_free(struct types_candidate_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        free(lists->rows[i].names);
    free(lists->rows);
    index_map_free(&lists->by_question);
    *lists = (struct types_candidate_lists){.count = 0};
}

size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity)
{
    for (size_t i = 0; i < list->count && count < capacity; i++)
        if (!is_known(names, count, list->names[i]))
            names[count++] = list->names[i];
    return count;
}

/* Adds a name that is not there yet, unless memory is exhausted. */
static void add_name(struct types_candidate_list *list, const char *name)
{
    if (!list->names)
        list->names = calloc(TYPES_CANDIDATES_MAX, sizeof(*list->names));
    if (list->names && !is_known(list->names, list->count, name))
        list->names[list->count++] = name;
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
            (!record && entry->tag != DW_TAG_typedef) || !types_index_die(unit, entry, &die) ||
            !types_from(site->index, &die, &type) || type.shape != TYPES_RECORD ||
            type.size != size)
            continue;
        char *spelled = types_name(site->index, &type);
        const char *name = !spelled ? NULL : symbols_keep(site->symbols, spelled);
        free(spelled);
        if (name && *name != '(')
            add_name(list, name);
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
