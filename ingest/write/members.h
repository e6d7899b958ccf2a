/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the places inside blocks by the layouts of their types: the member, of nested records,
 * base classes and arrays, to which an offset belongs.
 *
 * Order of calls: a zeroed struct; members_read(); members_at() any number of times;
 * members_free(). */
#pragma once

#include "ingest/base/array.h"
#include "ingest/write/database.h"

/* A place in a type. */
struct member_place {
    uint32_t type;
    uint64_t offset;
    uint32_t to;     /* the type of the block to which the word there leads + 1; 0: not known */
    bool is_text;    /* the type is one of characters: no pointer lies there */
    uint32_t name;   /* index in `names` + 1; 0: not known */
    uint32_t target; /* index + 1 of the type whose pointer lies there; 0: not known */
};

struct members {
    struct member_type {
        int64_t id;
        char *name;
        uint64_t size;       /* 0: not known */
        size_t first, count; /* of its members */
    } * types;
    size_t type_count, type_capacity;
    struct index_map type_by_id, type_by_name;
    struct member_row {
        char *name; /* NULL: a base class, or a record without a name */
        char *type; /* of an array: of its elements */
        uint64_t offset, size;
        uint64_t element; /* bytes of an element; 0: not an array */
        uint32_t parent;  /* place among the type's + 1; 0: the type itself */
        bool is_base;
        size_t end; /* of those inside it, which follow it */
    } * rows;
    size_t row_count, row_capacity;
    struct member_place *places; /* asked for so far */
    size_t place_count, place_capacity;
    struct index_map by_place;
    char **names; /* 'App::history', in the order in which they were asked for */
    size_t name_count, name_capacity;
    struct index_map by_name;
};

/* Reads the types of the session and their members. False with the database's status set. */
bool members_read(struct members *members, struct writer_database *database);
void members_free(struct members *members);

/* A block as layouts know it. */
struct member_block {
    int64_t type; /* 0: not known */
    uint64_t size;
    bool is_array; /* new[] */
};

/* Finds the place at `offset` in the block, where a pointer to a block of the type with the id `to`
 * lies. Returns NULL if memory is exhausted; the place's name is 0 if the type is not known or no
 * member lies there. In a union, it names the pointer to the type `to`, or the only pointer, or
 * what all names there have in common. The pointer is valid until the next call. */
const struct member_place *members_at(struct members *members, const struct member_block *block,
                                      uint64_t offset, int64_t to);

/* Returns true if a layout explains why a pointer leads to `offset` in the block: a base class
 * begins there, one of several elements, a member of the type to which the pointer at `from` leads,
 * or the first element of an array behind its count (new[]). `from` may be NULL. */
bool members_explain(const struct members *members, const struct member_block *block,
                     uint64_t offset, const struct member_place *from);
