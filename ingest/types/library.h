/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and classes of the C++ standard libraries as DWARF declares them: their namespace and
 * their template arguments.
 */
#ifndef MPROF_INGEST_TYPES_LIBRARY_H
#define MPROF_INGEST_TYPES_LIBRARY_H

#include "ingest/types/dwarf/site.h"

/*
 * Returns the entry of the declared function of one of the site's frames, with its unit and DIE.
 * NULL: it has none.
 */
const struct types_entry *types_frame_function(const struct types_site *site, size_t frame,
                                               const struct types_unit **unit, Dwarf_Die *function);

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

/* Finds the allocator class's value_type, or else its own first argument. */
bool types_value_type(struct types_index *index, Dwarf_Die *allocator, Dwarf_Die *value);

#endif
