/* SPDX-License-Identifier: BSD-2-Clause */
/* The declarations in the units of one DWARF file. For each type and namespace the index has its
 * scope, so names can be qualified, and types found by name or by size. The first question about a
 * unit reads it. */
#pragma once

#include <elfutils/libdw.h>

#include "ingest/symbols/file.h"

struct types_index;
struct types_aliases;

#define TYPES_NO_PARENT UINT32_MAX

/* Returns true if another record begins with this one; see types_index_is_head(). */
enum types_head { TYPES_HEAD_UNASKED, TYPES_HEAD_NOT, TYPES_HEAD_OF_OTHERS };

struct types_entry {
    uint64_t die;     /* offset in the unit's DWARF */
    uint32_t parent;  /* index of the entry that holds it; TYPES_NO_PARENT: the unit itself */
    uint16_t tag;     /* DW_TAG_structure_type, … , DW_TAG_namespace, DW_TAG_subprogram */
    bool declaration; /* its members are missing */
    uint8_t head;     /* enum types_head */
    uint64_t size;    /* of a record or base type; 0: not stated */
    const char *name; /* DW_AT_name, in libdw's memory, or NULL */
};

struct types_unit {
    Dwarf_CU *unit;
    struct types_entry *entries; /* sorted by offset */
    size_t count, capacity;
    uint32_t number; /* by the order of units in the file; 0: not all were read */
};

/* Returns NULL if memory is exhausted. `file` must live as long as the result and have DWARF. */
struct types_index *types_index_new(const struct symbols_file *file);
void types_index_free(struct types_index *index);

/* Goes to the next entry beside `die`. Returns false if there is none, if it would lead back in the
 * file, or if the rules have asked more of this file than its size allows. */
bool types_index_sibling(struct types_index *index, Dwarf_Die *die);

/* Returns true if the rules asked for too much. From then on nothing more is found. */
bool types_index_spent(const struct types_index *index);

/* Reads all units and returns them; `*count` is their number. The index owns them. */
const struct types_unit *const *types_index_units(struct types_index *index, size_t *count);

/* Returns the typedefs (below) that are kept here. NULL if memory is exhausted. */
struct types_aliases *types_index_aliases(struct types_index *index);

/* Finds what an attribute refers to. For a type that has a unit of its own (-fdebug-types-section)
 * that is the whole type, not the entry that only has its signature. */
bool types_reference(Dwarf_Attribute *attribute, Dwarf_Die *die);

/* Finds the entry of a unit in its file, or the whole type if it only has the signature of one.
 * Returns false if the file is damaged. */
bool types_index_die(const struct types_unit *unit, const struct types_entry *entry,
                     Dwarf_Die *die);

/* Returns the unit of `die`. NULL if memory is exhausted. */
const struct types_unit *types_index_unit(struct types_index *index, const Dwarf_Die *die);

/* Returns the entry of `die` in its unit. NULL if it is neither a type nor a scope. */
const struct types_entry *types_index_entry(const struct types_unit *unit, Dwarf_Die *die);

/* Finds the definition of a record that `die` only declares, in any unit: the same DW_AT_name in
 * scopes of the same names. Returns false if there is none. */
bool types_index_definition(struct types_index *index, Dwarf_Die *die, Dwarf_Die *definition);

/* Finds the complete records whose DW_AT_name without template arguments is `name` (`length`
 * bytes), one in each call. `*at` is 0 at first. False: no more. */
bool types_index_next(struct types_index *index, const char *name, size_t length, size_t *at,
                      Dwarf_Die *record);

/* Returns true if another record of the same unit begins with a member or base class of type
 * `record`, or several begin with the same members. */
bool types_index_is_head(struct types_index *index, Dwarf_Die *record);

/* Typedefs by which a programmer knows a record better than by its tag: PyObject for `struct
 * _object`, robj for `typedef struct redisObject { … } robj`.
 *
 * A typedef of the record at file scope is such a name if it is declared in the same file as the
 * record, or if the tag begins with an underscore. If one typedef repeats the tag, the tag is the
 * name. The shortest of several typedefs wins, and of these the first in the alphabet, so the
 * result does not depend on the order in which a compiler writes them. A C++ class keeps its own
 * name, unless its tag begins with an underscore. */

/* Returns NULL if memory is exhausted. */
struct types_aliases *types_aliases_new(void);
void types_aliases_free(struct types_aliases *aliases);
