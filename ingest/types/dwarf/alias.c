/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/alias.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

/* A record, identified by facts that are the same in all units, and its best typedef. */
struct alias {
    const char *tag;
    uint64_t size, line;
    const char *name; /* NULL: a typedef repeats the tag */
};

struct types_aliases {
    struct alias *list;
    size_t count, capacity;
    struct index_map by_record;
    Dwarf_CU **read; /* units in C++ that have been read */
    size_t read_count, read_capacity;
    bool all; /* the units in C have been read */
};

struct types_aliases *types_aliases_new(void)
{
    return calloc(1, sizeof(struct types_aliases));
}

void types_aliases_free(struct types_aliases *aliases)
{
    if (!aliases)
        return;
    free(aliases->list);
    free(aliases->read);
    index_map_free(&aliases->by_record);
    free(aliases);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &word) == 0 ? word : 0;
}

static bool is_c(Dwarf_CU *unit)
{
    Dwarf_Die die;
    if (!dwarf_cu_die(unit, &die, NULL, NULL, NULL, NULL, NULL, NULL))
        return false;
    int language = dwarf_srclang(&die);
    return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
           language == DW_LANG_C11;
}

static struct alias key_of(Dwarf_Die *record)
{
    return (struct alias){.tag = dwarf_diename(record),
                          .size = number_of(record, DW_AT_byte_size),
                          .line = number_of(record, DW_AT_decl_line)};
}

static struct alias *find(const struct types_aliases *aliases, const struct alias *key,
                          uint64_t *hash)
{
    uint32_t index;
    *hash = hash_combine(hash_combine(hash_text(key->tag), key->size), key->line);
    for (size_t probe = index_map_begin(&aliases->by_record, *hash);
         (index = index_map_next(&aliases->by_record, *hash, &probe)) != INDEX_NONE;) {
        struct alias *alias = &aliases->list[index];
        if (alias->size == key->size && alias->line == key->line &&
            strcmp(alias->tag, key->tag) == 0)
            return alias;
    }
    return NULL;
}

static bool is_better(const char *name, const char *than)
{
    size_t length = strlen(name), other = strlen(than);
    return length != other ? length < other : strcmp(name, than) < 0;
}

static void add(struct types_aliases *aliases, const struct alias *key, const char *name)
{
    uint64_t hash;
    struct alias *known = find(aliases, key, &hash);
    bool repeats = strcmp(name, key->tag) == 0;
    if (known) {
        if (repeats)
            known->name = NULL;
        else if (known->name && is_better(name, known->name))
            known->name = name;
        return;
    }
    if (!array_reserve(&aliases->list, &aliases->capacity, aliases->count + 1,
                       sizeof(*aliases->list)) ||
        !index_map_insert(&aliases->by_record, hash, (uint32_t)aliases->count))
        return;
    aliases->list[aliases->count] = *key;
    aliases->list[aliases->count++].name = repeats ? NULL : name;
}

/* Finds the complete record that a typedef names directly, without another typedef. */
static bool typedef_target(Dwarf_Die *die, Dwarf_Die *record)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr(die, DW_AT_type, &attribute) || !types_reference(&attribute, record))
        return false;
    int tag = dwarf_tag(record);
    return (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) && dwarf_diename(record) &&
           !dwarf_hasattr(record, DW_AT_declaration);
}

static void read_unit(struct types_aliases *aliases, const struct types_unit *unit, bool c)
{
    for (size_t i = 0; i < unit->count; i++) {
        const struct types_entry *entry = &unit->entries[i];
        Dwarf_Die die, record;
        if (entry->tag != DW_TAG_typedef || entry->parent != TYPES_NO_PARENT || !entry->name ||
            strncmp(entry->name, "__", 2) == 0 || !types_index_die(unit, entry, &die) ||
            !typedef_target(&die, &record))
            continue;
        struct alias key = key_of(&record);
        bool hidden = key.tag[0] == '_';
        if (hidden ||
            (c && number_of(&die, DW_AT_decl_file) == number_of(&record, DW_AT_decl_file)))
            add(aliases, &key, entry->name);
    }
}

static void read_units_of_c(struct types_aliases *aliases, struct types_index *index)
{
    size_t count;
    const struct types_unit *const *units = types_index_units(index, &count);
    for (size_t i = 0; i < count; i++)
        if (is_c(units[i]->unit))
            read_unit(aliases, units[i], true);
    aliases->all = true;
}

static void read_unit_of_cxx(struct types_aliases *aliases, struct types_index *index,
                             Dwarf_Die *die)
{
    for (size_t i = 0; i < aliases->read_count; i++)
        if (aliases->read[i] == die->cu)
            return;
    const struct types_unit *unit = types_index_unit(index, die);
    if (!unit || !array_reserve(&aliases->read, &aliases->read_capacity, aliases->read_count + 1,
                                sizeof(Dwarf_CU *)))
        return;
    aliases->read[aliases->read_count++] = die->cu;
    read_unit(aliases, unit, false);
}

const char *types_alias(struct types_aliases *aliases, struct types_index *index, Dwarf_Die *die)
{
    uint64_t hash;
    const struct alias key = key_of(die);
    if (!aliases || !key.tag)
        return NULL;
    if (is_c(die->cu)) {
        if (!aliases->all)
            read_units_of_c(aliases, index);
    } else if (key.tag[0] == '_') {
        read_unit_of_cxx(aliases, index, die);
    } else {
        return NULL;
    }
    const struct alias *found = find(aliases, &key, &hash);
    return !found ? NULL : found->name;
}
