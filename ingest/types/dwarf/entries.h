/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a DWARF type entry: its name in one spelling, its size, the type it points to, its members.
 * All chains of entries are limited: damaged ones may form a circle. */
#pragma once

#include "ingest/types/dwarf/index.h"

enum types_shape {
    TYPES_UNUSABLE, /* functions and damaged entries */
    TYPES_VOID,
    TYPES_CHARACTER, /* plain char */
    TYPES_SCALAR,    /* other base types, enumerations, pointers, references */
    TYPES_RECORD,    /* struct, class, union */
    TYPES_ARRAY,
};

/* A type as the rules use it; `die.addr` is NULL for void. */
struct types_type {
    Dwarf_Die die; /* as it was named: with typedefs, without const and volatile */
    enum types_shape shape;
    uint64_t size; /* bytes, 0: unknown or incomplete */
};

/* Moves `die` to its next sibling. Returns false if there is none, or it does not come after it. */
bool types_next_sibling(Dwarf_Die *die);

/* Finds the entry in DW_AT_type of `die`, or of the entry from which it was inlined or which it
 * completes. Returns false if there is none. */
bool types_type_of(Dwarf_Die *die, Dwarf_Die *type);

/* Returns true if it is the tag of const, volatile, restrict or _Atomic. */
bool types_is_qualifier(int tag);

/* Finds the type in an entry's DW_AT_type, or void. Returns false if it is damaged. */
bool types_of(struct types_index *index, Dwarf_Die *entry, struct types_type *type);

/* Describes the type `die` itself. */
bool types_from(struct types_index *index, Dwarf_Die *die, struct types_type *type);

/* Finds the type that the pointer or reference `type` points to. Returns false if it is neither. */
bool types_pointee(struct types_index *index, const struct types_type *type,
                   struct types_type *pointee);

/* Finds the entry under typedefs, const and volatile. Returns false for void. */
bool types_strip(Dwarf_Die *type, Dwarf_Die *stripped);

/* Returns the name in its one spelling ("std::vector<int>", "client" for `struct client`). The
 * caller frees it. NULL if memory is exhausted. */
char *types_name(struct types_index *index, const struct types_type *type);

/* Does the same, but calls a record by its tag even if a typedef is known better (index.h). */
char *types_tag_name(struct types_index *index, const struct types_type *type);

/* Finds the complete record whose tag in its one spelling is `name`. */
bool types_named(struct types_index *index, const char *name, struct types_type *type);

/* Finds the member of `record` at `offset`. Goes down through members and base classes that are
 * records or arrays to one that is neither. In a union it takes the member that is a pointer, if
 * any is. Returns false if there is none, or if a union has pointers of several types there. */
bool types_member_at(struct types_index *index, const struct types_type *record, uint64_t offset,
                     struct types_type *member);

/* Returns true if `offset` in the record lies in an array, possibly inside members that are
 * records.
 */
bool types_is_array_at(struct types_index *index, const struct types_type *record, uint64_t offset);

/* Returns true if `record`, or a member, base class or element in it, however deep, is of type
 * `member` at `offset`. In a union any member counts. */
bool types_has_member_at(struct types_index *index, const struct types_type *record,
                         uint64_t offset, const struct types_type *member);

/* Returns true if the last member is an array without bound, or of at most one element. The record
 * is then as long as the program asked for, at least `*start` bytes, where the array begins. In a
 * union, one member that ends so is enough. */
bool types_flexible_end(struct types_index *index, const struct types_type *record,
                        uint64_t *start);

/* Returns true if `derived` is `base`, or has it as a base class at offset 0, however deep. */
bool types_is_derived(struct types_index *index, const struct types_type *derived,
                      const struct types_type *base);

/* Returns true if objects of the record contain the address of a table of virtual functions. */
bool types_is_polymorphic(struct types_index *index, const struct types_type *record);

/* Returns true if another record of its unit begins with a member of this record's type, or several
 * begin with the same members. These are the two ways to derive in C. */
bool types_is_head(struct types_index *index, const struct types_type *record);

/* Returns true if both name the same type. */
bool types_same(struct types_index *index, const struct types_type *left,
                const struct types_type *right);

/* Tells how well a type fits a block. */

/* The fit of a type to a block that has `offset` bytes before the first element. */
enum types_fit {
    TYPES_FIT_NOT,
    TYPES_FIT_BUFFER,   /* characters */
    TYPES_FIT_ARRAY,    /* the block's size is a multiple */
    TYPES_FIT_FLEXIBLE, /* a record that ends in a flexible array */
    TYPES_FIT_WHOLE     /* exactly the size */
};

/* Compares the type with a block of `size` bytes. */
enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset);
