/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the type of a block from the evidence about where its result went (types/flow/flow.h).
 */
#ifndef MPROF_INGEST_TYPES_CHOOSE_H
#define MPROF_INGEST_TYPES_CHOOSE_H

#include "ingest/types/flow/flow.h"
#include "ingest/types/types.h"

enum types_operator {
    TYPES_BY_FUNCTION,  /* malloc and its kin */
    TYPES_BY_NEW,       /* operator new: one object */
    TYPES_BY_NEW_ARRAY, /* operator new[] */
};

struct types_choice {
    bool chosen;
    bool wrapper;   /* nothing chosen, and the function returns the result to its caller untyped */
    bool ambiguous; /* nothing chosen: the type depends on a branch after the call */
    struct types_type type;
    uint64_t offset;  /* of the first element */
    bool exact_size;  /* the type has exactly the size of the block */
    bool one_object;  /* one object, whatever the size: it ends in a flexible array */
    bool from_caller; /* from the source around an inlined function that hands memory on */
    enum types_confidence confidence;
    enum types_rule rule;
};

/* Chooses by the evidence. `size` is the size asked of the allocator. */
void types_choose(const struct types_site *site, const struct types_flow *flow,
                  enum types_operator by, uint64_t size, struct types_choice *choice);

/*
 * Chooses by the declared return type of the function that the site calls. Such a function leaves
 * no frame of its own if it ends in a jump to the allocator.
 */
bool types_choose_called(const struct types_site *site, uint64_t size, struct types_choice *choice);

/*
 * Chooses a record with bytes after it, for a block that nothing else names or that pointers to
 * bytes point to. All other places of the result must name the record, no other record may begin
 * with it, and its size must not divide the block's.
 */
void types_choose_record_with_tail(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_choice *choice);

/* How well a type fits a block that has `offset` bytes before the first element. */
enum types_fit {
    TYPES_FIT_NOT,
    TYPES_FIT_BUFFER,   /* characters */
    TYPES_FIT_ARRAY,    /* the block's size is a multiple */
    TYPES_FIT_FLEXIBLE, /* a record that ends in a flexible array */
    TYPES_FIT_WHOLE     /* exactly the size */
};
enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset);

#endif
