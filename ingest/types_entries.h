/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a DWARF type entry says: its name in one spelling, its size, what it points to, its
 * members. All follow chains of entries only so far: damaged ones may run in a circle.
 */
#ifndef MPROF_INGEST_TYPES_ENTRIES_H
#define MPROF_INGEST_TYPES_ENTRIES_H

#include "ingest/types_index.h"

enum types_shape {
    TYPES_UNUSABLE, /* functions, what is damaged */
    TYPES_VOID,
    TYPES_CHARACTER, /* plain char */
    TYPES_SCALAR,    /* other base types, enumerations, pointers, references */
    TYPES_RECORD,    /* struct, class, union */
    TYPES_ARRAY,
};

/* A type as the rules use it; `die.addr` is NULL for void. */
struct types_type {
    Dwarf_Die die; /* as it was named: typedefs kept, const and volatile not */
    enum types_shape shape;
    uint64_t size; /* bytes, 0: unknown or incomplete */
};

/* The type of an entry's DW_AT_type; void where it has none. False where it is damaged. */
bool types_of(struct types_index *index, Dwarf_Die *entry, struct types_type *type);

/* The type that `die` itself is. */
bool types_from(struct types_index *index, Dwarf_Die *die, struct types_type *type);

/* What the pointer or reference `type` points to; false where it is none. */
bool types_pointee(struct types_index *index, const struct types_type *type,
                   struct types_type *pointee);

/* The entry behind typedefs, const and volatile; false for void. */
bool types_strip(Dwarf_Die *type, Dwarf_Die *stripped);

/*
 * The name in its one spelling ("std::vector<int>", "client" for `struct client`); belongs to the
 * caller, free(). NULL where memory is exhausted.
 */
char *types_name(struct types_index *index, const struct types_type *type);

/* The same, but a record by its tag though a typedef is known better (types_alias.h). */
char *types_tag_name(struct types_index *index, const struct types_type *type);

/* The complete record whose tag in its one spelling is `name`; false where there is none. */
bool types_named(struct types_index *index, const char *name, struct types_type *type);

/*
 * The member of `record` at `offset`, through members and base classes that are records or
 * arrays, down to one that is neither. Of a union it is the member that is a pointer, where any is.
 * False where there is none, or a union has pointers of several types there.
 */
bool types_member_at(struct types_index *index, const struct types_type *record, uint64_t offset,
                     struct types_type *member);

/* True where `offset` in the record lies in an array, through members that are records. */
bool types_is_array_at(struct types_index *index, const struct types_type *record, uint64_t offset);

/*
 * True where `record`, or a member, base class or element in it, however deep, is of type `member`
 * at `offset`; of a union any of its members counts.
 */
bool types_has_member_at(struct types_index *index, const struct types_type *record,
                         uint64_t offset, const struct types_type *member);

/*
 * True where the last member is an array without bound, or of at most one element: then the record
 * is as long as was asked for, at least `*start` bytes, where the array begins. Of a union one
 * member that ends so suffices.
 */
bool types_flexible_end(struct types_index *index, const struct types_type *record,
                        uint64_t *start);

/* True where `derived` is `base` or has it as a base class at offset 0, however deep. */
bool types_is_derived(struct types_index *index, const struct types_type *derived,
                      const struct types_type *base);

/* True where objects of the record carry the address of a table of virtual functions. */
bool types_is_polymorphic(struct types_index *index, const struct types_type *record);

/*
 * True where another record of its unit begins with one of these, or several with the same members:
 * C's two ways to derive.
 */
bool types_is_head(struct types_index *index, const struct types_type *record);

/* True where both name one type. */
bool types_same(struct types_index *index, const struct types_type *left,
                const struct types_type *right);

#endif
