/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions whose own name tells what they allocate: the typed allocators of the C++ standard
 * libraries and, in a library without debug information, members of std::string. */
#pragma once

#include "ingest/types/dwarf/site.h"

/* Returns true and the allocated `type` if one of the site's frames is a typed allocator. Looks
 * from the innermost frame up to the first that is not in the standard library. */
bool types_allocator_type(const struct types_site *site, struct types_type *type);

/* Does the same for that frame alone. */
bool types_allocator_at(const struct types_site *site, size_t frame, struct types_type *type);

/* Returns true if the function allocates for the elements of a container: it is of the standard
 * library, or the `allocate` of any class template that returns a pointer to its value_type or
 * first argument. */
bool types_allocates_elements(struct types_index *index, Dwarf_Die *function);

/* Returns the name of that type as the allocator's own name gives it, because compilers may declare
 * the class without its arguments. The caller frees it. NULL: there is none. */
char *types_allocator_argument(const struct types_site *site);

/* Does the same by a function's symbol: its namespaces, class and name with their arguments,
 * outermost first. */
char *types_allocator_of_symbol(const char *const *parts, size_t count);

/* A standard string whose characters are allocated. */
struct types_string {
    const char *name; /* the type name of the block */
    uint64_t size;    /* bytes of a character */
};

/* Returns the string for a type of characters such as "wchar_t". NULL: there is none. */
const struct types_string *types_string_of_character(const char *character);

/* Returns the string whose block of characters has this name. NULL: it is another block. */
const struct types_string *types_string_of_block(const char *name);

/* Returns the string of which `function`, demangled, is a member, or NULL. */
const struct types_string *types_string_of_function(const char *function);

/* Returns true if it is a function of a standard memory resource that makes the blocks it then
 * gives out in pieces. */
bool types_is_pool_function(const char *function);

/* Returns true if it is a function of the C or C++ library that makes a block of characters: text
 * for its caller, or the buffer of a file. */
bool types_is_text_function(const char *function);

/* Returns what a container's node holds: T of std::_Rb_tree_node<T>, with `name` in its one
 * spelling. The caller frees it. NULL: not such a node. The pairs in libc++'s maps get the name
 * that users of the map see. */
char *types_node_element(const char *name);

/* Functions and classes of the C++ standard libraries as DWARF declares them: their namespace and
 * their template arguments. */

/* Returns the entry of the declared function of one of the site's frames, with its unit and DIE.
 * NULL: it has none. */
const struct types_entry *types_frame_function(const struct types_site *site, size_t frame,
                                               const struct types_unit **unit, Dwarf_Die *function);

/* Returns true if the namespace, of those around a function or class the outermost, is the standard
 * library's. NULL: there is none. */
bool types_is_standard_space(const char *outermost);

/* Returns true if the debug information of the site's innermost function has types (not -g1). */
bool types_has_types(const struct types_site *site);

/* Returns true if the function of that frame belongs to the standard library. */
bool types_is_standard(const struct types_site *site, size_t frame);

/* Returns true if the scopes from `entry` outward, namespaces and classes, are `space`: "std::pmr".
 */
bool types_in_space(const struct types_unit *unit, uint32_t entry, const char *space);

/* Returns true if `text` without its template arguments is `name`. */
bool types_is_template(const char *text, const char *name);

bool types_is_class(const struct types_entry *entry);

/* Finds the first template argument that is a type. */
bool types_first_argument(struct types_index *index, Dwarf_Die *template, Dwarf_Die *argument);

/* Finds the type that the class declares as value_type. Returns false if it declares none. */
bool types_declared_value(struct types_index *index, Dwarf_Die *class, Dwarf_Die *value);

/* Finds the type that the class declares under the name `wanted`. */
bool types_declared_type(struct types_index *index, Dwarf_Die *class, const char *wanted,
                         Dwarf_Die *type);
