/*
 * Functions that say by their own name what they allocate: the typed allocators of the C++
 * standard libraries and, where a library has no debug information, members of std::string.
 */
#ifndef MPROF_INGEST_TYPES_ALLOCATORS_H
#define MPROF_INGEST_TYPES_ALLOCATORS_H

#include "ingest/types_site.h"

/* The operators new: their callers are what is asked about. */
bool types_is_operator_new(const char *function);
/* True for the operator of arrays. */
bool types_is_operator_new_array(const char *function);

/*
 * True where one of the site's frames, innermost first and up to the first that is not of the
 * standard library, is a typed allocator; `type` is then what it allocates.
 */
bool types_allocator_type(const struct types_site *site, struct types_type *type);

/*
 * The name of that type as the allocator's own name has it: compilers may declare the class without
 * its arguments. Belongs to the caller; NULL where there is none.
 */
char *types_allocator_argument(const struct types_site *site);

/* True for a member of a standard string of char, demangled. */
bool types_is_string_function(const char *function);

/* True for a function of the C library whose caller gets a block of characters. */
bool types_is_text_function(const char *function);

/*
 * Index of the template argument that is the element of a container's node ("1" of
 * std::_Rb_tree_node<T> is T), or -1 where `name`, in its one spelling, is no such node.
 */
int types_node_element(const char *name);

#endif
