/* SPDX-License-Identifier: BSD-2-Clause */
/* The records that answers named, kept so that their members can be listed later with their places
 * and the gaps between them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A record's member, or base class (no name). A bit field has the bytes that it touches. */
struct types_member {
    const char *name; /* NULL: a base class, or a record without a name */
    const char *type;
    uint64_t offset, size; /* bytes */
    /* Only of a member at any depth: */
    uint64_t element; /* bytes of an element; 0: not an array. Then `type` is the element's */
    uint64_t parent;  /* the number of the member in which it lies, from 1; 0: the record itself */
};

/* Returns false to stop. The data of `member` is valid only during the call. */
typedef bool types_member_function(void *context, const struct types_member *member);

/* The parts of a module's debug information. */
enum types_part {
    TYPES_PART_NONE,
    TYPES_PART_INFO,
    TYPES_PART_TYPES,  /* .debug_types */
    TYPES_PART_COMMON, /* dwz's common file */
    TYPES_PART_SPLIT,  /* a file of a unit, which only this process can find again */
    TYPES_PARTS
};

/* The place of a record's entry. All-zero: there is none. */
struct types_place {
    uint32_t module;
    enum types_part part;
    uint64_t offset;
    void *unit; /* the Dwarf_CU, or NULL: not read yet */
};

struct types_records;
struct types_index;
struct types_type;
struct symbols_file;

/* Returns NULL if memory is exhausted. */
struct types_records *types_records_new(void);
void types_records_free(struct types_records *records);

/* Forgets all records. */
void types_records_clear(struct types_records *records);

/* Keeps the place of the record under `name`, which must live as long as the list, and its size,
 * unless one is there already. Without a place or memory nothing is kept. */
void types_records_add(struct types_records *records, const char *name, uint64_t size,
                       const struct types_place *place);

/* Returns the place of the kept record, or NULL. */
const struct types_place *types_records_find(const struct types_records *records, const char *name,
                                             uint64_t size);

/* Returns the place of a type of the module, which is none if it is not a record. */
struct types_place types_record_place(const struct symbols_file *file, uint32_t module,
                                      const struct types_type *type);

/* Calls `each` with `context` for every member and base class of the record at `place` that has
 * bytes in it, in order of declaration, until it returns false. It leaves out virtual base classes,
 * whose place only the running program knows. Returns false if `each` did. */
bool types_record_members(struct types_index *index, const struct symbols_file *file,
                          const struct types_place *place, types_member_function *each,
                          void *context);

/* Does the same for the members at any depth, each before those inside it, with offsets in the
 * record, or element, in which they lie. A type with a typedef has the name under that. Pieces of
 * memory in which libstdc++ makes an object have that object as their only member. Virtual base
 * classes of the record itself come last. The last members of very large records are missing. */
bool types_record_fields(struct types_index *index, const struct symbols_file *file,
                         const struct types_place *place, types_member_function *each,
                         void *context);

/* ---- rule ---------------------------------------------------------------------------------- */

/* The rule that gave a type, and how sure it is. */

enum types_confidence {
    TYPES_UNKNOWN,
    TYPES_CANDIDATE, /* one of several types of that size; never the answer */
    TYPES_INFERRED,
    TYPES_EXACT
};

/* For tests and statistics. */
enum types_rule {
    TYPES_RULE_NONE,
    TYPES_RULE_ALLOCATOR,   /* a frame of std::allocator<T>::allocate or the like */
    TYPES_RULE_LIBRARY,     /* a symbol of a library without debug information */
    TYPES_RULE_CONSTRUCTOR, /* a constructor, or a table of virtual functions */
    TYPES_RULE_THROWN,      /* the class that is thrown */
    TYPES_RULE_RECEIVER,    /* the variable, member or global that holds the result */
    TYPES_RULE_RETURN,      /* the declared return type of the function */
    TYPES_RULE_ARGUMENT,    /* a parameter that gets the result */
    TYPES_RULE_SOURCE,      /* a cast, sizeof or new on the source line */
    TYPES_RULE_STATED       /* the compiler's statement at the call */
};
