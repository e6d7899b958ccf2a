/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/allocators.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/flow/calls.h"

/* A member function of a class template, or (`scope` NULL) a function template. */
struct typed_allocator {
    const char *space; /* the namespaces and classes around it, without inline ones */
    const char *scope; /* the class */
    const char *function;
    bool unwrap; /* the argument is an allocator, whose value_type is meant */
};

/* The allocated type is the first template argument of the class, or else of the function. */
static const struct typed_allocator typed_allocators[] = {
    {.space = "std", .scope = "allocator", .function = "allocate"},
    {.space = "std", .scope = "__new_allocator", .function = "allocate"},
    {.space = "__gnu_cxx", .scope = "new_allocator", .function = "allocate"},
    {.space = "__gnu_cxx", .scope = "malloc_allocator", .function = "allocate"},
    {.space = "__gnu_cxx", .scope = "__pool_alloc", .function = "allocate"},
    {.space = "__gnu_cxx", .scope = "__mt_alloc", .function = "allocate"},
    {.space = "__gnu_cxx", .scope = "bitmap_allocator", .function = "allocate"},
    {.space = "std", .scope = "allocator_traits", .function = "allocate", .unwrap = true},
    {.space = "std", .scope = "polymorphic_allocator", .function = "allocate"},
    {.space = "std::pmr", .scope = "polymorphic_allocator", .function = "allocate"},
    /* The contents of std::function and std::any that do not fit inside them. */
    {.space = "std::_Function_base", .scope = "_Base_manager", .function = "_M_create"},
    {.space = "std::_Function_base", .scope = "_Base_manager", .function = "_M_clone"},
    {.space = "std::_Function_base", .scope = "_Base_manager", .function = "_M_init_functor"},
    {.space = "std::any", .scope = "_Manager_external", .function = "_S_create"},
    {.space = "std::any", .scope = "_Manager_external", .function = "_S_manage"},
    {.space = "std", .function = "make_unique"},
    {.space = "std", .function = "make_unique_for_overwrite"},
    {.space = "std", .function = "get_temporary_buffer"},
};

/* The template argument of a container's node that is its element: first libstdc++, then libc++. */
static const struct {
    const char *name;
    int element;
} container_nodes[] = {
    {"std::_Rb_tree_node", 0},
    {"std::_List_node", 0},
    {"std::_Fwd_list_node", 0},
    {"std::__detail::_Hash_node", 0},
    {"std::_Sp_counted_ptr_inplace", 0},
    {"std::__tree_node", 0},
    {"std::__list_node", 0},
    {"std::__forward_list_node", 0},
    {"std::__hash_node", 0},
    {"std::__shared_ptr_emplace", 0},
};

static const struct {
    const char *character;
    struct types_string string;
} strings[] = {
    {"char", {"std::string buffer", 1}},        {"wchar_t", {"std::wstring buffer", 4}},
    {"char8_t", {"std::u8string buffer", 1}},   {"char16_t", {"std::u16string buffer", 2}},
    {"char32_t", {"std::u32string buffer", 4}},
};

const struct types_string *types_string_of_character(const char *character)
{
    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
        if (strcmp(character, strings[i].character) == 0)
            return &strings[i].string;
    return NULL;
}

const struct types_string *types_string_of_block(const char *name)
{
    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
        if (strcmp(name, strings[i].string.name) == 0)
            return &strings[i].string;
    return NULL;
}

const struct types_string *types_string_of_function(const char *function)
{
    static const char *const classes[] = {"std::__cxx11::basic_string<", "std::basic_string<",
                                          "std::__1::basic_string<"};
    if (strncmp(function, "std::string::_Rep::", 19) == 0)
        return &strings[0].string;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        size_t length = strlen(classes[i]);
        if (strncmp(function, classes[i], length) != 0)
            continue;
        for (size_t k = 0; k < sizeof(strings) / sizeof(*strings); k++) {
            size_t name = strlen(strings[k].character);
            if (strncmp(function + length, strings[k].character, name) == 0 &&
                function[length + name] == ',')
                return &strings[k].string;
        }
    }
    return NULL;
}

bool types_is_pool_function(const char *function)
{
    static const char *const pools[] = {
        "std::pmr::monotonic_buffer_resource::",
        "std::pmr::unsynchronized_pool_resource::",
        "std::pmr::synchronized_pool_resource::",
        "std::pmr::__pool_resource::",
        "std::__1::pmr::monotonic_buffer_resource::",
        "std::__1::pmr::unsynchronized_pool_resource::",
        "std::__1::pmr::synchronized_pool_resource::",
    };
    for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++)
        if (strncmp(pools[i], function, strlen(pools[i])) == 0)
            return true;
    return false;
}

bool types_is_text_function(const char *function)
{
    static const char *const names[] = {
        "strdup",        "__strdup",       "strndup",      "__strndup",
        "asprintf",      "vasprintf",      "getline",      "getdelim",
        "__getdelim",    "realpath",       "getcwd",       "__getcwd",
        "__GI___strdup", "__GI___strndup", "_IO_getdelim", "__vasprintf_internal",
    };
    static const char filebuf[] =
        "std::basic_filebuf<char, std::char_traits<char> >::_M_allocate_internal_buffer()";
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], function) == 0)
            return true;
    return strcmp(function, filebuf) == 0;
}

/* Returns "std::pair<const K, V>" for libc++'s std::__value_type<K, V>. NULL: another type. */
static char *pair_of_value(const char *element)
{
    char *pair = NULL, *spelled = NULL;
    if (strncmp(element, "std::__value_type<", 18) != 0 &&
        strncmp(element, "std::__hash_value_type<", 23) != 0)
        return NULL;
    char *key = types_spelling_argument(element, 0), *value = types_spelling_argument(element, 1);
    if (key && value) {
        bool pointer = *key != '\0' && key[strlen(key) - 1] == '*';
        if (asprintf(&pair, pointer ? "std::pair<%s const, %s>" : "std::pair<const %s, %s>", key,
                     value) < 0)
            pair = NULL;
    }
    free(key);
    free(value);
    if (pair)
        spelled = types_spelling(pair);
    free(pair);
    return spelled;
}

char *types_node_element(const char *name)
{
    for (size_t i = 0; i < sizeof(container_nodes) / sizeof(*container_nodes); i++) {
        size_t length = strlen(container_nodes[i].name);
        if (strncmp(name, container_nodes[i].name, length) != 0 || name[length] != '<')
            continue;
        char *element = types_spelling_argument(name, (unsigned)container_nodes[i].element);
        char *pair = !element ? NULL : pair_of_value(element);
        if (!pair)
            return element;
        free(element);
        return pair;
    }
    return NULL;
}

/* ---- frames as DWARF tells them --------------------------------------------------------- */

static bool find_allocator(const struct types_unit *unit, const struct types_entry *function,
                           struct typed_allocator *found)
{
    const struct types_entry *scope =
        function->parent == TYPES_NO_PARENT ? NULL : &unit->entries[function->parent];
    for (size_t i = 0; i < sizeof(typed_allocators) / sizeof(*typed_allocators); i++) {
        const struct typed_allocator *allocator = &typed_allocators[i];
        if (!types_is_template(function->name, allocator->function))
            continue;
        bool member = allocator->scope && scope && types_is_class(scope);
        if (member
                ? types_is_template(scope->name, allocator->scope) &&
                      types_in_space(unit, scope->parent, allocator->space)
                : !allocator->scope && types_in_space(unit, function->parent, allocator->space)) {
            *found = *allocator;
            return true;
        }
    }
    return false;
}

/* Finds the allocator class's value_type, or else its own first argument. */
static bool types_value_type(struct types_index *index, Dwarf_Die *allocator, Dwarf_Die *value)
{
    Dwarf_Die class;
    return types_strip(allocator, &class) && (types_declared_value(index, &class, value) ||
                                              types_first_argument(index, &class, value));
}

static bool allocated_type(struct types_index *index, Dwarf_Die *entry, struct types_type *type)
{
    Dwarf_Die function, scope, argument, value;
    struct typed_allocator allocator;
    types_declared_function(entry, &function);
    const struct types_unit *unit = types_index_unit(index, &function);
    const struct types_entry *declared = !unit ? NULL : types_index_entry(unit, &function);
    if (!declared || !find_allocator(unit, declared, &allocator))
        return false;
    scope = function;
    if (allocator.scope && !types_index_die(unit, &unit->entries[declared->parent], &scope))
        return false;
    if (!types_first_argument(index, &scope, &argument) &&
        !types_first_argument(index, entry, &argument))
        return false;
    if (allocator.unwrap) {
        if (!types_value_type(index, &argument, &value))
            return false;
        argument = value;
    }
    if (!types_from(index, &argument, type))
        return false;
    Dwarf_Die stripped;
    if (type->shape == TYPES_ARRAY && types_strip(&argument, &stripped))
        return types_of(index, &stripped, type); /* make_unique<T[]> */
    return true;
}

/* Returns "int" for "allocator<int>" and for "allocator_traits<std::allocator<int> >". */
static char *argument_in_name(struct types_index *index, Dwarf_Die *entry)
{
    Dwarf_Die function;
    struct typed_allocator allocator;
    types_declared_function(entry, &function);
    const struct types_unit *unit = types_index_unit(index, &function);
    const struct types_entry *declared = !unit ? NULL : types_index_entry(unit, &function);
    if (!declared || !find_allocator(unit, declared, &allocator) || !allocator.scope)
        return NULL;
    char *argument = types_spelling_argument(unit->entries[declared->parent].name, 0);
    if (!argument || !allocator.unwrap)
        return argument;
    char *value = types_spelling_argument(argument, 0);
    free(argument);
    return value;
}

bool types_allocator_at(const struct types_site *site, size_t frame, struct types_type *type)
{
    Dwarf_Die entry = site->entries[frame];
    return allocated_type(site->index, &entry, type);
}

bool types_allocator_type(const struct types_site *site, struct types_type *type)
{
    for (size_t i = 0; i < site->entry_count; i++) {
        if (types_allocator_at(site, i, type))
            return true;
        if (!types_is_standard(site, i))
            return false;
    }
    return false;
}

char *types_allocator_argument(const struct types_site *site)
{
    for (size_t i = 0; i < site->entry_count && types_is_standard(site, i); i++) {
        Dwarf_Die entry = site->entries[i];
        char *argument = argument_in_name(site->index, &entry);
        if (argument)
            return argument;
    }
    return NULL;
}

/* Returns true if the parts, without inline namespaces, are `space`. */
static bool parts_are(const char *const *parts, size_t count, const char *space)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(parts[i]);
        if (types_spelling_is_inline_space(parts[i], length))
            continue;
        if (strncmp(space, parts[i], length) != 0)
            return false;
        space += length;
        if (strncmp(space, "::", 2) == 0)
            space += 2;
    }
    return *space == '\0';
}

char *types_allocator_of_symbol(const char *const *parts, size_t count)
{
    for (size_t i = 0; i < sizeof(typed_allocators) / sizeof(*typed_allocators); i++) {
        const struct typed_allocator *allocator = &typed_allocators[i];
        const size_t names = allocator->scope ? 2 : 1;
        if (count <= names || !types_is_template(parts[count - 1], allocator->function) ||
            (allocator->scope && !types_is_template(parts[count - 2], allocator->scope)) ||
            !parts_are(parts, count - names, allocator->space))
            continue;
        char *argument = types_spelling_argument(parts[count - names], 0);
        if (!argument || !allocator->unwrap)
            return argument;
        char *value = types_spelling_argument(argument, 0);
        free(argument);
        return value;
    }
    return NULL;
}

/* ---- library ------------------------------------------------------------------------------- */

bool types_is_standard_space(const char *outermost)
{
    return outermost && (strcmp(outermost, "std") == 0 || strcmp(outermost, "__cxxabiv1") == 0 ||
                         strncmp(outermost, "__gnu_", 6) == 0);
}

bool types_in_space(const struct types_unit *unit, uint32_t entry, const char *space)
{
    const char *end = space + strlen(space);
    for (; entry != TYPES_NO_PARENT; entry = unit->entries[entry].parent) {
        const char *name = unit->entries[entry].name;
        if (!name || (unit->entries[entry].tag != DW_TAG_namespace &&
                      !types_is_class(&unit->entries[entry])))
            return false;
        if (types_spelling_is_inline_space(name, strlen(name)))
            continue;
        size_t length = strlen(name);
        if ((size_t)(end - space) < length || memcmp(end - length, name, length) != 0)
            return false;
        end -= length;
        if (end - space >= 2 && end[-1] == ':')
            end -= 2;
    }
    return end == space;
}

bool types_is_template(const char *text, const char *name)
{
    size_t length = strlen(name);
    return text && strncmp(text, name, length) == 0 &&
           (text[length] == '\0' || text[length] == '<');
}

bool types_is_class(const struct types_entry *entry)
{
    return entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type;
}

bool types_first_argument(struct types_index *index, Dwarf_Die *template, Dwarf_Die *argument)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (dwarf_child(template, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
            return dwarf_attr(&child, DW_AT_type, &attribute) &&
                   types_reference(&attribute, argument);
    } while (types_index_sibling(index, &child));
    return false;
}

bool types_declared_value(struct types_index *index, Dwarf_Die *class, Dwarf_Die *value)
{
    return types_declared_type(index, class, "value_type", value);
}

bool types_declared_type(struct types_index *index, Dwarf_Die *class, const char *wanted,
                         Dwarf_Die *type)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (dwarf_child(class, &child) != 0)
        return false;
    do {
        const char *name = dwarf_tag(&child) == DW_TAG_typedef ? dwarf_diename(&child) : NULL;
        if (name && strcmp(name, wanted) == 0 && dwarf_attr(&child, DW_AT_type, &attribute) &&
            types_reference(&attribute, type))
            return true;
    } while (types_index_sibling(index, &child));
    return false;
}

const struct types_entry *types_frame_function(const struct types_site *site, size_t frame,
                                               const struct types_unit **unit, Dwarf_Die *function)
{
    Dwarf_Die entry = site->entries[frame];
    types_declared_function(&entry, function);
    *unit = types_index_unit(site->index, function);
    return !*unit ? NULL : types_index_entry(*unit, function);
}

/* Returns true if the declared function `entry` of `unit` belongs to the standard library. */
static bool is_standard(const struct types_unit *unit, const struct types_entry *entry)
{
    const char *outermost = NULL;
    for (uint32_t at = entry->parent; at != TYPES_NO_PARENT; at = unit->entries[at].parent)
        outermost = unit->entries[at].tag == DW_TAG_namespace ? unit->entries[at].name : NULL;
    return types_is_standard_space(outermost);
}

bool types_is_standard(const struct types_site *site, size_t frame)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *declared = types_frame_function(site, frame, &unit, &function);
    return declared && is_standard(unit, declared);
}

bool types_allocates_elements(struct types_index *index, Dwarf_Die *function)
{
    Dwarf_Die entry = *function, declared, class, value;
    struct types_type pointer, pointee, kept;
    types_declared_function(&entry, &declared);
    const struct types_unit *unit = types_index_unit(index, &declared);
    const struct types_entry *found = !unit ? NULL : types_index_entry(unit, &declared);
    if (!found || found->parent == TYPES_NO_PARENT)
        return false;
    if (is_standard(unit, found))
        return true;
    const struct types_entry *scope = &unit->entries[found->parent];
    return types_is_template(found->name, "allocate") && types_is_class(scope) && scope->name &&
           strchr(scope->name, '<') && types_index_die(unit, scope, &class) &&
           (types_declared_value(index, &class, &value) ||
            types_first_argument(index, &class, &value)) &&
           types_from(index, &value, &kept) && types_of(index, &entry, &pointer) &&
           types_pointee(index, &pointer, &pointee) && types_same(index, &pointee, &kept);
}

bool types_has_types(const struct types_site *site)
{
    const struct types_unit *unit = site->entry_count == 0 ? NULL : types_home_unit(site, 0);
    for (size_t i = 0; unit && i < unit->count; i++)
        if (unit->entries[i].tag != DW_TAG_namespace && unit->entries[i].tag != DW_TAG_subprogram)
            return true;
    return false;
}
