/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the units of one DWARF file declare: for each type and namespace the scope that holds it,
 * so that names can be qualified, and types found by name or by size. A unit is read at the first
 * question about it.
 */
#ifndef MPROF_INGEST_TYPES_INDEX_H
#define MPROF_INGEST_TYPES_INDEX_H

#include "ingest/symbols_file.h"

#include <elfutils/libdw.h>

struct types_index;
struct types_aliases;

#define TYPES_NO_PARENT UINT32_MAX

/* Whether another record begins with this one: types_index_is_head(). */
enum types_head { TYPES_HEAD_UNASKED, TYPES_HEAD_NOT, TYPES_HEAD_OF_OTHERS };

struct types_entry {
    uint64_t die;     /* offset in the unit's DWARF */
    uint32_t parent;  /* index of the entry that holds it; TYPES_NO_PARENT: the unit itself */
    uint16_t tag;     /* DW_TAG_structure_type, … , DW_TAG_namespace, DW_TAG_subprogram */
    bool declaration; /* without its members */
    uint8_t head;     /* enum types_head */
    uint64_t size;    /* of a record or base type, 0: not stated */
    const char *name; /* DW_AT_name, in libdw's memory; NULL: none */
};

struct types_unit {
    Dwarf_CU *unit;
    struct types_entry *entries; /* by offset */
    size_t count, capacity;
};

/* NULL where memory is exhausted. `file` must live as long and have DWARF. */
struct types_index *types_index_new(const struct symbols_file *file);
void types_index_free(struct types_index *index);

/*
 * The next entry beside `die`. False where there is none, it would lead back in the file, or the
 * rules have asked more of this file than its size allows.
 */
bool types_index_sibling(struct types_index *index, Dwarf_Die *die);

/* Whether that was so: from then on nothing more is found. */
bool types_index_spent(const struct types_index *index);

/* All units, read; `*count` of them. They belong to the index. */
const struct types_unit *const *types_index_units(struct types_index *index, size_t *count);

/* What is kept for types_alias.h; NULL where memory is exhausted. */
struct types_aliases *types_index_aliases(struct types_index *index);

/* The unit of `die`; NULL where memory is exhausted. */
const struct types_unit *types_index_unit(struct types_index *index, const Dwarf_Die *die);

/* The entry of `die` in its unit, NULL where it is neither type nor scope. */
const struct types_entry *types_index_entry(const struct types_unit *unit, Dwarf_Die *die);

/*
 * The definition of a record that `die` only declares, in whichever unit it stands: the same
 * DW_AT_name in scopes of the same names. False where there is none.
 */
bool types_index_definition(struct types_index *index, Dwarf_Die *die, Dwarf_Die *definition);

/*
 * The complete records whose DW_AT_name without template arguments is `name` (`length` bytes),
 * one after the other: `*at` says where to go on and begins at 0. False: no more.
 */
bool types_index_next(struct types_index *index, const char *name, size_t length, size_t *at,
                      Dwarf_Die *record);

/* True where another record of the same unit begins with a member or base class of `record`. */
bool types_index_is_head(struct types_index *index, Dwarf_Die *record);

#endif
