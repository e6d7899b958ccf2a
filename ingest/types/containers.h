/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types that the containers of libstdc++ allocate, as the class of a member function gives
 * them. outer_frames.h uses this for the frames around an allocator.
 */
#ifndef MPROF_INGEST_TYPES_CONTAINERS_H
#define MPROF_INGEST_TYPES_CONTAINERS_H

#include "ingest/types/dwarf/site.h"

enum types_container_kind {
    TYPES_CONTAINER_NONE,
    TYPES_CONTAINER_ELEMENTS, /* an array of its elements */
    TYPES_CONTAINER_NODES,    /* a node for each */
    TYPES_CONTAINER_HASH,     /* nodes, and an array of pointers to them */
    TYPES_CONTAINER_DEQUE,    /* arrays of elements, and an array of pointers to these arrays */
    TYPES_CONTAINER_STRING    /* characters */
};

/* The two kinds of blocks of a deque or a hash table. */
enum types_container_part {
    TYPES_PART_UNKNOWN,
    TYPES_PART_CONTENT, /* elements or nodes */
    TYPES_PART_TABLE    /* pointers to the content */
};

struct types_container {
    enum types_container_kind kind;
    const char *template;   /* name of the node, e.g. "std::_List_node" */
    char *class;            /* name of the container's class in its one spelling; to be freed */
    char *element;          /* name of its elements; to be freed */
    struct types_type type; /* of its elements, if `typed` */
    bool typed;
    bool cached; /* a hash table whose nodes keep the hash */
    bool cached_known;
};

/*
 * Finds the container of which that frame's function is a member, or a member of a class in it, or
 * which the function makes as a whole (make_shared). Returns false if there is none or its elements
 * are not known.
 */
bool types_container_at(const struct types_site *site, size_t frame,
                        struct types_container *container);
void types_container_free(struct types_container *container);

/* Tells by its name which part the frame's function allocates. */
enum types_container_part types_container_part_of(const struct types_site *site, size_t frame);

/*
 * Returns the type that the container allocates in a block of `size` bytes, in its one spelling.
 * The caller frees it. NULL if memory is exhausted. Sets `*sized` to true if the answer depends on
 * the size, and `*elements` to whether it is the type of the elements.
 */
char *types_container_block(const struct types_container *container, enum types_container_part part,
                            struct types_index *index, uint64_t size, bool *sized, bool *elements);

#endif
