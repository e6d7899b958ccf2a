/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of types, composed from DWARF entries (entries.h). */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/index.h"
#include "ingest/types/dwarf/spelling.h"

/* ---- alias --------------------------------------------------------------------------------- */

/* A record, identified by facts that are the same in all units, and its best typedef. */
struct alias {
    const Dwarf_CU *unit; /* in C++, where only the record's own unit counts; NULL: any in C */
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

static struct alias key_of(Dwarf_Die *record, const Dwarf_CU *unit)
{
    return (struct alias){.unit = unit,
                          .tag = dwarf_diename(record),
                          .size = number_of(record, DW_AT_byte_size),
                          .line = number_of(record, DW_AT_decl_line)};
}

static struct alias *find(const struct types_aliases *aliases, const struct alias *key,
                          uint64_t *hash)
{
    uint32_t index;
    *hash = hash_combine(hash_combine(hash_text(key->tag), key->size),
                         key->line ^ (uint64_t)(uintptr_t)key->unit);
    for (size_t probe = index_map_begin(&aliases->by_record, *hash);
         (index = index_map_next(&aliases->by_record, *hash, &probe)) != INDEX_NONE;) {
        struct alias *alias = &aliases->list[index];
        if (alias->unit == key->unit && alias->size == key->size && alias->line == key->line &&
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
    if (!ARRAY_RESERVE(aliases->list, aliases->count, aliases->capacity) ||
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
        struct alias key = key_of(&record, c ? NULL : unit->unit);
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

/* Returns the typedef that names the record `die`, in libdw's memory, or NULL if its tag is its
 * name. The first question about a record in C reads all units in C. */
static const char *types_alias(struct types_aliases *aliases, struct types_index *index,
                               Dwarf_Die *die)
{
    uint64_t hash;
    const bool c = is_c(die->cu);
    const struct alias key = key_of(die, c ? NULL : die->cu);
    if (!aliases || !key.tag)
        return NULL;
    if (c) {
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

/* Longer chains of typedefs and pointers than any source has. */
#define CHAIN_MAX 64

static bool is_record(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Joins a prefix such as "const ", the name of the inner type, and a suffix such as " *". */
static char *join(const char *before, const char *name, const char *after)
{
    char *joined = NULL;
    return asprintf(&joined, "%s%s%s", before, name, after) < 0 ? NULL : joined;
}

static char *qualify(struct types_index *index, Dwarf_Die *die, const char *name)
{
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    char *qualified = strdup(name);
    while (qualified && entry && entry->parent != TYPES_NO_PARENT) {
        entry = &unit->entries[entry->parent];
        if (entry->tag == DW_TAG_subprogram)
            break;
        const char *scope = entry->name;
        if (!scope)
            scope = entry->tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
        char *longer = NULL;
        if (asprintf(&longer, "%s::%s", scope, qualified) < 0)
            longer = NULL;
        free(qualified);
        qualified = longer;
    }
    return qualified;
}

/* Returns a record's typedef at file scope if it is better known than the tag, or the tag. */
static char *record_name(struct types_index *index, Dwarf_Die *die)
{
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    const char *alias = NULL;
    if (entry && entry->parent == TYPES_NO_PARENT)
        alias = types_alias(types_index_aliases(index), index, die);
    return alias ? strdup(alias) : qualify(index, die, dwarf_diename(die));
}

/* Returns the file that declares `die`. From DWARF 5 on, file 0 is the unit's own, but
 * dwarf_decl_file() takes it for none. That function would also end the process if a split unit has
 * no files. */
static const char *declaring_file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    Dwarf_Half version;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    if (number == 0)
        return version < 5 ? NULL : dwarf_diename(&unit);
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static char *nameless(Dwarf_Die *die)
{
    char *name = NULL;
    int line = 0;
    const char *file = declaring_file(die);
    dwarf_decl_line(die, &line);
    const char *keyword = dwarf_tag(die) == DW_TAG_union_type         ? "union"
                          : dwarf_tag(die) == DW_TAG_enumeration_type ? "enum"
                                                                      : "struct";
    if (!file)
        return asprintf(&name, "(%s)", keyword) < 0 ? NULL : name;
    return asprintf(&name, "(%s at %s:%d)", keyword, basename(file), line) < 0 ? NULL : name;
}

/* Returns true if the typedef is the user's word: at the file's scope, not inside a class. */
static bool typedef_names(struct types_index *index, Dwarf_Die *die, Dwarf_Die *stripped)
{
    const char *name = dwarf_diename(die);
    const struct types_unit *unit = types_index_unit(index, die);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, die);
    if (!name || strncmp(name, "__", 2) == 0)
        return false;
    if (is_record(dwarf_tag(stripped)) || dwarf_tag(stripped) == DW_TAG_enumeration_type)
        return !dwarf_diename(stripped);
    return entry && entry->parent == TYPES_NO_PARENT;
}

static char *raw_name(struct types_index *index, Dwarf_Die *die, int depth);

static char *wrapped_name(struct types_index *index, Dwarf_Die *die, int depth, const char *before,
                          const char *after)
{
    Dwarf_Die type;
    char *inner = types_type_of(die, &type) ? raw_name(index, &type, depth + 1) : strdup("void");
    char *name = !inner ? NULL : join(before, inner, after);
    free(inner);
    return name;
}

static char *qualified_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    Dwarf_Die type;
    bool pointer = types_type_of(die, &type) && types_strip(&type, &type) &&
                   dwarf_tag(&type) == DW_TAG_pointer_type;
    const char *word = dwarf_tag(die) == DW_TAG_const_type      ? "const"
                       : dwarf_tag(die) == DW_TAG_volatile_type ? "volatile"
                                                                : "";
    char before[16] = "";
    if (!pointer && *word != '\0')
        snprintf(before, sizeof(before), "%s ", word);
    return wrapped_name(index, die, depth, before, pointer ? word : "");
}

static char *array_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    char bounds[128] = " ";
    size_t length = 1;
    Dwarf_Die range;
    if (dwarf_child(die, &range) == 0) {
        do {
            Dwarf_Attribute attribute;
            Dwarf_Word bound = 0;
            if (dwarf_attr(&range, DW_AT_count, &attribute))
                dwarf_formudata(&attribute, &bound);
            else if (dwarf_attr(&range, DW_AT_upper_bound, &attribute) &&
                     dwarf_formudata(&attribute, &bound) == 0)
                bound++;
            if (length < sizeof(bounds))
                length += (size_t)snprintf(bounds + length, sizeof(bounds) - length, "[%llu]",
                                           (unsigned long long)bound);
        } while (types_index_sibling(index, &range));
    }
    return wrapped_name(index, die, depth, "", bounds);
}

static char *pointer_name(struct types_index *index, Dwarf_Die *die, int depth, const char *mark)
{
    Dwarf_Die type;
    if (types_type_of(die, &type) && types_strip(&type, &type) &&
        dwarf_tag(&type) == DW_TAG_subroutine_type)
        return wrapped_name(index, &type, depth, "", " (*)()");
    return wrapped_name(index, die, depth, "", mark);
}

/* Returns the name as the compilers would write it, before it gets its one spelling. */
static char *raw_name(struct types_index *index, Dwarf_Die *die, int depth)
{
    Dwarf_Die stripped;
    if (depth > CHAIN_MAX)
        return strdup("?");
    const char *name = dwarf_diename(die);
    int tag = dwarf_tag(die);
    switch (tag) {
    case DW_TAG_typedef:
        if (types_strip(die, &stripped) && !typedef_names(index, die, &stripped))
            return wrapped_name(index, die, depth, "", "");
        return qualify(index, die, !name ? "?" : name);
    case DW_TAG_pointer_type:
        return pointer_name(index, die, depth, " *");
    case DW_TAG_reference_type:
        return pointer_name(index, die, depth, " &");
    case DW_TAG_rvalue_reference_type:
        return pointer_name(index, die, depth, " &&");
    case DW_TAG_array_type:
        return array_name(index, die, depth);
    default:
        if (types_is_qualifier(tag))
            return qualified_name(index, die, depth);
        if (!name)
            return is_record(tag) || tag == DW_TAG_enumeration_type ? nameless(die) : strdup("?");
        if (is_record(tag))
            return record_name(index, die);
        return tag == DW_TAG_base_type ? strdup(name) : qualify(index, die, name);
    }
}

char *types_name(struct types_index *index, const struct types_type *type)
{
    if (!type->die.addr)
        return strdup("void");
    Dwarf_Die die = type->die;
    char *raw = raw_name(index, &die, 0);
    char *name = !raw ? NULL : types_spelling(raw);
    free(raw);
    return name;
}

char *types_tag_name(struct types_index *index, const struct types_type *type)
{
    Dwarf_Die die = type->die, stripped;
    if (type->shape != TYPES_RECORD || !types_strip(&die, &stripped) || !dwarf_diename(&stripped))
        return types_name(index, type);
    char *raw = qualify(index, &stripped, dwarf_diename(&stripped));
    char *name = !raw ? NULL : types_spelling(raw);
    free(raw);
    return name;
}

bool types_named(struct types_index *index, const char *name, struct types_type *type)
{
    size_t length, at = 0;
    const char *last = types_spelling_last_part(name, &length);
    Dwarf_Die record;
    while (length > 0 && types_index_next(index, last, length, &at, &record)) {
        if (!types_from(index, &record, type))
            continue;
        char *found = types_tag_name(index, type);
        bool same = found && strcmp(found, name) == 0;
        free(found);
        if (same)
            return true;
    }
    return false;
}
