/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/containers.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/library.h"

/* The bytes of one array of libstdc++'s deque, __deque_buf_size(). */
#define DEQUE_BYTES 512
/* The argument of std::_Hashtable with its traits. The first of these tells that hashes are
 * kept. */
#define HASH_TRAITS 9

/* The type in which vector<bool> keeps its bits. */
#define BITS "unsigned long"

struct row {
    const char *class;
    int element; /* the template argument; -1: only the class's value_type tells */
    enum types_container_kind kind;
    const char *template;
};

static const struct row rows[] = {
    {"vector", 0, TYPES_CONTAINER_ELEMENTS, NULL},
    {"_Vector_base", 0, TYPES_CONTAINER_ELEMENTS, NULL},
    {"_Bvector_base", -1, TYPES_CONTAINER_ELEMENTS, NULL},
    {"deque", 0, TYPES_CONTAINER_DEQUE, NULL},
    {"_Deque_base", 0, TYPES_CONTAINER_DEQUE, NULL},
    {"list", 0, TYPES_CONTAINER_NODES, "std::_List_node"},
    {"_List_base", 0, TYPES_CONTAINER_NODES, "std::_List_node"},
    {"forward_list", 0, TYPES_CONTAINER_NODES, "std::_Fwd_list_node"},
    {"_Fwd_list_base", 0, TYPES_CONTAINER_NODES, "std::_Fwd_list_node"},
    {"map", -1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"multimap", -1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"set", 0, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"multiset", 0, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"_Rb_tree", 1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"unordered_map", -1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_multimap", -1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_set", 0, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_multiset", 0, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"_Hashtable", 1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"basic_string", 0, TYPES_CONTAINER_STRING, NULL},
};

/* Functions that make such an object of their first template argument. */
static const struct row makers[] = {
    {"make_shared", 0, TYPES_CONTAINER_NODES, "std::_Sp_counted_ptr_inplace"},
    {"allocate_shared", 0, TYPES_CONTAINER_NODES, "std::_Sp_counted_ptr_inplace"},
};

static const struct row *row_of(const struct types_unit *unit, const struct types_entry *class)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (types_is_template(class->name, rows[i].class) &&
            types_in_space(unit, class->parent, "std"))
            return &rows[i];
    return NULL;
}

/* Reads the elements of a class or function template: its value_type, or the row's template
 * argument. */
static bool read_element(const struct types_site *site, Dwarf_Die *template, const char *name,
                         const struct row *row, struct types_container *container)
{
    Dwarf_Die value;
    struct types_type type;
    if (strcmp(row->class, "_Bvector_base") == 0) {
        container->element = strdup(BITS);
        return container->element != NULL;
    }
    bool declared = types_declared_value(site->index, template, &value) ||
                    (row->element == 0 && types_first_argument(site->index, template, &value));
    if (declared && types_from(site->index, &value, &type)) {
        container->element = types_name(site->index, &type);
        container->type = type;
        container->typed = true;
    } else if (row->element >= 0) {
        container->element = types_spelling_argument(name, (unsigned)row->element);
    }
    return container->element != NULL;
}

static void read_traits(const char *name, struct types_container *container)
{
    char *traits = types_spelling_argument(name, HASH_TRAITS);
    char *cached = !traits ? NULL : types_spelling_argument(traits, 0);
    container->cached_known =
        cached && (strcmp(cached, "true") == 0 || strcmp(cached, "false") == 0);
    container->cached = container->cached_known && strcmp(cached, "true") == 0;
    free(cached);
    free(traits);
}

static bool read_class(const struct types_site *site, const struct types_unit *unit,
                       const struct types_entry *class, const struct row *row,
                       struct types_container *container)
{
    Dwarf_Die die;
    if (!types_index_die(unit, class, &die) ||
        !read_element(site, &die, class->name, row, container))
        return false;
    if (row->kind == TYPES_CONTAINER_ELEMENTS && strcmp(container->element, "bool") == 0) {
        free(container->element);
        container->typed = false;
        container->element = strdup(BITS);
        if (!container->element)
            return false;
    }
    if (strcmp(row->class, "_Hashtable") == 0)
        read_traits(class->name, container);
    char *name = NULL;
    if (asprintf(&name, "std::%s", class->name) < 0)
        return false;
    container->class = types_spelling(name);
    free(name);
    return container->class != NULL;
}

static bool read_maker(const struct types_site *site, const struct types_unit *unit,
                       const struct types_entry *function, Dwarf_Die *die,
                       struct types_container *container)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
        if (!types_is_template(function->name, makers[i].class) ||
            !types_in_space(unit, function->parent, "std"))
            continue;
        container->kind = makers[i].kind;
        container->template = makers[i].template;
        container->class = strdup("");
        /* An array has another kind of control block. */
        return container->class && read_element(site, die, function->name, &makers[i], container) &&
               !strchr(container->element, '[');
    }
    return false;
}

bool types_container_at(const struct types_site *site, size_t frame,
                        struct types_container *container)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *entry = types_frame_function(site, frame, &unit, &function);
    memset(container, 0, sizeof(*container));
    if (!entry)
        return false;
    if (read_maker(site, unit, entry, &function, container))
        return true;
    types_container_free(container);
    for (uint32_t at = entry->parent; at != TYPES_NO_PARENT; at = unit->entries[at].parent) {
        const struct types_entry *class = &unit->entries[at];
        const struct row *row = types_is_class(class) ? row_of(unit, class) : NULL;
        if (!row)
            continue;
        container->kind = row->kind;
        container->template = row->template;
        if (read_class(site, unit, class, row, container))
            return true;
        types_container_free(container);
        return false;
    }
    return false;
}

void types_container_free(struct types_container *container)
{
    free(container->class);
    free(container->element);
    memset(container, 0, sizeof(*container));
}

enum types_container_part types_container_part_of(const struct types_site *site, size_t frame)
{
    static const struct {
        const char *function;
        enum types_container_part part;
    } parts[] = {
        {"_M_allocate_buckets", TYPES_PART_TABLE},
        {"_M_allocate_map", TYPES_PART_TABLE},
        {"_M_allocate_node", TYPES_PART_CONTENT},
    };
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *entry = types_frame_function(site, frame, &unit, &function);
    for (size_t i = 0; entry && i < sizeof(parts) / sizeof(*parts); i++)
        if (types_is_template(entry->name, parts[i].function))
            return parts[i].part;
    return TYPES_PART_UNKNOWN;
}

/* ---- the block -------------------------------------------------------------------------- */

static char *spelled(char *name)
{
    char *spelling = !name ? NULL : types_spelling(name);
    free(name);
    return spelling;
}

static char *hash_node(const struct types_container *container)
{
    char *name = NULL;
    return asprintf(&name, "%s<%s, %s>", container->template, container->element,
                    container->cached ? "true" : "false") < 0
               ? NULL
               : spelled(name);
}

static char *hash_block(const struct types_container *container, enum types_container_part part,
                        struct types_index *index, uint64_t size, bool *sized)
{
    struct types_type type;
    char *node = hash_node(container);
    if (part == TYPES_PART_UNKNOWN && node) {
        *sized = true;
        part = types_named(index, node, &type) && type.size == size ? TYPES_PART_CONTENT
                                                                    : TYPES_PART_TABLE;
    }
    if (part == TYPES_PART_CONTENT)
        return node;
    free(node);
    return strdup("std::__detail::_Hash_node_base *");
}

static char *deque_block(const struct types_container *container, enum types_container_part part,
                         uint64_t size, bool *sized, bool *elements)
{
    char *name = NULL;
    if (part == TYPES_PART_UNKNOWN) {
        uint64_t one = container->typed ? container->type.size : 0;
        *sized = true;
        part = one > 0 && size == (one < DEQUE_BYTES ? DEQUE_BYTES / one * one : one)
                   ? TYPES_PART_CONTENT
                   : TYPES_PART_TABLE;
    }
    *elements = part == TYPES_PART_CONTENT;
    if (*elements)
        return strdup(container->element);
    return asprintf(&name, "%s *", container->element) < 0 ? NULL : spelled(name);
}

char *types_container_block(const struct types_container *container, enum types_container_part part,
                            struct types_index *index, uint64_t size, bool *sized, bool *elements)
{
    char *name = NULL;
    const struct types_string *string;
    *elements = false;
    switch (container->kind) {
    case TYPES_CONTAINER_NODES:
        if (asprintf(&name, "%s<%s>", container->template, container->element) < 0)
            return NULL;
        return spelled(name);
    case TYPES_CONTAINER_HASH:
        return hash_block(container, part, index, size, sized);
    case TYPES_CONTAINER_DEQUE:
        return deque_block(container, part, size, sized, elements);
    case TYPES_CONTAINER_STRING:
        string = types_string_of_character(container->element);
        if (string)
            return strdup(string->name);
        break;
    default:
        break;
    }
    *elements = true;
    return strdup(container->element);
}
