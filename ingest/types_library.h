/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and classes of the C++ standard libraries, as DWARF declares them: in which namespace
 * they stand, and their template arguments.
 */
#ifndef MPROF_INGEST_TYPES_LIBRARY_H
#define MPROF_INGEST_TYPES_LIBRARY_H

#include "ingest/types_site.h"

/*
 * The entry of the function of one of the site's frames, as it was declared, with its unit and DIE.
 * NULL where it has none.
 */
const struct types_entry *types_frame_function(const struct types_site *site, size_t frame,
                                               const struct types_unit **unit, Dwarf_Die *function);

/* True where the function of that frame is the standard library's. */
bool types_is_standard(const struct types_site *site, size_t frame);

/* True where the scopes of `entry` and outward, namespaces and classes, are `space`: "std::pmr". */
bool types_in_space(const struct types_unit *unit, uint32_t entry, const char *space);

/* True where `text` without its template arguments is `name`. */
bool types_is_template(const char *text, const char *name);

bool types_is_class(const struct types_entry *entry);

/* The first template argument that is a type. */
bool types_first_argument(struct types_index *index, Dwarf_Die *template, Dwarf_Die *argument);

/* What the class calls its value_type; false where it declares none. */
bool types_declared_value(struct types_index *index, Dwarf_Die *class, Dwarf_Die *value);

/* The allocator class's value_type, or else its own first argument. */
bool types_value_type(struct types_index *index, Dwarf_Die *allocator, Dwarf_Die *value);

#endif
