/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions whose own name tells what they allocate: the typed allocators of the C++ standard
 * libraries and, in a library without debug information, members of std::string.
 */
#ifndef MPROF_INGEST_TYPES_ALLOCATORS_H
#define MPROF_INGEST_TYPES_ALLOCATORS_H

#include "ingest/types/dwarf/site.h"

/*
 * Returns true and the allocated `type` if one of the site's frames is a typed allocator. Looks
 * from the innermost frame up to the first that is not in the standard library.
 */
bool types_allocator_type(const struct types_site *site, struct types_type *type);

/* Does the same for that frame alone. */
bool types_allocator_at(const struct types_site *site, size_t frame, struct types_type *type);

/*
 * Returns the name of that type as the allocator's own name gives it, because compilers may declare
 * the class without its arguments. The caller frees it. NULL: there is none.
 */
char *types_allocator_argument(const struct types_site *site);

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

/*
 * Returns true if it is a function of a standard memory resource that makes the blocks it then
 * gives out in pieces.
 */
bool types_is_pool_function(const char *function);

/*
 * Returns true if it is a function of the C or C++ library that makes a block of characters: text
 * for its caller, or the buffer of a file.
 */
bool types_is_text_function(const char *function);

/*
 * Returns what a container's node holds: T of std::_Rb_tree_node<T>, with `name` in its one
 * spelling. The caller frees it. NULL: not such a node. The pairs in libc++'s maps get the name
 * that users of the map see.
 */
char *types_node_element(const char *name);

#endif
