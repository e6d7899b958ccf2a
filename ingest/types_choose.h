/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The type of a block by what its result went to (types_flow.h): which of the pieces of evidence
 * is believed, and which are refused.
 */
#ifndef MPROF_INGEST_TYPES_CHOOSE_H
#define MPROF_INGEST_TYPES_CHOOSE_H

#include "ingest/types.h"
#include "ingest/types_flow.h"

enum types_operator {
    TYPES_BY_FUNCTION,  /* malloc and its kin */
    TYPES_BY_NEW,       /* operator new: one object */
    TYPES_BY_NEW_ARRAY, /* operator new[] */
};

struct types_choice {
    bool chosen;
    bool wrapper; /* nothing chosen, and the function hands the result to its caller untyped */
    bool torn;    /* nothing chosen: what is made here depends on a choice behind the call */
    struct types_type type;
    uint64_t offset; /* of the first element */
    bool whole;      /* of the very size of the block */
    bool single;     /* one object, whatever the size: it ends in an array without bound */
    bool outer;      /* by the source around an inlined function that hands memory on */
    enum types_confidence confidence;
    enum types_rule rule;
};

/* `size` is what was asked of the allocator. */
void types_choose(const struct types_site *site, const struct types_flow *flow,
                  enum types_operator by, uint64_t size, struct types_choice *choice);

/*
 * By the declared return type of the function that the site calls: for
 * functions that left no frame of their own since they end in a jump to the allocator.
 */
bool types_choose_called(const struct types_site *site, uint64_t size, struct types_choice *choice);

/*
 * For a block that nothing else names, or that pointers to bytes point to: a record, as all other
 * places of the result say, that no other record begins with, and whose size does not divide the
 * block's. It is one of them with bytes behind it.
 */
void types_choose_record_with_tail(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_choice *choice);

/* How well a type fits a block of which `offset` bytes stand in front of the first element. */
enum types_fit {
    TYPES_FIT_NOT,
    TYPES_FIT_BUFFER,   /* characters */
    TYPES_FIT_ARRAY,    /* the size is a multiple */
    TYPES_FIT_FLEXIBLE, /* a record that ends in an array without bound */
    TYPES_FIT_WHOLE     /* the very size */
};
enum types_fit types_fit(struct types_index *index, const struct types_type *type, uint64_t size,
                         int64_t offset);

#endif
