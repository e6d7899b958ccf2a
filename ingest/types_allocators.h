/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that say by their own name what they allocate: the typed allocators of the C++
 * standard libraries and, where a library has no debug information, members of std::string.
 */
#ifndef MPROF_INGEST_TYPES_ALLOCATORS_H
#define MPROF_INGEST_TYPES_ALLOCATORS_H

#include "ingest/types_site.h"

/* The global operators new: their callers are what is asked about. */
bool types_is_operator_new(const char *function);
/* An operator new that a class has for itself. */
bool types_is_class_operator_new(const char *function);
/* True for operators of arrays, global and of classes. */
bool types_is_operator_new_array(const char *function);

/*
 * True where one of the site's frames, innermost first and up to the first that is not of the
 * standard library, is a typed allocator; `type` is then what it allocates.
 */
bool types_allocator_type(const struct types_site *site, struct types_type *type);

/* The same by that frame alone. */
bool types_allocator_at(const struct types_site *site, size_t frame, struct types_type *type);

/*
 * The name of that type as the allocator's own name has it: compilers may declare the class without
 * its arguments. Belongs to the caller; NULL where there is none.
 */
char *types_allocator_argument(const struct types_site *site);

/* A standard string, whose characters are allocated. */
struct types_string {
    const char *name; /* of the block */
    uint64_t size;    /* of a character in bytes */
};

/* The string of that type of characters, "wchar_t"; NULL: there is none. */
const struct types_string *types_string_of_character(const char *character);

/* The string whose characters' block is named so; NULL: it is another block. */
const struct types_string *types_string_of_block(const char *name);

/* The string that `function`, demangled, is a member of; NULL: of none. */
const struct types_string *types_string_of_function(const char *function);

/* True for a function of a standard memory resource that makes the blocks it gives out in pieces.
 */
bool types_is_pool_function(const char *function);

/* True for a function of the C or C++ library that makes a block of characters: text for its
 * caller, or the buffer of a file. */
bool types_is_text_function(const char *function);

/*
 * What a container's node holds, T of std::_Rb_tree_node<T>; `name` in its one spelling. To be
 * freed; NULL where it is no such node. What libc++ keeps in maps is named as the pair that users
 * of the map see.
 */
char *types_node_element(const char *name);

#endif
