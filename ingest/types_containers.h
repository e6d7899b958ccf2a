/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the containers of libstdc++ allocate, as the class of a member function says: the word of
 * the frames around an allocator (types_outer.h).
 */
#ifndef MPROF_INGEST_TYPES_CONTAINERS_H
#define MPROF_INGEST_TYPES_CONTAINERS_H

#include "ingest/types_site.h"

enum types_container_kind {
    TYPES_CONTAINER_NONE,
    TYPES_CONTAINER_ELEMENTS, /* an array of its elements */
    TYPES_CONTAINER_NODES,    /* a node for each */
    TYPES_CONTAINER_HASH,     /* nodes, and an array of pointers to them */
    TYPES_CONTAINER_DEQUE,    /* arrays of elements, and an array of pointers to those */
    TYPES_CONTAINER_STRING    /* characters */
};

/* Of a deque's or a hash table's two kinds of blocks, which one. */
enum types_container_part {
    TYPES_PART_UNKNOWN,
    TYPES_PART_CONTENT, /* elements or nodes */
    TYPES_PART_TABLE    /* pointers to those */
};

struct types_container {
    enum types_container_kind kind;
    const char *template;   /* of the node, e.g. "std::_List_node" */
    char *class;            /* name of the container's class in its one spelling; to be freed */
    char *element;          /* name of its elements; to be freed */
    struct types_type type; /* of its elements, where `typed` */
    bool typed;
    bool cached; /* a hash table whose nodes keep the hash */
    bool cached_known;
};

/*
 * The container of which that frame's function is a member, or a member of a class in it, or which
 * it makes as a whole (make_shared). False where it is of none, or of one whose elements are not
 * known.
 */
bool types_container_at(const struct types_site *site, size_t frame,
                        struct types_container *container);
void types_container_free(struct types_container *container);

/* Which part the frame's function allocates, by its name. */
enum types_container_part types_container_part_of(const struct types_site *site, size_t frame);

/*
 * The type that the container allocates in a block of `size` bytes, in its one spelling. To be
 * freed; NULL where memory is exhausted. `*sized` becomes true where the size had a say,
 * `*elements` where it is the elements' type.
 */
char *types_container_block(const struct types_container *container, enum types_container_part part,
                            struct types_index *index, uint64_t size, bool *sized, bool *elements);

#endif
